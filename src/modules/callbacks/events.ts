/** GET /v1/callbacks/{id}/events: everything stored, oldest first (callback.md). */
import { route } from '../../http/route.ts';
import { callbackId, eventsAnswer } from './answers.ts';
import { EXAMPLE_CALLBACK_ID, EXAMPLE_LISTING } from './examples.ts';
import { foundCallback } from './found.ts';
import { absent } from './refusals.ts';
import { jsonReply, UNTRUSTED_ANSWER_HEADERS } from './replies.ts';
import type { CallbackServices } from './services.ts';

export const listEvents = route<CallbackServices>()({
  operation: 'listEvents',
  method: 'GET',
  path: '/v1/callbacks/:id/events',
  summary: 'List the stored events of a callback',
  access: [{ kind: 'read-token' }],
  params: { id: callbackId },
  answer: eventsAnswer,
  answerHeaders: UNTRUSTED_ANSWER_HEADERS,
  examples: { params: { id: EXAMPLE_CALLBACK_ID }, answer: EXAMPLE_LISTING },
  errors: ['INVALID_CALLBACK_ID', 'CALLBACK_NOT_FOUND', 'CALLBACK_EXPIRED'],
  async handle(_, services, call) {
    const found = await foundCallback(call, services);
    if (!('id' in found)) return found;
    const listing = await services.callbacks.events(found);
    if (listing.kind !== 'events') return absent(listing);
    const { id, expiresAtMs } = found;
    const { events } = listing;
    const expiresAt = new Date(expiresAtMs).toISOString();
    return jsonReply(
      `{"callback_id":"${id}","status":"active","expires_at":"${expiresAt}","event_count":${events.length},"events":[${events.join(',')}]}`,
    );
  },
});
