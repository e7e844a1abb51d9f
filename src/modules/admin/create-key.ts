/** POST /admin/v1/keys: makes a key and shows its text, once (siblings §3). */
import { adminToken } from '../../access/admin-token.ts';
import { Refusal } from '../../http/errors.ts';
import { BODY_ERRORS, jsonBody } from '../../http/json-body.ts';
import { route } from '../../http/route.ts';
import { keyBody, keyDraftOf } from './account-input.ts';
import { createdKey, createdKeyOf } from './account-records.ts';
import { CHANGE_ERRORS, notChanged } from './account-refusals.ts';
import type { AdminModuleServices } from './services.ts';

const readBody = jsonBody(keyBody);

export const createKey = route<AdminModuleServices>()({
  operation: 'createKey',
  method: 'POST',
  path: '/admin/v1/keys',
  summary: 'Make a key; its text is shown only here',
  access: [adminToken],
  bodies: { 'application/json': keyBody },
  status: 201,
  answer: createdKey,
  errors: [...BODY_ERRORS, ...CHANGE_ERRORS],
  readBody,
  async handle({ body }, { accounts, clock }) {
    const draft = keyDraftOf(body, clock.nowMs());
    if (draft instanceof Refusal) return draft;
    const created = await accounts.createKey(draft);
    return created.kind === 'created' ? createdKeyOf(created.key, created.text) : notChanged(created);
  },
});
