/** POST /admin/v1/grants: gives onboarding credits, or sets the amount of a subscription (siblings §3). */
import { adminToken } from '../../access/admin-token.ts';
import { Refusal } from '../../http/errors.ts';
import { BODY_ERRORS, jsonBody } from '../../http/json-body.ts';
import { route } from '../../http/route.ts';
import { grantBody, grantDraftOf } from './account-input.ts';
import { grantRecord, grantRecordOf } from './account-records.ts';
import { CHANGE_ERRORS, notChanged } from './account-refusals.ts';
import type { AdminModuleServices } from './services.ts';

const readBody = jsonBody(grantBody);

export const createGrant = route<AdminModuleServices>()({
  operation: 'createGrant',
  method: 'POST',
  path: '/admin/v1/grants',
  summary: 'Give an organization credits',
  access: [adminToken],
  bodies: { 'application/json': grantBody },
  status: 201,
  answer: grantRecord,
  errors: [...BODY_ERRORS, ...CHANGE_ERRORS],
  readBody,
  async handle({ body }, { accounts, clock }) {
    const draft = grantDraftOf(body, clock.nowMs());
    if (draft instanceof Refusal) return draft;
    const granted = await accounts.grant(draft);
    return granted.kind === 'granted' ? grantRecordOf(draft, granted.remaining) : notChanged(granted);
  },
});
