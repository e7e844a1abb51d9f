/**
 * GET /v1/callbacks/{id}/wait: the next event, now or within the timeout (callback.md "wait"; decisions §5). As the contract
 * requires, the handler reads the query leniently: it ignores unknown names, uses the first value of a repeated name, and
 * accepts every timeout.
 */
import * as v from 'valibot';
import { CALLBACK_EXPIRED, CALLBACK_NOT_FOUND, noCallback, ratedReadToken } from '../../access/read-token.ts';
import { memoizeRecent } from '../../base/memoize-recent.ts';
import type { Waited, Waiter, Woken } from '../../callback/callbacks.ts';
import { WAIT_COUNT_MAX, WAIT_SECONDS_MAX, WAIT_SECONDS_MIN } from '../../callback/limits.ts';
import type { Reply } from '../../http/answers.ts';
import { type Refusal, refuse, retryAfter } from '../../http/errors.ts';
import { DeferredAnswer } from '../../http/hot/deferred-answer.ts';
import { route } from '../../http/route.ts';
import { UNTRUSTED_ANSWER_HEADERS } from '../untrusted.ts';
import { callbackId, waitAnswer } from './answers.ts';
import { EXAMPLE_CALLBACK_ID, EXAMPLE_EVENT, EXAMPLE_EVENT_ID } from './examples.ts';
import { EVENT_NOT_FOUND, TOO_MANY_WAITS, unknownEvent } from './refusals.ts';
import { eventsReply, jsonReply } from './replies.ts';
import type { CallbackServices } from './services.ts';

/** ECMAScript's Number conversion, rounded down and limited to 1..30; 30 for text that is not a finite number. */
export function waitSecondsOf(text: string | null): number {
  const seconds = text === null ? Number.NaN : Math.floor(Number(text));
  if (!Number.isFinite(seconds)) return WAIT_SECONDS_MAX;
  return Math.min(Math.max(seconds, WAIT_SECONDS_MIN), WAIT_SECONDS_MAX);
}

type WaitRefusal = Refusal<'CALLBACK_NOT_FOUND' | 'CALLBACK_EXPIRED' | 'EVENT_NOT_FOUND' | 'TOO_MANY_WAITS'>;

function answerTo(waited: Waited, id: string, after: string | null, seconds: number): Reply | WaitRefusal {
  switch (waited.kind) {
    case 'event': {
      const next = `/v1/callbacks/${id}/wait?after=${waited.eventId}&timeout=${seconds}`;
      const end = `,"next_wait_url":"${next}"}`;
      return eventsReply('{"received":true,"timeout":false,"event":', [waited.event], end, id);
    }
    case 'timed-out':
    case 'disconnected': // no client will read the answer
      return jsonReply(`{"received":false,"timeout":true,"after":${JSON.stringify(after)}}`);
    case 'expired':
    case 'not-found':
      return noCallback(waited.kind);
    case 'unknown-event':
      return unknownEvent();
    case 'too-many-waits':
      return refuse(TOO_MANY_WAITS, `a callback has at most ${WAIT_COUNT_MAX} waits at a time`, {
        headers: retryAfter(1),
      });
    default:
      return waited satisfies never;
  }
}

interface WaitQuery {
  readonly seconds: number;
  /** The id of an event; null = none. */
  readonly after: string | null;
}

/** Memoized queries: most first waits use one of a few queries; that of `next_wait_url` has at most 60 characters. */
const QUERY_COUNT_MAX = 64;
const QUERY_LENGTH_MAX = 64;

const waitQueryOf = memoizeRecent(
  (search): WaitQuery => {
    const query = new URLSearchParams(search);
    return { seconds: waitSecondsOf(query.get('timeout')), after: query.get('after') || null }; // an empty value means none
  },
  QUERY_COUNT_MAX,
  QUERY_LENGTH_MAX,
);

/** The deferred answer of a parked wait. */
class DeferredWait extends DeferredAnswer<Reply | WaitRefusal> implements Waiter {
  readonly #id: string;
  readonly #after: string | null;
  readonly #seconds: number;

  constructor(id: string, after: string | null, seconds: number) {
    super();
    this.#id = id;
    this.#after = after;
    this.#seconds = seconds;
  }

  woken(how: Woken): void {
    this.give(answerTo(how, this.#id, this.#after, this.#seconds));
  }
}

export const waitForEvent = route<CallbackServices>()({
  operation: 'waitForEvent',
  method: 'GET',
  path: '/v1/callbacks/:id/wait',
  summary: 'Wait for the next event',
  description:
    'Returns a stored event at once, oldest first. An answer with an event has `next_wait_url`, a path to append to the address of this API, which waits for the event after it. An answer that timed out has none: send the same request again. Ignores other query parameters.',
  access: [ratedReadToken],
  params: { id: callbackId },
  lenientQuery: {
    timeout: {
      schema: v.optional(v.number(), WAIT_SECONDS_MAX),
      rule: `Seconds to wait, rounded down and limited to ${WAIT_SECONDS_MIN} to ${WAIT_SECONDS_MAX}; any text that is not a finite number means ${WAIT_SECONDS_MAX}.`,
    },
    after: {
      schema: v.string(),
      rule: 'The id of a stored event: waits for an event after it. An empty value means none.',
    },
  },
  answer: waitAnswer,
  answerHeaders: UNTRUSTED_ANSWER_HEADERS,
  examples: {
    params: { id: EXAMPLE_CALLBACK_ID },
    query: { timeout: 10, after: EXAMPLE_EVENT_ID },
    answer: {
      received: true,
      timeout: false,
      event: EXAMPLE_EVENT,
      next_wait_url: `/v1/callbacks/${EXAMPLE_CALLBACK_ID}/wait?after=${EXAMPLE_EVENT_ID}&timeout=10`,
    },
  },
  errors: [CALLBACK_NOT_FOUND, EVENT_NOT_FOUND, CALLBACK_EXPIRED, TOO_MANY_WAITS],
  handle(_, { callbacks }, request, { callback }) {
    const { after, seconds } = waitQueryOf(request.search);
    const deferred = new DeferredWait(callback.id, after, seconds);
    const waited = callbacks.wait(callback, after, seconds * 1000, request, deferred);
    if (waited instanceof Promise) return waited.then((found) => answerTo(found, callback.id, after, seconds));
    return waited.kind === 'parked' ? deferred : answerTo(waited, callback.id, after, seconds);
  },
});
