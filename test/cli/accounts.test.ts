/** `keys` and `credits` in this process: over state folders, over a server's routes, and what they refuse. */
import { readdirSync, readFileSync } from 'node:fs';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inFolder } from '../../src/cli/accounts/folder-accounts.ts';
import type { OperatorAccounts } from '../../src/cli/accounts/operator-accounts.ts';
import { accountsOfServer } from '../../src/cli/accounts/server-accounts.ts';
import { createdKey, grantRecord, keyList, organizationRecord } from '../../src/modules/admin/account-records.ts';
import { Folder } from '../storage/sqlite/folder.ts';
import { ManualTime } from '../support/manual-time.ts';
import { type OpenedApp, openedApp } from '../support/opened-app.ts';
import { NOW_MS, type Ran, run } from './captured-io.ts';

const ADMIN_TOKEN = 'operator-0123456789-0123456789-0123';

describe('on a state folder', () => {
  let folder: Folder;
  beforeEach(() => {
    folder = new Folder();
  });
  afterEach(() => folder.remove());

  const paygrade = (...words: string[]): Promise<Ran> => run([...words, '--state-dir', folder.path]);
  const jsonOf = async <S extends v.GenericSchema>(schema: S, ...words: string[]): Promise<v.InferOutput<S>> => {
    const { exitCode, stdout, stderr } = await paygrade(...words, '--json');
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toBe(`${JSON.stringify(JSON.parse(stdout))}\n`);
    return v.parse(schema, JSON.parse(stdout));
  };
  const KEY = ['keys', 'create', '--org', 'acme', '--scopes', 'jobs:read,companies:read'];

  it('make, list and revoke keys; the text of a key is in no file', async () => {
    const one = await jsonOf(createdKey, ...KEY, '--expires', '2027-01-01');
    expect(one).toMatchObject({
      organization: 'acme',
      scopes: ['jobs:read', 'companies:read'],
      created_at: new Date(NOW_MS).toISOString(),
      expires_at: '2027-01-01T00:00:00.000Z',
    });
    const people = await paygrade('keys', 'create', '--org', 'beta', '--scopes', 'retries:write');
    expect(people.stdout).toMatch(/^svc_key_[A-Za-z0-9_-]{43}\n$/);
    expect(people.stderr).toMatch(/^key_\w{24} of beta for retries:write; does not expire\n.*shown only now/);

    const { keys } = await jsonOf(keyList, 'keys', 'list');
    const { key, ...rest } = one;
    expect(keys[0]).toEqual({ ...rest, last_used_at: null, revoked_at: null });
    expect((await jsonOf(keyList, 'keys', 'list', '--org', 'beta')).keys).toEqual([keys[1]]);
    expect((await paygrade('keys', 'revoke', one.id, '--json')).stdout).toBe(`{"id":"${one.id}","revoked":true}\n`);
    expect((await paygrade('keys', 'revoke', one.id)).stderr).toBe(`${one.id} is revoked\n`);
    const listed = await paygrade('keys', 'list');
    expect(listed.stdout.split('\n').map((line) => line.split('  ')[3]?.split(', ').at(-1))).toEqual([
      `revoked ${new Date(NOW_MS).toISOString()}`,
      'does not expire',
      undefined,
    ]);

    const files = readdirSync(folder.path).map((name) => readFileSync(folder.file(name), 'latin1'));
    for (const text of [key, people.stdout.trim()]) {
      expect(files.filter((content) => content.includes(text.slice('svc_key_'.length)))).toEqual([]);
      expect(listed.stdout + listed.stderr).not.toContain(text);
    }
  });

  it('give credits and show what is left', async () => {
    const grant = ['credits', 'grant', '--org', 'acme', '--kind'];
    const once = await jsonOf(grantRecord, ...grant, 'onboarding', '--amount', '500', '--expires', '2027-01-01');
    expect(once).toEqual({
      organization: 'acme',
      kind: 'onboarding',
      amount: 500,
      remaining: 500,
      expires_at: '2027-01-01T00:00:00.000Z',
    });
    const monthly = await paygrade(...grant, 'subscription', '--amount', '10000');
    expect(monthly.stderr).toBe("acme has 10,000 credits a month, 10,000 left of this month's\n");
    const shown = await jsonOf(organizationRecord, 'credits', 'show', '--org', 'acme');
    expect(shown.grants.map(({ kind, renews_at }) => [kind, renews_at])).toEqual([
      ['subscription', '2026-12-01T00:00:00.000Z'],
      ['onboarding', null],
    ]);
    expect((await paygrade('credits', 'show', '--org', 'acme')).stdout).toBe(
      'acme: 10,500 credits left\n' +
        '  subscription           10,000 of 10,000, renewed 2026-12-01T00:00:00.000Z\n' +
        '  onboarding                500 of 500, lapses 2027-01-01T00:00:00.000Z\n',
    );
  });

  it.each<readonly [string, readonly string[], RegExp]>([
    ['no organization', ['keys', 'create', '--scopes', 'jobs:read'], /--org is missing/],
    ['another name', ['keys', 'create', '--org', 'Acme', '--scopes', 'jobs:read'], /--org must be 1 to 64 of/],
    ['no scopes', ['keys', 'create', '--org', 'acme'], /--scopes is missing/],
    [
      'an unknown scope',
      ['keys', 'create', '--org', 'acme', '--scopes', 'jobs:read,all'],
      /--scopes: "all" is no scope; .*jobs:read/,
    ],
    [
      'a scope twice',
      ['keys', 'create', '--org', 'acme', '--scopes', 'jobs:read,jobs:read'],
      /--scopes names a scope twice/,
    ],
    ['no time', [...KEY, '--expires', 'soon'], /--expires must be an RFC 3339/],
    ['a past time', [...KEY, '--expires', '2026-11-21T12:00:00Z'], /--expires must be a time to come/],
    ['no id', ['keys', 'revoke', 'acme'], /KEY_ID must be `key_` and 24/],
    ['another kind', ['credits', 'grant', '--org', 'acme', '--kind', 'gift', '--amount', '1'], /--kind/],
    ['no whole amount', ['credits', 'grant', '--org', 'acme', '--kind', 'onboarding', '--amount', '1.5'], /--amount/],
    [
      'no credits',
      ['credits', 'grant', '--org', 'acme', '--kind', 'onboarding', '--amount', '0'],
      /--amount must be at least 1/,
    ],
    [
      'an expiry of a subscription',
      ['credits', 'grant', '--org', 'acme', '--kind', 'subscription', '--amount', '1', '--expires', '2027-01-01'],
      /--expires does not go with --kind subscription/,
    ],
    ['both places', [...KEY, '--url', 'http://127.0.0.1:1'], /--state-dir does not go with --url/],
  ])('refuse %s with one line, and change nothing', async (_, words, message) => {
    const { exitCode, stdout, stderr } = await paygrade(...words);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd()).not.toContain('\n');
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it.each([[['keys', 'list']], [['credits', 'show', '--org', 'acme']], [['keys', 'revoke', `key_${'A'.repeat(24)}`]]])(
    '%j makes no state where there is none',
    async (words) => {
      const { exitCode, stderr } = await paygrade(...words);
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringMatching(/has no state\.db: no server and no command has used it\n$/),
      ]);
      expect(readdirSync(folder.path)).toEqual([]);
    },
  );

  it('say what they do not find', async () => {
    await paygrade(...KEY);
    expect((await paygrade('keys', 'revoke', `key_${'A'.repeat(24)}`)).stderr).toBe('paygrade: there is no such key\n');
    expect((await paygrade('credits', 'show', '--org', 'beta')).stderr).toBe(
      'paygrade: there is no organization beta\n',
    );
    expect((await paygrade('keys', 'list', '--org', 'beta')).stderr).toBe('no keys\n');
  });

  it('leave a folder to the server that runs on it, and name the way through it', async () => {
    await folder.open();
    const { exitCode, stderr } = await paygrade(...KEY);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(
        /is in use: if a server runs on it, ask .* with --url and ADMIN_TOKEN.*another command holds it for a moment, so try again/,
      ),
    ]);
  });
});

describe('through a server', () => {
  let opened: OpenedApp;
  beforeEach(async () => {
    opened = await openedApp({ ADMIN_TOKEN });
  });
  afterEach(() => opened.close());

  const sendTo = (app: OpenedApp): typeof fetch =>
    (async (input: string, init?: RequestInit) => app.app.fetch(new Request(input, init))) as typeof fetch;
  const draft = { organization: 'acme', scopes: ['jobs:read'], expiresAtMs: Date.UTC(2099, 0) } as const;

  /** What an operator does in a row, and all that comes of it but random texts and times. */
  async function life(accounts: OperatorAccounts): Promise<unknown> {
    const { id, key, created_at: _, ...created } = await accounts.createKey(draft);
    expect(key).toMatch(/^svc_key_/);
    const granted = await accounts.grant({ organization: 'acme', kind: 'onboarding', amount: 5, expiresAtMs: null });
    await accounts.revokeKey(id);
    const [listed] = await accounts.listKeys('acme');
    expect(listed?.id).toBe(id);
    expect(listed?.revoked_at).not.toBeNull();
    return [created, granted, await accounts.listKeys('beta'), await accounts.organization('acme')];
  }

  it('everything comes out as on a folder', async () => {
    const folder = new Folder();
    const here = await inFolder(folder.path, true, new ManualTime(), life);
    expect(await life(accountsOfServer('http://h', ADMIN_TOKEN, sendTo(opened)))).toEqual(here);
    await folder.remove();
  });

  it('its refusals are one line', async () => {
    const accounts = accountsOfServer('http://h', ADMIN_TOKEN, sendTo(opened));
    await expect(accounts.organization('beta')).rejects.toThrow(/^404 ORGANIZATION_NOT_FOUND: /);
    await expect(accounts.revokeKey(`key_${'A'.repeat(24)}`)).rejects.toThrow(/^404 KEY_NOT_FOUND: /);
    await expect(accountsOfServer('http://h', 'x'.repeat(40), sendTo(opened)).listKeys(undefined)).rejects.toThrow(
      /^401 INVALID_TOKEN: /,
    );
  });

  it('without ADMIN_TOKEN the command says what is missing', async () => {
    const closed = await openedApp();
    await expect(accountsOfServer('http://h', ADMIN_TOKEN, sendTo(closed)).createKey(draft)).rejects.toThrow(
      'http://h has no admin routes: start the server with ADMIN_TOKEN',
    );
    await closed.close();
  });
});
