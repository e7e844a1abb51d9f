/** GET /admin/v1/keys: all keys, or those of one organization, without their texts (siblings §3). */
import * as v from 'valibot';
import { adminToken } from '../../access/admin-token.ts';
import { STATE_UNAVAILABLE } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import { organizationName } from './account-input.ts';
import { keyList, listedKeyOf } from './account-records.ts';
import type { AdminModuleServices } from './services.ts';

export const listKeys = route<AdminModuleServices>()({
  operation: 'listKeys',
  method: 'GET',
  path: '/admin/v1/keys',
  summary: 'The keys, in the order of their creation; revoked and expired ones too',
  access: [adminToken],
  query: v.strictObject({ organization: v.optional(organizationName) }),
  answer: keyList,
  errors: [STATE_UNAVAILABLE],
  async handle({ organization }, { accounts }) {
    return { keys: (await accounts.listKeys(organization)).map(listedKeyOf) };
  },
});
