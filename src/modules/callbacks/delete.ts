/** DELETE /v1/callbacks/{id}: the callback and its events go before their time (callback.md). */
import { route } from '../../http/route.ts';
import { callbackId, deletedAnswer } from './answers.ts';
import { EXAMPLE_CALLBACK_ID } from './examples.ts';
import { foundCallback } from './found.ts';
import { absent } from './refusals.ts';
import { jsonReply, UNTRUSTED_ANSWER_HEADERS } from './replies.ts';
import type { CallbackServices } from './services.ts';

export const deleteCallback = route<CallbackServices>()({
  operation: 'deleteCallback',
  method: 'DELETE',
  path: '/v1/callbacks/:id',
  summary: 'Delete a callback and its events',
  access: [{ kind: 'read-token' }],
  params: { id: callbackId },
  answer: deletedAnswer,
  answerHeaders: UNTRUSTED_ANSWER_HEADERS,
  examples: {
    params: { id: EXAMPLE_CALLBACK_ID },
    answer: { deleted: true, callback_id: EXAMPLE_CALLBACK_ID },
  },
  errors: ['INVALID_CALLBACK_ID', 'CALLBACK_NOT_FOUND', 'CALLBACK_EXPIRED'],
  async handle(_, services, call) {
    const found = await foundCallback(call, services);
    if (!('id' in found)) return found;
    const deleted = await services.callbacks.delete(found);
    if (deleted.kind !== 'deleted') return absent(deleted);
    return jsonReply(`{"deleted":true,"callback_id":"${found.id}"}`);
  },
});
