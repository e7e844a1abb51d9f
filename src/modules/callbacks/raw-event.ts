/**
 * GET /v1/callbacks/{id}/events/{event_id}/raw: the exact bytes of one webhook, so that the client can check its signature
 * (decisions §5, beyond the specification).
 */
import * as v from 'valibot';
import { CALLBACK_EXPIRED, CALLBACK_NOT_FOUND, noCallback, ratedReadToken } from '../../access/read-token.ts';
import { isFieldValue } from '../../base/media-type.ts';
import { Reply } from '../../http/answers.ts';
import { route } from '../../http/route.ts';
import { UNTRUSTED_ANSWER_HEADERS, UNTRUSTED_HEADERS } from '../untrusted.ts';
import { callbackId, eventId } from './answers.ts';
import { EXAMPLE_CALLBACK_ID, EXAMPLE_EVENT_ID } from './examples.ts';
import { EVENT_NOT_FOUND, unknownEvent } from './refusals.ts';
import { rawBody } from './replies.ts';
import type { CallbackServices } from './services.ts';

const RAW_TYPE = 'application/octet-stream';

export const rawEvent = route<CallbackServices>()({
  operation: 'rawEvent',
  method: 'GET',
  path: '/v1/callbacks/:id/events/:event_id/raw',
  summary: 'Get the exact bytes of one stored webhook',
  access: [ratedReadToken],
  params: { id: callbackId, event_id: eventId },
  answer: v.string(),
  answerType: RAW_TYPE,
  answerHeaders: {
    ...UNTRUSTED_ANSWER_HEADERS,
    'X-Original-Content-Type': {
      description: 'The Content-Type that the sender sent; absent when there was none',
      schema: v.string(),
      optional: true,
    },
  },
  examples: { params: { id: EXAMPLE_CALLBACK_ID, event_id: EXAMPLE_EVENT_ID } },
  errors: [CALLBACK_NOT_FOUND, EVENT_NOT_FOUND, CALLBACK_EXPIRED],
  async handle(_, { callbacks }, request, { callback }) {
    const raw = await callbacks.raw(callback, request.params.event_id ?? '');
    if (raw.kind === 'unknown-event') return unknownEvent();
    if (raw.kind !== 'raw') return noCallback(raw.kind);
    const { contentType } = raw;
    // Omits a stored Content-Type that is not a valid header value, so that the client can still read the bytes.
    const isSendable = contentType !== null && isFieldValue(contentType);
    return new Reply(rawBody(raw, callback.id), {
      ...UNTRUSTED_HEADERS,
      'content-type': RAW_TYPE,
      ...(isSendable ? { 'x-original-content-type': contentType } : {}),
    });
  },
});
