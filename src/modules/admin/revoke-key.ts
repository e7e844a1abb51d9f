/** DELETE /admin/v1/keys/{id}: revokes a key for every request that begins after the answer (siblings §3). */
import { adminToken } from '../../access/admin-token.ts';
import { refuse } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import { revokedKey } from './account-records.ts';
import { CHANGE_ERRORS, KEY_NOT_FOUND, notChanged } from './account-refusals.ts';
import type { AdminModuleServices } from './services.ts';

export const revokeKey = route<AdminModuleServices>()({
  operation: 'revokeKey',
  method: 'DELETE',
  path: '/admin/v1/keys/:id',
  summary: 'Revoke a key',
  access: [adminToken],
  answer: revokedKey,
  errors: [KEY_NOT_FOUND, ...CHANGE_ERRORS],
  async handle(_, { accounts }, { params: { id = '' } }) {
    const revocation = await accounts.revokeKey(id);
    switch (revocation.kind) {
      case 'revoked':
        return { id, revoked: true } as const;
      case 'unknown':
        return refuse(KEY_NOT_FOUND, 'there is no such key');
      default:
        return notChanged(revocation);
    }
  },
});
