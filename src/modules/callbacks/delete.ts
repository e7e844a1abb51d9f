/** DELETE /v1/callbacks/{id}: deletes the callback and its events before it expires (callback.md). */
import { CALLBACK_EXPIRED, CALLBACK_NOT_FOUND, noCallback, readToken } from '../../access/read-token.ts';
import { route } from '../../http/route.ts';
import { UNTRUSTED_ANSWER_HEADERS } from '../untrusted.ts';
import { callbackId, deletedAnswer } from './answers.ts';
import { EXAMPLE_CALLBACK_ID } from './examples.ts';
import { jsonReply } from './replies.ts';
import type { CallbackServices } from './services.ts';

export const deleteCallback = route<CallbackServices>()({
  operation: 'deleteCallback',
  method: 'DELETE',
  path: '/v1/callbacks/:id',
  summary: 'Delete a callback and its events',
  access: [readToken],
  params: { id: callbackId },
  answer: deletedAnswer,
  answerHeaders: UNTRUSTED_ANSWER_HEADERS,
  examples: {
    params: { id: EXAMPLE_CALLBACK_ID },
    answer: { deleted: true, callback_id: EXAMPLE_CALLBACK_ID },
  },
  errors: [CALLBACK_NOT_FOUND, CALLBACK_EXPIRED],
  async handle(_, { callbacks }, _request, { callback }) {
    const deleted = await callbacks.delete(callback);
    if (deleted.kind !== 'deleted') return noCallback(deleted.kind);
    return jsonReply(`{"deleted":true,"callback_id":"${callback.id}"}`);
  },
});
