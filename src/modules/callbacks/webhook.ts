/**
 * POST, PUT and PATCH /hooks/{callback_id}: one handler receives webhooks (callback.md; decisions §5). The contract sets the
 * order of its checks: id, rate, existence, expiry, limit of events, content type, size, JSON, and expiry and limit again
 * at the moment of storing. The sender receives the event id and nothing else.
 */
import * as v from 'valibot';
import {
  CALLBACK_EXPIRED,
  CALLBACK_NOT_FOUND,
  INVALID_CALLBACK_ID,
  invalidCallbackId,
  noCallback,
} from '../../access/read-token.ts';
import { chain, type MaybePromise } from '../../base/maybe-promise.ts';
import { type BodyForm, bodyFormOf, isUnpacked } from '../../base/media-type.ts';
import type { CallbackHandle, Received, WebhookAdmission } from '../../callback/callbacks.ts';
import { retainedHeaders } from '../../callback/event.ts';
import { parseCallbackId } from '../../callback/identifier.ts';
import {
  BODY_DEADLINE_MS,
  CONTENT_TYPE_CHARACTERS_MAX,
  EVENT_COUNT_MAX,
  PAYLOAD_BYTES_MAX,
  RATE_COUNT_MAX,
  RATE_WINDOW_MS,
} from '../../callback/limits.ts';
import type { Reply } from '../../http/answers.ts';
import type { BodyBounds, BodyRead } from '../../http/body.ts';
import type { Method } from '../../http/contract.ts';
import {
  INVALID_JSON,
  PAYLOAD_TOO_LARGE,
  RATE_LIMIT_EXCEEDED,
  REQUEST_TIMEOUT,
  type Refusal,
  rateLimited,
  refuse,
  UNSUPPORTED_MEDIA_TYPE,
} from '../../http/errors.ts';
import type { RequestView } from '../../http/request-view.ts';
import { type Route, route } from '../../http/route.ts';
import { unreadBody } from '../../http/unread-body.ts';
import { UNTRUSTED_ANSWER_HEADERS } from '../untrusted.ts';
import { callbackId, receivedAnswer } from './answers.ts';
import { EXAMPLE_CALLBACK_ID, EXAMPLE_EVENT_ID } from './examples.ts';
import { CALLBACK_EVENT_LIMIT_REACHED, notJson } from './refusals.ts';
import { jsonReply } from './replies.ts';
import type { CallbackServices } from './services.ts';

const ERRORS = [
  INVALID_CALLBACK_ID,
  RATE_LIMIT_EXCEEDED,
  CALLBACK_NOT_FOUND,
  CALLBACK_EXPIRED,
  CALLBACK_EVENT_LIMIT_REACHED,
  UNSUPPORTED_MEDIA_TYPE,
  PAYLOAD_TOO_LARGE,
  REQUEST_TIMEOUT,
  INVALID_JSON,
] as const;

type WebhookRefusal = Refusal<(typeof ERRORS)[number]['code']>;

const BOUNDS: BodyBounds = { bytesMax: PAYLOAD_BYTES_MAX, deadlineMs: BODY_DEADLINE_MS, isAnonymous: true };

const full = (): WebhookRefusal =>
  refuse(CALLBACK_EVENT_LIMIT_REACHED, `this callback has reached its limit of ${EVENT_COUNT_MAX} events`);

const unsupported = (message: string): WebhookRefusal => refuse(UNSUPPORTED_MEDIA_TYPE, message);

function answerTo(received: Received): Reply | WebhookRefusal {
  switch (received.kind) {
    case 'stored':
      return jsonReply(`{"received":true,"event_id":"${received.eventId}"}`);
    case 'invalid-json':
      return notJson();
    case 'full':
      return full();
    case 'not-found':
    case 'expired':
      return noCallback(received.kind);
    default:
      return received satisfies never;
  }
}

function store(
  callback: CallbackHandle,
  form: BodyForm,
  request: RequestView,
  read: BodyRead,
  { callbacks, counters }: CallbackServices,
): MaybePromise<Reply | WebhookRefusal> {
  if (!read.ok) return unreadBody(read, BOUNDS);
  const retained = retainedHeaders((name) => request.header(name));
  const webhook = { method: request.method, form, retained, bytes: read.bytes };
  return chain(callbacks.receive(callback, webhook), (received) => {
    if (received.kind === 'stored') counters.eventsStored++;
    return answerTo(received);
  });
}

function readAndStore(
  callback: CallbackHandle,
  request: RequestView,
  services: CallbackServices,
): MaybePromise<Reply | WebhookRefusal> {
  const contentType = request.header('content-type');
  if (contentType !== null && contentType.length > CONTENT_TYPE_CHARACTERS_MAX)
    return unsupported(`the Content-Type must have at most ${CONTENT_TYPE_CHARACTERS_MAX} characters`);
  const form = bodyFormOf(contentType);
  if (form === undefined)
    return unsupported(
      'the Content-Type must be a single application/json, text/* or application/x-www-form-urlencoded, well formed and with a known charset',
    );
  if (!isUnpacked(request))
    return unsupported('the body must not have a Content-Encoding or a Transfer-Encoding other than chunked');
  return services.bodies.use(request, BOUNDS, (read) => store(callback, form, request, read, services));
}

function afterAdmission(
  admission: WebhookAdmission,
  request: RequestView,
  services: CallbackServices,
): MaybePromise<Reply | WebhookRefusal> {
  switch (admission.kind) {
    case 'admitted':
      return readAndStore(admission.callback, request, services);
    case 'too-many':
      return rateLimited(
        `a callback accepts at most ${RATE_COUNT_MAX} requests in any ${RATE_WINDOW_MS / 1000} seconds`,
        admission.retryAfterMs,
      );
    case 'full':
      return full();
    case 'not-found':
    case 'expired':
      return noCallback(admission.kind);
    default:
      return admission satisfies never;
  }
}

function receive(request: RequestView, services: CallbackServices): MaybePromise<Reply | WebhookRefusal> {
  const id = parseCallbackId(request.params.callback_id ?? '');
  if (id === undefined) return invalidCallbackId();
  return chain(services.callbacks.admit(id), (admission) => afterAdmission(admission, request, services));
}

/** The types that `bodyFormOf` accepts. A form is stored as text; its schema describes the fields before they are encoded. */
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
    summary: 'Receive a webhook and store it as an event',
    description: `The body has at most ${PAYLOAD_BYTES_MAX} bytes; without a Content-Type it is text.`,
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
    handle: (_, services, request) => receive(request, services),
  });

export const postWebhook = webhook('postWebhook', 'POST');
export const putWebhook = webhook('putWebhook', 'PUT');
export const patchWebhook = webhook('patchWebhook', 'PATCH');
