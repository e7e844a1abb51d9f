/**
 * GET /v1/callbacks/{id}/events/{event_id}/raw: the exact bytes of one webhook, so that its signature can be checked
 * (decisions §5, beyond the specification).
 */

import * as v from 'valibot';
import { isFieldValue } from '../../callback/media-type.ts';
import { Reply, route } from '../../http/route.ts';
import { callbackId, eventId } from './answers.ts';
import { EXAMPLE_CALLBACK_ID, EXAMPLE_EVENT_ID } from './examples.ts';
import { foundCallback } from './found.ts';
import { absent, unknownEvent } from './refusals.ts';
import { UNTRUSTED_ANSWER_HEADERS, UNTRUSTED_HEADERS } from './replies.ts';
import type { CallbackServices } from './services.ts';

const RAW_TYPE = 'application/octet-stream';

export const rawEvent = route<CallbackServices>()({
  operation: 'rawEvent',
  method: 'GET',
  path: '/v1/callbacks/:id/events/:event_id/raw',
  summary: 'The exact bytes of one stored webhook',
  access: [{ kind: 'read-token' }],
  params: { id: callbackId, event_id: eventId },
  answer: v.string(),
  answerType: RAW_TYPE,
  answerHeaders: {
    ...UNTRUSTED_ANSWER_HEADERS,
    'X-Original-Content-Type': {
      description: 'The Content-Type of the sender, absent when none was sent',
      schema: v.string(),
      optional: true,
    },
  },
  examples: { params: { id: EXAMPLE_CALLBACK_ID, event_id: EXAMPLE_EVENT_ID } },
  errors: ['INVALID_CALLBACK_ID', 'CALLBACK_NOT_FOUND', 'EVENT_NOT_FOUND', 'CALLBACK_EXPIRED'],
  async handle(_, services, call) {
    const found = await foundCallback(call, services);
    if (!('id' in found)) return found;
    const raw = await services.callbacks.raw(found, call.params.event_id ?? '');
    if (raw.kind === 'unknown-event') return unknownEvent();
    if (raw.kind !== 'raw') return absent(raw);
    const { contentType } = raw;
    // Whatever a store gives back, these bytes can be read: a value that no header may have is left out.
    const isSendable = contentType !== null && isFieldValue(contentType);
    return new Reply(raw.bytes, {
      ...UNTRUSTED_HEADERS,
      'content-type': RAW_TYPE,
      ...(isSendable ? { 'x-original-content-type': contentType } : {}),
    });
  },
});
