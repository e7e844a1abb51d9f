/**
 * GET /v1/callbacks/{id}/wait: the next event, now or within the timeout (callback.md, "wait"; decisions §5). Its query is
 * read leniently, as the contract has it: unknown names are ignored, the first of a repeated one counts, and every timeout
 * means some number of seconds.
 */
import * as v from 'valibot';
import { chain, type MaybePromise } from '../../base/maybe-promise.ts';
import { memoizeRecent } from '../../base/memoize-recent.ts';
import type { CallbackHandle, Waited, Waiter, Woken } from '../../callback/callbacks.ts';
import { WAIT_COUNT_MAX, WAIT_SECONDS_MAX, WAIT_SECONDS_MIN } from '../../callback/limits.ts';
import { type Refusal, refuse } from '../../http/errors.ts';
import { type Call, Held, type Reply, route } from '../../http/route.ts';
import { callbackId, waitAnswer } from './answers.ts';
import { EXAMPLE_CALLBACK_ID, EXAMPLE_EVENT, EXAMPLE_EVENT_ID } from './examples.ts';
import { foundCallback } from './found.ts';
import { absent, unknownEvent } from './refusals.ts';
import { jsonReply, UNTRUSTED_ANSWER_HEADERS } from './replies.ts';
import type { CallbackServices } from './services.ts';

/** ECMAScript's Number conversion, floored, kept within 1..30; what is no finite number is 30, as is nothing at all. */
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
      return jsonReply(`{"received":true,"timeout":false,"event":${waited.json},"next_wait_url":"${next}"}`);
    }
    case 'timed-out':
    case 'gone': // nobody is there to read it
      return jsonReply(`{"received":false,"timeout":true,"after":${JSON.stringify(after)}}`);
    case 'expired':
    case 'not-found':
      return absent(waited);
    case 'unknown-event':
      return unknownEvent();
    case 'too-many-waits':
      return refuse('TOO_MANY_WAITS', `at most ${WAIT_COUNT_MAX} waits at a time on one callback`, {
        headers: { 'retry-after': '1' },
      });
    default:
      return waited satisfies never;
  }
}

interface WaitQuery {
  readonly seconds: number;
  /** null = none. */
  readonly after: string | null;
}

/** Most first waits ask in the same few ways; `next_wait_url` has at most 60 characters of query. */
const QUERY_COUNT_MAX = 64;
const QUERY_LENGTH_MAX = 64;

const waitQueryOf = memoizeRecent(
  (search): WaitQuery => {
    const query = new URLSearchParams(search);
    return { seconds: waitSecondsOf(query.get('timeout')), after: query.get('after') || null }; // an empty one is none
  },
  QUERY_COUNT_MAX,
  QUERY_LENGTH_MAX,
);

/** The wait as the answer to its request. */
class HeldWait extends Held<Reply | WaitRefusal> implements Waiter {
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

function waitOn(
  callback: CallbackHandle,
  { callbacks }: CallbackServices,
  call: Call,
): HeldWait | MaybePromise<Reply | WaitRefusal> {
  const { id } = callback;
  const { after, seconds } = waitQueryOf(call.search);
  const held = new HeldWait(id, after, seconds);
  const waited = callbacks.wait(callback, after, seconds * 1000, call, held);
  if (waited instanceof Promise) return waited.then((found) => answerTo(found, id, after, seconds));
  return waited.kind === 'parked' ? held : answerTo(waited, id, after, seconds);
}

export const waitForEvent = route<CallbackServices>()({
  operation: 'waitForEvent',
  method: 'GET',
  path: '/v1/callbacks/:id/wait',
  summary: 'Wait for the next event',
  description: 'A stored event is returned at once, oldest first. Other query parameters are ignored.',
  access: [{ kind: 'read-token' }],
  params: { id: callbackId },
  lenientQuery: {
    timeout: {
      schema: v.optional(v.number(), WAIT_SECONDS_MAX),
      rule: `Seconds to wait, rounded down and kept within ${WAIT_SECONDS_MIN} to ${WAIT_SECONDS_MAX}; what is no finite number is ${WAIT_SECONDS_MAX}.`,
    },
    after: { schema: v.string(), rule: 'The id of a stored event: only one after it is waited for. Empty means none.' },
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
  errors: ['INVALID_CALLBACK_ID', 'CALLBACK_NOT_FOUND', 'EVENT_NOT_FOUND', 'CALLBACK_EXPIRED', 'TOO_MANY_WAITS'],
  handle: (_, services, call) =>
    chain(foundCallback(call, services), (found) => ('id' in found ? waitOn(found, services, call) : found)) as
      | ReturnType<typeof waitOn>
      | WaitRefusal,
});
