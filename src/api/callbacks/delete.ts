/** DELETE /v1/callbacks/{id}: the callback and its events go before their time (callback.md). */
import { parseCallbackId } from '../../callback/identifier.ts';
import { route } from '../../http/route.ts';
import { deletedAnswer } from './answers.ts';
import { absent, invalidId } from './refusals.ts';
import { jsonReply } from './replies.ts';
import type { CallbackServices } from './services.ts';

export const deleteCallback = route<CallbackServices>()({
  operation: 'deleteCallback',
  method: 'DELETE',
  path: '/v1/callbacks/:id',
  summary: 'Delete a callback and its events',
  access: [{ kind: 'read-token' }],
  answer: deletedAnswer,
  errors: ['INVALID_CALLBACK_ID', 'CALLBACK_NOT_FOUND', 'CALLBACK_EXPIRED'],
  async handle(_, { inbox }, call) {
    const id = parseCallbackId(call.params.id ?? '');
    if (id === undefined) return invalidId();
    const deleted = await inbox.delete(id);
    if (deleted.kind !== 'deleted') return absent(deleted);
    return jsonReply(`{"deleted":true,"callback_id":"${id}"}`);
  },
});
