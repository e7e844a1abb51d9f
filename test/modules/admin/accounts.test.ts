/** The operator's routes about keys and credits (siblings §3): bodies, statuses, refusals, and what they say to others. */
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OutageError } from '../../../src/base/outage.ts';
import {
  createdKey,
  grantRecord,
  keyList,
  organizationRecord,
  revokedKey,
} from '../../../src/modules/admin/account-records.ts';
import { MemoryAccounts } from '../../../src/storage/memory/accounts.ts';
import { NO_ACCOUNTS } from '../../../src/storage/memory/accounts-journal.ts';
import { openBackend } from '../../../src/storage/open-backend.ts';
import { type JobsApp, openJobsApp } from '../../support/jobs-app.ts';

const ADMIN_TOKEN = 'operator-0123456789-0123456789-0123';
const authorization = `Bearer ${ADMIN_TOKEN}`;
const KEY = { organization: 'acme', scopes: ['jobs:read'] };
const GRANT = { organization: 'acme', kind: 'onboarding', amount: 500 };
const LATER = '2099-01-01T00:00:00.000Z';

let jobs: JobsApp;
beforeAll(async () => {
  jobs = await openJobsApp({ ADMIN_TOKEN });
});
afterAll(() => jobs.close());

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

const send = (method: string, path: string, body?: string, type = 'application/json', on = jobs): Promise<Answered> =>
  on.send(`/admin/v1${path}`, {
    method,
    headers: body === undefined ? { authorization } : { authorization, 'content-type': type },
    ...(body === undefined ? {} : { body }),
  });
const post = (path: string, body: unknown, on = jobs): Promise<Answered> =>
  send('POST', path, JSON.stringify(body), 'application/json', on);
/** An answer of this status, which must have exactly the members of its schema. */
function whole<S extends v.GenericSchema>(
  schema: S,
  { status, text, headers }: Answered,
  wanted = 200,
): v.InferOutput<S> {
  expect([status, headers.get('cache-control')]).toEqual([wanted, 'private, no-store']);
  return v.parse(schema, JSON.parse(text));
}
const faultOf = ({ status, text }: Answered): readonly [number, string, string] => {
  const { code, message } = (JSON.parse(text) as { error: { code: string; message: string } }).error;
  return [status, code, message];
};

describe('the operator', () => {
  it('makes keys, lists them without their texts, and revokes them', async () => {
    const one = whole(createdKey, await post('/keys', { ...KEY, organization: 'one', expires_at: LATER }), 201);
    expect(one).toMatchObject({ organization: 'one', scopes: ['jobs:read'], expires_at: LATER });
    const other = whole(createdKey, await post('/keys', { ...KEY, organization: 'other', expires_at: null }), 201);
    const listed = await send('GET', '/keys?organization=one');
    const { key, ...rest } = one;
    expect(whole(keyList, listed)).toEqual({ keys: [{ ...rest, last_used_at: null, revoked_at: null }] });
    const all = await send('GET', '/keys');
    expect(whole(keyList, all).keys.map(({ id }) => id)).toEqual(expect.arrayContaining([one.id, other.id]));
    for (const text of [listed.text, all.text]) expect(text).not.toContain('svc_key_');
    for (let times = 0; times < 2; times++) {
      expect(whole(revokedKey, await send('DELETE', `/keys/${one.id}`))).toEqual({ id: one.id, revoked: true });
    }
    expect(whole(keyList, await send('GET', '/keys?organization=one')).keys[0]?.revoked_at).not.toBeNull();
    expect(whole(keyList, await send('GET', '/keys?organization=nobody'))).toEqual({ keys: [] });
    expect(key).not.toBe(other.key);
  });

  it('gives credits and sees what is left of them', async () => {
    const organization = 'credits';
    const once = {
      organization,
      kind: 'onboarding',
      amount: 500,
      remaining: 500,
      expires_at: '2099-01-01T00:00:00.000Z',
    };
    const given = await post('/grants', { organization, kind: 'onboarding', amount: 500, expires_at: '2099-01-01' });
    expect(whole(grantRecord, given, 201)).toEqual(once);
    const monthly = { organization, kind: 'subscription', amount: 1000 };
    const subscribed = await post('/grants', monthly);
    expect(whole(grantRecord, subscribed, 201)).toEqual({ ...monthly, remaining: 1000, expires_at: null });
    await post('/grants', { organization, kind: 'onboarding', amount: 5 });
    const found = whole(organizationRecord, await send('GET', `/organizations/${organization}`));
    const now = new Date();
    const renewsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
    expect(found).toEqual({
      organization,
      remaining: 1505,
      grants: [
        { kind: 'subscription', amount: 1000, remaining: 1000, expires_at: null, renews_at: renewsAt },
        { kind: 'onboarding', amount: 500, remaining: 500, expires_at: once.expires_at, renews_at: null },
        { kind: 'onboarding', amount: 5, remaining: 5, expires_at: null, renews_at: null },
      ],
    });
    expect(whole(grantRecord, await post('/grants', { ...monthly, amount: 0 }), 201).remaining).toBe(0);
    expect(whole(organizationRecord, await send('GET', `/organizations/${organization}`)).remaining).toBe(505);
  });

  it.each([
    ['GET', '/organizations/nobody', 'ORGANIZATION_NOT_FOUND'],
    ['GET', '/organizations/Acme', 'ORGANIZATION_NOT_FOUND'],
    ['GET', '/organizations/%61cme', 'ORGANIZATION_NOT_FOUND'],
    ['DELETE', `/keys/key_${'A'.repeat(24)}`, 'KEY_NOT_FOUND'],
    ['DELETE', '/keys/acme', 'KEY_NOT_FOUND'],
    ['DELETE', '/keys/', 'NOT_FOUND'],
    ['GET', '/organizations', 'NOT_FOUND'],
  ])('%s %s is 404 %s', async (method, path, code) => {
    expect(faultOf(await send(method, path)).slice(0, 2)).toEqual([404, code]);
  });

  it.each<readonly [string, unknown, string]>([
    ['/keys', [], 'the body must be a JSON object'],
    ['/keys', {}, '`organization` is required: 1 to 64 of the characters a-z, 0-9 and -'],
    ['/keys', { ...KEY, organization: 'Acme' }, '`organization` must be 1 to 64 of the characters a-z, 0-9 and -'],
    ['/keys', { ...KEY, organization: 'a'.repeat(65) }, '`organization` must be'],
    ['/keys', { ...KEY, organization: 7 }, '`organization` must be'],
    ['/keys', { organization: 'acme' }, '`scopes` is required: a list of one scope at least'],
    ['/keys', { ...KEY, scopes: [] }, '`scopes` must be a list of one scope at least'],
    ['/keys', { ...KEY, scopes: 'jobs:read' }, '`scopes` must be a list'],
    ['/keys', { ...KEY, scopes: ['jobs:read', 'jobs:all'] }, '`scopes[1]` must be one of jobs:read, companies:read'],
    [
      '/keys',
      { ...KEY, scopes: ['jobs:read', 'jobs:read'] },
      '`scopes` must be a list of one scope at least and none twice',
    ],
    ['/keys', { ...KEY, expires_at: 'soon' }, '`expires_at` must be an RFC 3339 date-time, a date, or null'],
    ['/keys', { ...KEY, expires_at: 1 }, '`expires_at` must be an RFC 3339 date-time'],
    ['/keys', { ...KEY, expires_at: '2020-01-01' }, '`expires_at` must be a time to come'],
    ['/keys', { ...KEY, expires: LATER }, 'unknown field `expires`'],
    ['/grants', { ...GRANT, kind: 'gift' }, '`kind` must be one of subscription, onboarding'],
    ['/grants', { ...GRANT, amount: 0 }, '`amount` must be at least 1 for onboarding credits'],
    ['/grants', { ...GRANT, amount: -1 }, '`amount` must be a whole number of credits'],
    ['/grants', { ...GRANT, amount: 1.5 }, '`amount` must be a whole number of credits'],
    ['/grants', { ...GRANT, amount: 1e12 }, '`amount` must be a whole number of credits'],
    ['/grants', { ...GRANT, amount: '500' }, '`amount` must be a whole number of credits'],
    ['/grants', { organization: 'acme', kind: 'onboarding' }, '`amount` is required'],
    ['/grants', { ...GRANT, kind: 'subscription', expires_at: LATER }, '`expires_at` does not go with a subscription'],
    ['/grants', { ...GRANT, expires_at: '2020-01-01' }, '`expires_at` must be a time to come'],
  ])('%s with %j is 400 INVALID_BODY: %s', async (path, body, message) => {
    const [status, code, said] = faultOf(await post(path, body));
    expect([status, code]).toEqual([400, 'INVALID_BODY']);
    expect(said).toContain(message);
    expect(faultOf(await send('GET', '/organizations/acme'))[1]).toBe('ORGANIZATION_NOT_FOUND');
  });

  it.each<readonly [string, string | undefined, string, number, string]>([
    ['it is cut', '{"organization":', 'application/json', 400, 'INVALID_JSON'],
    ['it is empty', '', 'application/json', 400, 'INVALID_JSON'],
    ['there is none', undefined, 'application/json', 400, 'INVALID_JSON'],
    ['it nests without end', '['.repeat(5000), 'application/json', 400, 'INVALID_JSON'],
    ['it is text', JSON.stringify(KEY), 'text/plain', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['it is another JSON', JSON.stringify(KEY), 'application/ld+json', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['it is too long', JSON.stringify({ ...KEY, x: 'x'.repeat(17_000) }), 'application/json', 413, 'PAYLOAD_TOO_LARGE'],
  ])('a body is refused when %s', async (_, body, type, status, code) => {
    for (const path of ['/keys', '/grants']) {
      expect(faultOf(await send('POST', path, body, type)).slice(0, 2)).toEqual([status, code]);
    }
  });

  it('is asked for the token before the body, and for parameters that exist', async () => {
    const stranger = await jobs.send('/admin/v1/keys', { method: 'POST', body: '{', headers: {} });
    expect(faultOf(stranger).slice(0, 2)).toEqual([401, 'MISSING_AUTHORIZATION']);
    expect(faultOf(await send('GET', '/keys?organization=Acme')).slice(0, 2)).toEqual([400, 'INVALID_PARAMETER']);
    expect(faultOf(await send('GET', '/keys?org=acme')).slice(0, 2)).toEqual([400, 'UNKNOWN_PARAMETER']);
    const put = await send('PUT', '/keys');
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'POST, GET']);
  });
});

it('is told to come again while the state cannot be read or written, and learns no detail', async () => {
  const fails = { kind: 'unavailable', detail: 'fault-canary' } as const;
  const away = (): Promise<never> => Promise.reject(new OutageError('fault-canary'));
  const own = await openJobsApp(
    { ADMIN_TOKEN },
    {
      openBackend: async (options, ports) => {
        const backend = await openBackend(options, ports);
        const accounts = Object.assign(Object.create(backend.accounts) as typeof backend.accounts, {
          hasOrganizations: () => true,
          createKey: () => fails,
          grant: () => fails,
          revokeKey: () => fails,
          listKeys: away,
          organization: away,
        });
        return { ...backend, accounts };
      },
    },
  );
  const answers = [
    await post('/keys', KEY, own),
    await post('/grants', GRANT, own),
    await send('DELETE', `/keys/key_${'A'.repeat(24)}`, undefined, undefined, own),
    await send('GET', '/keys', undefined, undefined, own),
    await send('GET', '/organizations/acme', undefined, undefined, own),
  ];
  for (const answer of answers) {
    expect(faultOf(answer).slice(0, 2)).toEqual([503, 'STATE_UNAVAILABLE']);
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(answer.text).not.toContain('fault-canary');
  }
  await own.close();
});

it('does not hear that keys and organizations are missing while the state that holds them is damaged', async () => {
  const own = await openJobsApp(
    { ADMIN_TOKEN },
    {
      openBackend: async (options, ports) => {
        const backend = await openBackend(options, ports);
        const loaded = { ...NO_ACCOUNTS, damage: 'fault-canary' };
        return { ...backend, accounts: new MemoryAccounts(ports, { isPlay: true, loaded }) };
      },
    },
  );
  const requests = [
    ['GET', '/keys'],
    ['GET', '/keys?organization=acme'],
    ['GET', '/organizations/acme'],
    ['DELETE', `/keys/key_${'A'.repeat(24)}`],
  ] as const;
  for (const [method, path] of requests) {
    const answer = await send(method, path, undefined, undefined, own);
    expect(faultOf(answer).slice(0, 2), `${method} ${path}`).toEqual([503, 'STATE_UNAVAILABLE']);
    expect(answer.text).not.toContain('fault-canary');
  }
  await own.close();
});

it('a start with play money and no organization makes `demo`, whose key it gives once', async () => {
  const { app } = jobs.opened;
  expect(app.demoKey).toMatch(/^svc_key_[A-Za-z0-9_-]{43}$/);
  const found = whole(organizationRecord, await send('GET', '/organizations/demo'));
  expect(found).toMatchObject({
    remaining: 10_000,
    grants: [{ kind: 'onboarding', amount: 10_000, expires_at: null }],
  });
  const { keys } = whole(keyList, await send('GET', '/keys?organization=demo'));
  expect(keys.map(({ scopes }) => scopes)).toEqual([
    ['jobs:read', 'companies:read', 'signals:read', 'retries:read', 'retries:write'],
  ]);
  expect(app.notices.join()).not.toContain('svc_key_');
});
