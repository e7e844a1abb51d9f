/**
 * POST, PUT and PATCH /hooks/{callback_id}: one handler for the public address (callback.md; decisions §5). The order of its
 * checks is the contract's: id, rate, existence, expiry, limit of events, content type, size, JSON, and at the moment of
 * storing expiry and limit once more. The sender is told an event id and nothing of what was sent.
 */
import * as v from 'valibot';
import { chain, type MaybePromise } from '../../base/maybe-promise.ts';
import type { CallbackHandle, Received, WebhookAdmission } from '../../callback/callbacks.ts';
import { retainedHeaders } from '../../callback/event.ts';
import { parseCallbackId } from '../../callback/identifier.ts';
import {
  BODY_DEADLINE_MS,
  CONTENT_TYPE_CHARACTERS_MAX,
  EVENT_COUNT_MAX,
  JSON_DEPTH_MAX,
  PAYLOAD_BYTES_MAX,
  RATE_COUNT_MAX,
  RATE_WINDOW_MS,
} from '../../callback/limits.ts';
import { bodyFormOf, isIdentity } from '../../callback/media-type.ts';
import { readBody } from '../../http/body.ts';
import { type Refusal, refuse } from '../../http/errors.ts';
import { type Call, type Method, type Reply, type Route, route } from '../../http/route.ts';
import { callbackId, receivedAnswer } from './answers.ts';
import { EXAMPLE_CALLBACK_ID, EXAMPLE_EVENT_ID } from './examples.ts';
import { absent, invalidId, lateBody, tooLarge } from './refusals.ts';
import { jsonReply, UNTRUSTED_ANSWER_HEADERS } from './replies.ts';
import type { CallbackServices } from './services.ts';

const ERRORS = [
  'INVALID_CALLBACK_ID',
  'RATE_LIMIT_EXCEEDED',
  'CALLBACK_NOT_FOUND',
  'CALLBACK_EXPIRED',
  'CALLBACK_EVENT_LIMIT_REACHED',
  'UNSUPPORTED_MEDIA_TYPE',
  'PAYLOAD_TOO_LARGE',
  'REQUEST_TIMEOUT',
  'INVALID_JSON',
] as const;

type WebhookRefusal = Refusal<(typeof ERRORS)[number]>;

const BOUNDS = { bytesMax: PAYLOAD_BYTES_MAX, deadlineMs: BODY_DEADLINE_MS };

const full = (): WebhookRefusal =>
  refuse('CALLBACK_EVENT_LIMIT_REACHED', `this callback has stored its ${EVENT_COUNT_MAX} events`);

const unsupported = (message: string): WebhookRefusal => refuse('UNSUPPORTED_MEDIA_TYPE', message);

function answerTo(received: Received): Reply | WebhookRefusal {
  switch (received.kind) {
    case 'stored':
      return jsonReply(`{"received":true,"event_id":"${received.eventId}"}`);
    case 'invalid-json':
      return refuse('INVALID_JSON', `the body is not JSON in UTF-8, at most ${JSON_DEPTH_MAX} arrays and objects deep`);
    case 'full':
      return full();
    case 'not-found':
    case 'expired':
      return absent(received);
    default:
      return received satisfies never;
  }
}

async function readAndStore(
  callback: CallbackHandle,
  call: Call,
  { callbacks, timers }: CallbackServices,
): Promise<Reply | WebhookRefusal> {
  const contentType = call.header('content-type');
  if (contentType !== null && contentType.length > CONTENT_TYPE_CHARACTERS_MAX)
    return unsupported(`a Content-Type has at most ${CONTENT_TYPE_CHARACTERS_MAX} characters here`);
  const form = bodyFormOf(contentType);
  if (form === undefined)
    return unsupported('bodies are application/json, text/* or application/x-www-form-urlencoded');
  if (!isIdentity(call.header('content-encoding'))) return unsupported('encoded bodies are not taken');
  const read = await readBody(call.request, BOUNDS, timers);
  if (!read.ok) return read.kind === 'too-large' ? tooLarge(PAYLOAD_BYTES_MAX) : lateBody();
  const retained = retainedHeaders((name) => call.header(name));
  return answerTo(
    await callbacks.receive(callback, { method: call.request.method, form, retained, bytes: read.bytes }),
  );
}

function receive(call: Call, services: CallbackServices): MaybePromise<Reply | WebhookRefusal> {
  const id = parseCallbackId(call.params.callback_id ?? '');
  if (id === undefined) return invalidId();
  return chain(services.callbacks.admit(id), (admission) => answerAdmitted(admission, call, services));
}

function answerAdmitted(
  admission: WebhookAdmission,
  call: Call,
  services: CallbackServices,
): MaybePromise<Reply | WebhookRefusal> {
  switch (admission.kind) {
    case 'admitted':
      return readAndStore(admission.callback, call, services);
    case 'too-many':
      return refuse(
        'RATE_LIMIT_EXCEEDED',
        `at most ${RATE_COUNT_MAX} requests in any ${RATE_WINDOW_MS / 1000} seconds to one callback`,
        {
          headers: { 'retry-after': String(Math.max(1, Math.ceil(admission.retryAfterMs / 1000))) },
        },
      );
    case 'full':
      return full();
    case 'not-found':
    case 'expired':
      return absent(admission);
    default:
      return admission satisfies never;
  }
}

/** The types that `bodyFormOf` takes. A form is kept as text; its schema is that of its fields before they are encoded. */
const BODIES = {
  'application/json': v.unknown(),
  'text/*': v.string(),
  'application/x-www-form-urlencoded': v.looseObject({}),
} as const;

const EXAMPLE_BODIES = {
  'application/json': { type: 'build.finished', ok: true },
  'text/*': 'build finished',
  'application/x-www-form-urlencoded': { type: 'build.finished' },
} satisfies Record<keyof typeof BODIES, unknown>;

const webhook = (operation: string, method: Method): Route<CallbackServices> =>
  route<CallbackServices>()({
    operation,
    method,
    path: '/hooks/:callback_id',
    isHook: true,
    summary: 'Receive a webhook and store it as an event',
    description: `At most ${PAYLOAD_BYTES_MAX} bytes; a body without a Content-Type is text.`,
    access: [],
    params: { callback_id: callbackId },
    bodies: BODIES,
    answer: receivedAnswer,
    answerHeaders: UNTRUSTED_ANSWER_HEADERS,
    examples: {
      params: { callback_id: EXAMPLE_CALLBACK_ID },
      bodies: EXAMPLE_BODIES,
      answer: { received: true, event_id: EXAMPLE_EVENT_ID },
    },
    errors: ERRORS,
    handle: (_, services, call) => receive(call, services),
  });

export const postWebhook = webhook('postWebhook', 'POST');
export const putWebhook = webhook('putWebhook', 'PUT');
export const patchWebhook = webhook('patchWebhook', 'PATCH');
