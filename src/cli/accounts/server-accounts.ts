/** The accounts of a running server, by its admin routes. */
import * as v from 'valibot';
import { isoTimeOrNull } from '../../base/iso-time.ts';
import { parseJson } from '../../base/json-value.ts';
import { NOT_FOUND } from '../../http/errors.ts';
import {
  createdKey,
  grantRecord,
  keyList,
  organizationRecord,
  revokedKey,
} from '../../modules/admin/account-records.ts';
import { CommandError } from '../command.ts';
import { errorOf, exchange, refused } from '../exchange.ts';
import type { OperatorAccounts } from './operator-accounts.ts';

/** @param base without a trailing slash @returns methods that throw CommandError */
export function accountsOfServer(base: string, token: string, send: typeof fetch): OperatorAccounts {
  async function ask<S extends v.GenericSchema>(
    schema: S,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<v.InferOutput<S>> {
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (body !== undefined) headers['content-type'] = 'application/json';
    // Does not follow a redirect, which may lead to another server: its status is shown instead.
    const init: RequestInit = { method, headers, redirect: 'manual', body: JSON.stringify(body) ?? null };
    const answer = await exchange(`${base}/admin/v1${path}`, init, send);
    if (errorOf(answer).code === NOT_FOUND.code) {
      throw new CommandError(`${base} has no admin routes: start the server with ADMIN_TOKEN`);
    }
    if (answer.status !== 200 && answer.status !== 201) throw refused(answer);
    const parsed = v.safeParse(schema, parseJson(answer.text));
    if (!parsed.success) throw new CommandError(`${base} does not answer as a server of this release does`);
    return parsed.output;
  }
  return {
    createKey: ({ organization, scopes, expiresAtMs }) =>
      ask(createdKey, 'POST', '/keys', { organization, scopes, expires_at: isoTimeOrNull(expiresAtMs) }),
    async listKeys(organization) {
      const query = organization === undefined ? '' : `?${new URLSearchParams({ organization })}`;
      return (await ask(keyList, 'GET', `/keys${query}`)).keys;
    },
    async revokeKey(id) {
      await ask(revokedKey, 'DELETE', `/keys/${encodeURIComponent(id)}`);
    },
    grant: ({ organization, kind, amount, expiresAtMs }) =>
      ask(grantRecord, 'POST', '/grants', { organization, kind, amount, expires_at: isoTimeOrNull(expiresAtMs) }),
    organization: (name) => ask(organizationRecord, 'GET', `/organizations/${encodeURIComponent(name)}`),
  };
}
