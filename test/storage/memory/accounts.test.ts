/** What accounts in memory do beside what every implementation promises: limits, damage, and what is recorded late or not at all. */
import { expect, it } from 'vitest';
import { EMPTY_BALANCE } from '../../../src/accounts/balance.ts';
import { newSecret } from '../../../src/accounts/key.ts';
import { GRANT_COUNT_MAX, KEY_COUNT_MAX, ORGANIZATION_COUNT_MAX } from '../../../src/accounts/limits.ts';
import { OutageError } from '../../../src/base/outage.ts';
import { MemoryAccounts } from '../../../src/storage/memory/accounts.ts';
import type { AccountChange, LoadedAccounts, StoredKey } from '../../../src/storage/memory/accounts-journal.ts';
import { USE_COUNT_MAX, USES_PAUSE_MS } from '../../../src/storage/memory/stored-keys.ts';
import { Chance } from '../../support/chance.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';

const DRAFT = { scopes: ['jobs:read'], expiresAtMs: null } as const;

/** @param loaded the accounts of an earlier process */
function opened(loaded: Partial<LoadedAccounts> = {}, random = new Chance(1)) {
  const time = new ManualTime();
  const written: AccountChange[] = [];
  const state: { failure: Error | undefined } = { failure: undefined };
  const journal = {
    fault: () => undefined,
    async write(change: AccountChange): Promise<void> {
      if (state.failure !== undefined) throw state.failure;
      written.push(change);
    },
  };
  const accounts = new MemoryAccounts(
    { clock: time, timers: time, random },
    { isPlay: false, journal, loaded: { organizations: [], keys: [], damage: undefined, ...loaded } },
  );
  return {
    ...{ accounts, state, time, written },
    createKey: async (organization: string) => accounts.createKey({ ...DRAFT, organization }),
    grant: async (organization: string) =>
      accounts.grant({ organization, kind: 'onboarding', amount: 1, expiresAtMs: null }),
  };
}

const NO_DIGEST = new Uint8Array(32);

const keyOf = (id: number, digest: Uint8Array = NO_DIGEST): StoredKey => ({
  ...DRAFT,
  ...{ id: `key_${id}`, organization: 'acme', digest, createdAtMs: 0, lastUsedAtMs: null, revokedAtMs: null },
});

it('an organization gets the last grant that fits, and no other', async () => {
  const onboarding = Array.from({ length: GRANT_COUNT_MAX - 1 }, (_, serial) => ({
    ...{ serial, amount: 1, remaining: 1, expiresAtMs: null },
  }));
  const { grant } = opened({ organizations: [['acme', { ...EMPTY_BALANCE, onboarding }]] });
  expect([await grant('acme'), await grant('acme')]).toMatchObject([{ kind: 'granted' }, { kind: 'full' }]);
  expect(await grant('other')).toMatchObject({ kind: 'granted' });
});

it('the last key and the last organization that fit are made, and no others', async () => {
  const names = Array.from({ length: ORGANIZATION_COUNT_MAX - 1 }, (_, i) => [`o-${i}`, EMPTY_BALANCE] as const);
  const keys = Array.from({ length: KEY_COUNT_MAX - 1 }, (_, i) => keyOf(i));
  const { createKey, grant } = opened({ organizations: names, keys });
  const made = [await createKey('new'), await createKey('new'), await grant('newer'), await grant('new')];
  expect(made.map(({ kind }) => kind)).toEqual(['created', 'full', 'full', 'granted']);
});

it('a secret that is drawn twice is given to one key', async () => {
  const same = new Chance(1).bytes(32);
  let drawnCount = 0;
  const random = Object.assign(new Chance(2), {
    bytes: (count: number) => (count === 32 && ++drawnCount <= 3 ? same : new Chance(drawnCount).bytes(count)),
  });
  const { accounts, createKey } = opened({}, random);
  for (const one of [await createKey('acme'), await createKey('acme')]) expect(one.kind).toBe('created');
  expect(drawnCount).toBe(4);
  expect(accounts.listKeys()).toHaveLength(2);
});

it('damaged accounts say so, rather than that a key or an organization is unknown', async () => {
  const { accounts, createKey, grant } = opened({ damage: 'damaged' });
  const { text } = newSecret(new Chance(1));
  for (const read of [
    () => accounts.authenticate(text),
    () => accounts.listKeys(),
    () => accounts.organization('acme'),
  ]) {
    expect(read).toThrow(OutageError);
  }
  for (const changed of [await createKey('acme'), await grant('acme'), await accounts.revokeKey('key_1')]) {
    expect(changed).toEqual({ kind: 'unavailable', detail: 'damaged' });
  }
});

it('a change that the journal refuses is not made', async () => {
  const { accounts, createKey, grant, state } = opened();
  const created = await createKey('acme');
  if (created.kind !== 'created') throw new Error(created.kind);
  state.failure = new OutageError('refused');
  const refused = { kind: 'unavailable', detail: 'refused' };
  const changes = [await grant('acme'), await createKey('acme'), await accounts.revokeKey(created.key.id)];
  expect(changes).toEqual([refused, refused, refused]);
  expect(accounts.listKeys()).toEqual([created.key]);
  expect(accounts.organization('acme')?.remaining).toBe(0);
  expect(accounts.authenticate(created.text)).toBeDefined();
});

it('a change or charge that a bug keeps from the record is not made, and the bug is no outage', async () => {
  const { accounts, createKey, grant, state } = opened();
  const created = await createKey('acme');
  if (created.kind !== 'created') throw new Error(created.kind);
  await grant('acme');
  state.failure = new Error('a bug');
  await expect(grant('acme')).rejects.toThrow('a bug');
  await expect(accounts.charge('acme', 1)).rejects.toThrow('a bug');
  await expect(accounts.revokeKey(created.key.id)).rejects.toThrow('a bug');
  expect(accounts.organization('acme')?.remaining).toBe(1);
  expect(accounts.authenticate(created.text)).toBeDefined();
  // The use of the key, which could not be recorded, harms nothing.
  await accounts.close();
});

it('uses are recorded once a minute, in parts of a thousand, and those that are refused with the next', async () => {
  const secrets = Array.from({ length: USE_COUNT_MAX + 1 }, (_, seed) => newSecret(new Chance(seed)));
  const { accounts, state, time, written } = opened({ keys: secrets.map(({ digest }, i) => keyOf(i, digest)) });
  const pass = async (): Promise<number[]> => {
    time.pass(USES_PAUSE_MS);
    await settle();
    return written.splice(0).map((change) => (change.kind === 'used' ? change.uses.length : 0));
  };
  for (const { text } of secrets) accounts.authenticate(text);
  expect(written).toEqual([]);
  state.failure = new OutageError('refused');
  expect(await pass()).toEqual([]);
  state.failure = undefined;
  accounts.authenticate(secrets[0]!.text);
  expect(await pass()).toEqual([USE_COUNT_MAX, 1]);
  expect(await pass()).toEqual([]);
  accounts.authenticate(secrets[1]!.text);
  await accounts.close();
  expect(written).toEqual([{ kind: 'used', uses: [{ id: 'key_1', atMs: expect.any(Number) }] }]);
  expect(time.pendingCount).toBe(0);
});
