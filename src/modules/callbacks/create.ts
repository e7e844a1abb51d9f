/**
 * POST /v1/callbacks: creates a webhook address for ten minutes (callback.md; decisions §5). The server checks the body, the
 * client's rate and the capacity before the client pays, and claims the capacity once the payment is verified; the ten minutes
 * start when the payment has settled.
 */
import * as v from 'valibot';
import { capacityClaim, freeCapacity } from '../../access/capacity.ts';
import { unlessOverloaded } from '../../access/overload.ts';
import { perClient } from '../../access/rate-limit.ts';
import { paid } from '../../access/x402.ts';
import { isoTime } from '../../base/iso-time.ts';
import type { CallbackDraft } from '../../callback/callbacks.ts';
import { jsonTextOf } from '../../callback/json-text.ts';
import { BODY_DEADLINE_MS, CREATION_BYTES_MAX, EVENT_COUNT_MAX, PAYLOAD_BYTES_MAX } from '../../callback/limits.ts';
import { AfterSettlement } from '../../http/answers.ts';
import { type BodyRead, isBodyless } from '../../http/body.ts';
import { INVALID_BODY, refuse } from '../../http/errors.ts';
import { BODY_ERRORS, NO_OBJECT, unlessJson } from '../../http/json-body.ts';
import type { RequestView } from '../../http/request-view.ts';
import { route } from '../../http/route.ts';
import { unreadBody } from '../../http/unread-body.ts';
import { callbackAnswer } from './answers.ts';
import { EXAMPLE_CALLBACK } from './examples.ts';
import { notJson } from './refusals.ts';
import type { CallbackServices } from './services.ts';

const BOUNDS = { bytesMax: CREATION_BYTES_MAX, deadlineMs: BODY_DEADLINE_MS };
const NO_BODY = { body: undefined };

function checkBody(request: RequestView, read: BodyRead) {
  if (!read.ok) return unreadBody(read, BOUNDS);
  const checked = { body: undefined, bytes: read.bytes };
  if (read.bytes.length === 0) return checked;
  const unsupported = unlessJson(request);
  if (unsupported !== undefined) return unsupported;
  const text = jsonTextOf(read.bytes);
  if (text === undefined) return notJson();
  const isObject = text.trimStart().startsWith('{');
  return isObject ? checked : refuse(INVALID_BODY, NO_OBJECT);
}

export const createCallback = route<CallbackServices>()({
  operation: 'createCallback',
  method: 'POST',
  path: '/v1/callbacks',
  summary: 'Create a webhook address for ten minutes',
  description: `The body is optional; the server accepts and ignores an object of at most ${CREATION_BYTES_MAX} bytes.`,
  access: [perClient, freeCapacity, unlessOverloaded, paid<CallbackDraft>('0.01', 'callback'), capacityClaim],
  bodies: { 'application/json': v.looseObject({}) },
  examples: { bodies: { 'application/json': {} }, answer: EXAMPLE_CALLBACK },
  status: 201,
  answer: callbackAnswer,
  errors: BODY_ERRORS,
  readBody: (request, { bodies }) =>
    isBodyless(request.body) ? NO_BODY : bodies.use(request, BOUNDS, (read) => checkBody(request, read)),
  handle(_, { callbacks, baseUrl, hookBaseUrl }, _request, { draft = callbacks.draft() }) {
    return new AfterSettlement(draft, async () => {
      const { id, readToken, expiresAtMs } = await callbacks.create(draft);
      return {
        id,
        callback_url: `${hookBaseUrl}/hooks/${id}`,
        events_url: `${baseUrl}/v1/callbacks/${id}/events`,
        wait_url: `${baseUrl}/v1/callbacks/${id}/wait`,
        read_token: readToken,
        expires_at: isoTime(expiresAtMs),
        limits: { events: EVENT_COUNT_MAX, payload_bytes: PAYLOAD_BYTES_MAX } as const,
      };
    });
  },
});
