/** GET /admin/v1/organizations/{name}: the credits of one organization (siblings §3). */
import { adminToken } from '../../access/admin-token.ts';
import { refuse, STATE_UNAVAILABLE } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import { organizationRecord, organizationRecordOf } from './account-records.ts';
import { ORGANIZATION_NOT_FOUND } from './account-refusals.ts';
import type { AdminModuleServices } from './services.ts';

export const showOrganization = route<AdminModuleServices>()({
  operation: 'showOrganization',
  method: 'GET',
  path: '/admin/v1/organizations/:name',
  summary: 'What an organization has left, and of which grants',
  access: [adminToken],
  answer: organizationRecord,
  errors: [ORGANIZATION_NOT_FOUND, STATE_UNAVAILABLE],
  async handle(_, { accounts }, { params: { name = '' } }) {
    const found = await accounts.organization(name);
    if (found === undefined) return refuse(ORGANIZATION_NOT_FOUND, 'there is no such organization');
    return organizationRecordOf(found);
  },
});
