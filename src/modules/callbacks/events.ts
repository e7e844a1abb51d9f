/** GET /v1/callbacks/{id}/events: lists the stored events, oldest first (callback.md). */
import { CALLBACK_EXPIRED, CALLBACK_NOT_FOUND, noCallback, ratedReadToken } from '../../access/read-token.ts';
import { isoTime } from '../../base/iso-time.ts';
import { route } from '../../http/route.ts';
import { UNTRUSTED_ANSWER_HEADERS } from '../untrusted.ts';
import { callbackId, eventsAnswer } from './answers.ts';
import { EXAMPLE_CALLBACK_ID, EXAMPLE_LISTING } from './examples.ts';
import { eventsReply } from './replies.ts';
import type { CallbackServices } from './services.ts';

export const listEvents = route<CallbackServices>()({
  operation: 'listEvents',
  method: 'GET',
  path: '/v1/callbacks/:id/events',
  summary: 'List the stored events of a callback',
  access: [ratedReadToken],
  params: { id: callbackId },
  answer: eventsAnswer,
  answerHeaders: UNTRUSTED_ANSWER_HEADERS,
  examples: { params: { id: EXAMPLE_CALLBACK_ID }, answer: EXAMPLE_LISTING },
  errors: [CALLBACK_NOT_FOUND, CALLBACK_EXPIRED],
  async handle(_, { callbacks }, _request, { callback }) {
    const listing = await callbacks.events(callback);
    if (listing.kind !== 'events') return noCallback(listing.kind);
    const { events } = listing;
    const { id, expiresAtMs } = callback;
    const head = `{"callback_id":"${id}","status":"active","expires_at":"${isoTime(expiresAtMs)}","event_count":${events.length},"events":[`;
    return eventsReply(head, events, ']}', id);
  },
});
