/** What every implementation of the accounts promises (siblings §3). The test owns the clock. */
import { describe, expect, it } from 'vitest';
import type { Accounts, Charge, KeyCreation, KeyDraft } from '../../src/accounts/accounts.ts';
import { Balance } from '../../src/accounts/balance.ts';
import { DEMO_ORGANIZATION } from '../../src/accounts/organization.ts';
import { SCOPES } from '../../src/accounts/scopes.ts';
import { Chance } from '../support/chance.ts';
import { ManualTime } from '../support/manual-time.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 7, 20, 12);

export interface OpenedAccounts {
  readonly accounts: Accounts;
  /** Opens what a kill at this moment leaves; undefined where nothing outlives the process. */
  readonly reopen?: (isPlay?: boolean) => Promise<Accounts>;
  /** Records written since the start. */
  readonly operationCount?: () => number;
  remove(): Promise<void>;
}

const DRAFT: KeyDraft = { organization: 'acme', scopes: ['jobs:read', 'companies:read'], expiresAtMs: null };

async function newKey(
  accounts: Accounts,
  draft: Partial<KeyDraft> = {},
): Promise<Extract<KeyCreation, { text: string }>> {
  const created = await accounts.createKey({ ...DRAFT, ...draft });
  if (created.kind !== 'created') throw new Error(`no key: ${created.kind}`);
  return created;
}

async function give(accounts: Accounts, amount: number, expiresAtMs: number | null = null, organization = 'acme') {
  expect(await accounts.grant({ organization, kind: 'onboarding', amount, expiresAtMs })).toEqual({
    kind: 'granted',
    remaining: amount,
  });
}

const subscribe = (accounts: Accounts, amount: number) =>
  accounts.grant({ organization: 'acme', kind: 'subscription', amount, expiresAtMs: null });

const kindsOf = (charges: readonly Charge[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const { kind } of charges) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};

type Open = (time: ManualTime, isPlay?: boolean) => Promise<OpenedAccounts>;

async function using(
  open: Open,
  test: (accounts: Accounts, time: ManualTime, opened: OpenedAccounts) => Promise<void>,
): Promise<void> {
  const time = new ManualTime(START_MS);
  const opened = await open(time);
  try {
    await test(opened.accounts, time, opened);
  } finally {
    await opened.remove();
  }
}

function describeKeys(open: Open): void {
  it('accept a key that they made, and no text that differs from it', () =>
    using(open, async (accounts) => {
      const { key, text } = await newKey(accounts);
      expect(text).toMatch(/^svc_key_[A-Za-z0-9_-]{43}$/);
      expect(key.id).toMatch(/^key_[A-Za-z0-9]{24}$/);
      expect(await accounts.authenticate(text)).toEqual({ keyId: key.id, organization: 'acme', scopes: DRAFT.scopes });
      const last = text.at(-1) === 'A' ? 'B' : 'A';
      const wrong = [
        '',
        'svc_key_',
        key.id,
        `${text}A`,
        `${text} `,
        `${text}\n`,
        text.slice(0, -1),
        text.toUpperCase(),
      ];
      for (const other of [...wrong, text.slice(0, -1) + last, `x${text.slice(1)}`, text.replace('svc_key_', '')]) {
        expect([other, await accounts.authenticate(other)]).toEqual([other, undefined]);
      }
    }));

  it('refuse a key from the millisecond of its expiry on', () =>
    using(open, async (accounts, time) => {
      const { text } = await newKey(accounts, { expiresAtMs: START_MS + 1000 });
      time.pass(999);
      expect(await accounts.authenticate(text)).toBeDefined();
      time.pass(1);
      expect(await accounts.authenticate(text)).toBeUndefined();
    }));

  it('refuse a revoked key, also when it is revoked again, and no other key', () =>
    using(open, async (accounts, time) => {
      const [one, other] = [await newKey(accounts), await newKey(accounts)];
      expect(await accounts.revokeKey(one.key.id)).toEqual({ kind: 'revoked' });
      expect(await accounts.authenticate(one.text)).toBeUndefined();
      time.pass(5000);
      expect(await accounts.revokeKey(one.key.id)).toEqual({ kind: 'revoked' });
      expect((await accounts.listKeys()).map(({ revokedAtMs }) => revokedAtMs)).toEqual([START_MS, null]);
      expect(await accounts.authenticate(other.text)).toBeDefined();
      expect(await accounts.revokeKey('key_AAAAAAAAAAAAAAAAAAAAAAAA')).toEqual({ kind: 'unknown' });
    }));

  it('list keys in the order of their creation, of all organizations or of one, with the minute of the last use', () =>
    using(open, async (accounts, time) => {
      const first = await newKey(accounts);
      time.pass(90_000);
      const second = await newKey(accounts, { organization: 'beta', scopes: SCOPES, expiresAtMs: START_MS + DAY_MS });
      expect(await accounts.listKeys()).toEqual([first.key, second.key]);
      expect(await accounts.listKeys('beta')).toEqual([second.key]);
      expect(await accounts.listKeys('gamma')).toEqual([]);
      time.pass(59_999);
      await accounts.authenticate(first.text);
      const [used] = await accounts.listKeys('acme');
      expect(used?.lastUsedAtMs).toBe(START_MS + 2 * MINUTE_MS);
      expect((await accounts.listKeys('beta'))[0]?.lastUsedAtMs).toBeNull();
    }));

  it('know an organization from its first key or grant on', () =>
    using(open, async (accounts) => {
      expect(await accounts.hasOrganizations()).toBe(false);
      expect(await accounts.organization('acme')).toBeUndefined();
      expect(await accounts.usage('acme')).toBeUndefined();
      await newKey(accounts);
      expect(await accounts.organization('acme')).toEqual({ organization: 'acme', remaining: 0, grants: [] });
      expect(await accounts.charge('acme', 1)).toEqual({ kind: 'insufficient', remaining: 0 });
      await give(accounts, 5, null, 'beta');
      expect((await accounts.organization('beta'))?.remaining).toBe(5);
      expect(await accounts.hasOrganizations()).toBe(true);
    }));
}

function describeCredits(open: Open): void {
  it('let ten of a hundred charges at once take ten credits', () =>
    using(open, async (accounts) => {
      await give(accounts, 10);
      const charges = await Promise.all(Array.from({ length: 100 }, async () => accounts.charge('acme', 1)));
      expect(kindsOf(charges)).toEqual({ charged: 10, insufficient: 90 });
      const rests = charges.flatMap((one) => (one.kind === 'charged' ? [one.remaining] : []));
      expect(rests.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(await accounts.usage('acme')).toMatchObject({ charged: 10, remaining: 0 });
    }));

  it('charge all of an amount or nothing, and 0 always', () =>
    using(open, async (accounts) => {
      await give(accounts, 7);
      expect(await accounts.charge('acme', 0)).toEqual({ kind: 'charged', remaining: 7 });
      expect(await accounts.charge('acme', 8)).toEqual({ kind: 'insufficient', remaining: 7 });
      expect(await accounts.charge('acme', 7)).toEqual({ kind: 'charged', remaining: 0 });
      expect(await accounts.charge('acme', 0)).toEqual({ kind: 'charged', remaining: 0 });
      expect(await accounts.charge('acme', 1)).toEqual({ kind: 'insufficient', remaining: 0 });
    }));

  it('take what lapses first, the subscription at the end of its month', () =>
    using(open, async (accounts, time) => {
      const monthMs = Date.UTC(2026, 8, 1);
      await give(accounts, 10);
      await give(accounts, 10, monthMs + DAY_MS);
      await give(accounts, 10, START_MS + DAY_MS);
      await subscribe(accounts, 10);
      const rests = async () => (await accounts.organization('acme'))?.grants.map(({ remaining }) => remaining);
      expect((await accounts.organization('acme'))?.grants).toEqual([
        { kind: 'onboarding', amount: 10, remaining: 10, expiresAtMs: START_MS + DAY_MS, renewsAtMs: null },
        { kind: 'subscription', amount: 10, remaining: 10, expiresAtMs: null, renewsAtMs: monthMs },
        { kind: 'onboarding', amount: 10, remaining: 10, expiresAtMs: monthMs + DAY_MS, renewsAtMs: null },
        { kind: 'onboarding', amount: 10, remaining: 10, expiresAtMs: null, renewsAtMs: null },
      ]);
      expect(await accounts.charge('acme', 15)).toEqual({ kind: 'charged', remaining: 25 });
      expect(await rests()).toEqual([0, 5, 10, 10]);
      expect(await accounts.charge('acme', 16)).toEqual({ kind: 'charged', remaining: 9 });
      expect(await rests()).toEqual([0, 0, 0, 9]);
      time.pass(monthMs - START_MS);
      expect(await rests()).toEqual([0, 10, 9]);
      expect(await accounts.usage('acme')).toEqual({
        startMs: monthMs,
        endMs: Date.UTC(2026, 9, 1),
        charged: 0,
        remaining: 19,
      });
      expect(await accounts.charge('acme', 2)).toEqual({ kind: 'charged', remaining: 17 });
      expect(await rests()).toEqual([0, 8, 9]);
      expect(await accounts.usage('acme')).toMatchObject({ charged: 2, remaining: 17 });
    }));

  it('set the amount of a subscription with this month’s charges taken off, and never below 0', () =>
    using(open, async (accounts, time) => {
      expect(await subscribe(accounts, 100)).toEqual({ kind: 'granted', remaining: 100 });
      await accounts.charge('acme', 60);
      expect(await subscribe(accounts, 200)).toEqual({ kind: 'granted', remaining: 140 });
      expect(await subscribe(accounts, 50)).toEqual({ kind: 'granted', remaining: 0 });
      expect(await accounts.charge('acme', 1)).toEqual({ kind: 'insufficient', remaining: 0 });
      expect(await subscribe(accounts, 61)).toEqual({ kind: 'granted', remaining: 1 });
      expect(await subscribe(accounts, 0)).toEqual({ kind: 'granted', remaining: 0 });
      expect(await accounts.organization('acme')).toEqual({ organization: 'acme', remaining: 0, grants: [] });
      expect(await subscribe(accounts, 100)).toEqual({ kind: 'granted', remaining: 40 });
      time.pass(31 * DAY_MS);
      expect((await accounts.organization('acme'))?.remaining).toBe(100);
    }));

  it('are what one balance says, after any charges and grants up to the moments when some lapse', () =>
    using(open, async (accounts, time) => {
      const chance = new Chance(4);
      const balance = new Balance();
      for (let step = 1; step <= 100; step++) {
        const nowMs = time.nowMs();
        const amount = chance.wholeBetween(1, 9);
        if (chance.is(0.15)) {
          const ends = balance.grants(nowMs).flatMap(({ expiresAtMs, renewsAtMs }) => expiresAtMs ?? renewsAtMs ?? []);
          time.pass(Math.min(...ends, nowMs + DAY_MS) - nowMs - chance.wholeBetween(0, 1));
        } else if (chance.is(0.1)) {
          balance.setSubscription(4 * amount);
          await subscribe(accounts, 4 * amount);
        } else if (chance.is(0.3)) {
          const expiresAtMs = chance.is(0.3) ? null : nowMs + chance.pick([1, DAY_MS, 20 * DAY_MS, 40 * DAY_MS]);
          balance.addOnboarding({ serial: step, amount, remaining: amount, expiresAtMs });
          await give(accounts, amount, expiresAtMs);
        } else if (balance.onboardingCount > 0) {
          const kind = balance.charge(amount, nowMs) === undefined ? 'insufficient' : 'charged';
          expect(await accounts.charge('acme', amount)).toEqual({ kind, remaining: balance.remaining(nowMs) });
        }
        if (balance.onboardingCount === 0) continue;
        expect(await accounts.usage('acme')).toEqual(balance.usage(time.nowMs()));
        expect((await accounts.organization('acme'))?.grants).toEqual(balance.grants(time.nowMs()));
      }
    }));

  it('add up exactly for any racing charges and grants of several organizations', () =>
    using(open, async (accounts) => {
      const chance = new Chance(15);
      const names = ['one', 'two', 'three'];
      const given = new Map(names.map((name) => [name, 0]));
      for (const name of names) await give(accounts, 50, null, name);
      const charged = new Map(names.map((name) => [name, 0]));
      await Promise.all(
        Array.from({ length: 600 }, async () => {
          const name = chance.pick(names);
          const amount = chance.wholeBetween(1, 9);
          if (chance.is(0.1)) {
            given.set(name, (given.get(name) as number) + amount);
            await give(accounts, amount, chance.is(0.5) ? START_MS + DAY_MS : null, name);
          } else if ((await accounts.charge(name, amount)).kind === 'charged') {
            charged.set(name, (charged.get(name) as number) + amount);
          }
        }),
      );
      for (const name of names) {
        const sum = charged.get(name) as number;
        expect(sum).toBeGreaterThan(40);
        expect(await accounts.usage(name)).toMatchObject({
          charged: sum,
          remaining: 50 + (given.get(name) as number) - sum,
        });
      }
    }));
}

/** What outlives a kill; `open` must give `reopen`. */
function describeKills(open: Open): void {
  const reopened = async ({ reopen }: OpenedAccounts, isPlay?: boolean): Promise<Accounts> => {
    if (reopen === undefined) throw new Error('nothing outlives this process');
    return reopen(isPlay);
  };

  it('keep keys, revocations, grants and charges over a kill, and double none', () =>
    using(open, async (accounts, time, opened) => {
      const kept = await newKey(accounts, { expiresAtMs: START_MS + DAY_MS });
      const revoked = await newKey(accounts);
      await accounts.revokeKey(revoked.key.id);
      await subscribe(accounts, 100);
      await give(accounts, 10, START_MS + DAY_MS);
      await give(accounts, 10);
      expect(await accounts.charge('acme', 30)).toEqual({ kind: 'charged', remaining: 90 });
      expect(await accounts.charge('acme', 81)).toEqual({ kind: 'charged', remaining: 9 });
      const before = [await accounts.organization('acme'), await accounts.usage('acme'), await accounts.listKeys()];
      const again = await reopened(opened);
      expect([await again.organization('acme'), await again.usage('acme'), await again.listKeys()]).toEqual(before);
      expect(await again.authenticate(kept.text)).toEqual({
        keyId: kept.key.id,
        organization: 'acme',
        scopes: DRAFT.scopes,
      });
      expect(await again.authenticate(revoked.text)).toBeUndefined();
      expect(await again.charge('acme', 10)).toEqual({ kind: 'insufficient', remaining: 9 });
      expect(await again.charge('acme', 9)).toEqual({ kind: 'charged', remaining: 0 });
      time.pass(31 * DAY_MS);
      const later = await reopened(opened);
      expect(await later.usage('acme')).toMatchObject({ charged: 0, remaining: 100 });
      expect(await later.authenticate(kept.text)).toBeUndefined();
    }));

  it('add grants after a kill to those before it, whoever got them', () =>
    using(open, async (accounts, _time, opened) => {
      await give(accounts, 10);
      await give(accounts, 5, null, 'other');
      const again = await reopened(opened);
      await give(again, 20);
      expect(await again.charge('acme', 25)).toEqual({ kind: 'charged', remaining: 5 });
      const later = await reopened(opened);
      expect([await later.usage('acme'), await later.usage('other')]).toMatchObject([
        { charged: 25, remaining: 5 },
        { charged: 0, remaining: 5 },
      ]);
    }));

  it('hold a charge that was answered before the kill, and none that was refused', () =>
    using(open, async (accounts, _time, opened) => {
      await give(accounts, 20);
      let answered = 0;
      const charges = Array.from({ length: 50 }, async () => {
        const { kind } = await accounts.charge('acme', 1);
        if (kind === 'charged') answered++;
      });
      await charges[3];
      const atKill = answered;
      const again = await reopened(opened);
      const { charged = -1, remaining = -1 } = (await again.usage('acme')) ?? {};
      expect(charged).toBeGreaterThanOrEqual(atKill);
      expect(charged + remaining).toBe(20);
      await Promise.all(charges);
      expect(answered).toBe(20);
    }));

  it('write the uses of keys once a minute and at the end, whatever the number of requests', () =>
    using(open, async (accounts, time, opened) => {
      const { text } = await newKey(accounts);
      const before = opened.operationCount?.() ?? Number.NaN;
      for (let i = 0; i < 100; i++) await accounts.authenticate(text);
      time.pass(MINUTE_MS);
      // A later change is on record only after the uses.
      await give(accounts, 1);
      // Where they are no one's journal, the uses and the grant are recorded side by side.
      await expect.poll(() => opened.operationCount?.()).toBe(before + 2);
      expect((await (await reopened(opened)).listKeys())[0]?.lastUsedAtMs).toBe(START_MS);
    }));

  it('accept the keys of the demo organization with play money only', () =>
    using(open, async (accounts, _time, opened) => {
      const { text } = await newKey(accounts, { organization: DEMO_ORGANIZATION });
      const other = await newKey(accounts);
      expect(await accounts.authenticate(text)).toBeDefined();
      const real = await reopened(opened, false);
      expect(await real.authenticate(text)).toBeUndefined();
      expect(await real.authenticate(other.text)).toBeDefined();
      expect(await real.createKey({ ...DRAFT, organization: DEMO_ORGANIZATION })).toEqual({ kind: 'play-only' });
      expect(await (await reopened(opened)).authenticate(text)).toBeDefined();
    }));
}

/** @param outlivesKills the opened accounts have `reopen` */
export function describeAccounts(name: string, open: Open, outlivesKills: boolean): void {
  describe(`${name}: keys`, () => describeKeys(open));
  describe(`${name}: credits`, () => describeCredits(open));
  if (outlivesKills) describe(`${name}: kills`, () => describeKills(open));
}
