/** What a process charges that knows the credits of an organization, over a database that carries out two statements. */
import { describe, expect, it } from 'vitest';
import type { OnboardingGrant } from '../../../src/accounts/balance.ts';
import { nextMonthMs } from '../../../src/accounts/month.ts';
import { Charges, type Purchase } from '../../../src/storage/postgres/accounts/charges.ts';
import type { Row, Statement } from '../../../src/storage/postgres/connections.ts';
import type { Database } from '../../../src/storage/postgres/database.ts';
import { DatabaseAwayError, InDoubtError, LackError, StatementError } from '../../../src/storage/postgres/failures.ts';
import { Chance } from '../../support/chance.ts';
import { ManualTime } from '../../support/manual-time.ts';

const JOB: Purchase = { name: 'charge-and-buy', text: '', values: ['a job'] };

/** An organization with a subscription of 10 and onboarding credits of 5 that last, and 3 that lapse in an hour. */
function opened() {
  const acme = { version: 1, month_ms: 0, charged: 0, subscription: 10, subscription_charged: 0 };
  let nowMs = Date.UTC(2026, 7, 1, 12);
  const grants: { -readonly [K in keyof OnboardingGrant]: OnboardingGrant[K] }[] = [
    { serial: 1, amount: 5, remaining: 5, expiresAtMs: null },
    { serial: 2, amount: 3, remaining: 3, expiresAtMs: nowMs + 3_600_000 },
  ];
  const entries = new Set<string>();
  const sent: Statement[] = [];
  /**
   * How the next charges fail; `lost`: it is carried out, and its repeat finds that the organization has changed; `outrun`:
   * another process has changed the organization just before.
   */
  const faults: ('lost' | 'outrun' | Error)[] = [];
  const database = {
    async run(statement: Statement): Promise<readonly Row[]> {
      const { name, values = [] } = statement;
      sent.push(statement);
      const [organization, version] = values as [string, number];
      if (organization !== 'acme') return [];
      if (name === 'read-credits') {
        const common = { ...acme, now_ms: nowMs, is_charged: entries.has(values[1] as string) };
        const live = grants.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs);
        const none = { serial: null, amount: null, remaining: null, expires_ms: null };
        return live.length === 0
          ? [{ ...common, ...none }]
          : live.map(({ expiresAtMs, ...grant }) => ({ ...common, ...grant, expires_ms: expiresAtMs }));
      }
      const fault = faults.shift();
      if (fault instanceof Error) throw fault;
      if (fault === 'outrun') acme.version++;
      const [untilMs, monthMs, amount, subscription] = values.slice(2, 6) as number[];
      const [serials, amounts, entry] = values.slice(6, 9) as [number[], number[], string];
      if (version !== acme.version || nowMs >= untilMs!) return [{ is_charged: false }];
      const isSame = acme.month_ms === monthMs;
      acme.version++;
      acme.month_ms = monthMs!;
      acme.charged = (isSame ? acme.charged : 0) + amount!;
      acme.subscription_charged = (isSame ? acme.subscription_charged : 0) + subscription!;
      for (const [at, serial] of serials.entries())
        grants.find((one) => one.serial === serial)!.remaining -= amounts[at]!;
      entries.add(entry);
      return [{ is_charged: fault !== 'lost' }];
    },
  } as unknown as Database;
  const charges = new Charges(database, new ManualTime(), new Chance(1));
  /** Names of the statements of these charges. */
  const named = async <T>(work: () => Promise<T>): Promise<readonly [T, (string | undefined)[]]> => {
    sent.length = 0;
    return [await work(), sent.map(({ name }) => name)];
  };
  return {
    ...{ acme, grants, charges, entries, faults, sent, named },
    pass(ms: number) {
      nowMs += ms;
    },
    passTo(ms: number) {
      nowMs = ms;
    },
    nowMs: () => nowMs,
  };
}

const charged = (remaining: number) => ({ kind: 'charged', remaining });

describe('charges of an organization', () => {
  it('take one statement each once its credits are known, and those of one turn take one together', async () => {
    const { charges, grants, acme, named } = opened();
    expect(await named(() => charges.charge('acme', 4))).toEqual([charged(14), ['read-credits', 'charge-credits']]);
    const [[first, second, third], names] = await named(() =>
      Promise.all([1, 2, 10].map((amount) => charges.charge('acme', amount))),
    );
    expect([first, second, third, names]).toEqual([charged(13), charged(11), charged(1), ['charge-credits']]);
    expect(grants.map(({ remaining }) => remaining)).toEqual([1, 0]);
    expect(acme).toMatchObject({ charged: 17, subscription_charged: 10 });
  });

  it('know the credits from a look at what is left, and from a refusal', async () => {
    const { charges, named } = opened();
    await charges.charge('acme', 1);
    expect(await named(() => charges.charge('acme', 0))).toEqual([charged(17), ['read-credits']]);
    expect(await named(() => charges.charge('acme', 1))).toEqual([charged(16), ['charge-credits']]);
    const look = () => Promise.all([0, 1, 0].map((amount) => charges.charge('acme', amount)));
    expect(await named(look)).toEqual([[charged(16), charged(15), charged(15)], ['charge-credits']]);
    const refused = [{ kind: 'insufficient', remaining: 15 }, ['read-credits']];
    expect(await named(() => charges.charge('acme', 17))).toEqual(refused);
    expect(await named(() => charges.charge('acme', 15))).toEqual([charged(0), ['charge-credits']]);
  });

  it('are made once when the answer is lost', async () => {
    const { acme, charges, entries, faults } = opened();
    await charges.charge('acme', 1);
    faults.push('lost');
    expect(await charges.charge('acme', 2)).toEqual(charged(15));
    expect([acme.charged, entries.size]).toEqual([3, 2]);
  });

  it('are refused only by credits that were read for them', async () => {
    const { acme, charges, named } = opened();
    await charges.charge('acme', 15);
    acme.subscription = 100;
    acme.version++;
    expect((await named(() => charges.charge('acme', 90)))[0]).toEqual(charged(3));
    expect(await named(() => charges.charge('acme', 4))).toEqual([
      { kind: 'insufficient', remaining: 3 },
      ['read-credits'],
    ]);
    const both = await Promise.all([charges.charge('acme', 4), charges.charge('acme', 3)]);
    expect(both).toEqual([{ kind: 'insufficient', remaining: 3 }, charged(0)]);
    expect(await charges.charge('acme', 0)).toEqual(charged(0));
  });

  it('are decided again by what another process has left', async () => {
    const { acme, charges, named } = opened();
    await charges.charge('acme', 1);
    acme.version++;
    acme.subscription = 0;
    expect(await named(() => charges.charge('acme', 8))).toEqual([
      { kind: 'insufficient', remaining: 7 },
      ['charge-credits', 'read-credits'],
    ]);
  });

  it('are unavailable, and take nothing, when other processes come first a hundred times', async () => {
    const { acme, charges, faults, named } = opened();
    faults.push(...Array(100).fill('outrun'));
    const [charge, names] = await named(() => charges.charge('acme', 1));
    expect(charge).toEqual({ kind: 'unavailable', detail: expect.stringContaining('other processes') });
    expect([names.length, acme.charged]).toEqual([200, 0]);
    faults.push(...Array(99).fill('outrun'));
    expect(await charges.charge('acme', 1)).toEqual(charged(17));
  });

  it('take nothing that has lapsed, and begin a new month, since the credits were known', async () => {
    const { acme, charges, grants, nowMs, pass, passTo } = opened();
    await charges.charge('acme', 1);
    pass(3_600_000);
    expect(await charges.charge('acme', 1)).toEqual(charged(14));
    expect(grants[1]?.remaining).toBe(2);
    passTo(nextMonthMs(nowMs()));
    expect(await charges.charge('acme', 1)).toEqual(charged(14));
    expect(acme).toMatchObject({ charged: 1, subscription_charged: 1 });
  });

  it('that buy something go alone', async () => {
    const { charges, grants, named, sent } = opened();
    const [all, names] = await named(() =>
      Promise.all([
        charges.charge('acme', 1, JOB),
        charges.charge('acme', 1),
        charges.charge('acme', 1),
        charges.charge('acme', 1, JOB),
      ]),
    );
    expect(all).toEqual([17, 16, 15, 14].map(charged));
    expect(names).toEqual(['read-credits', 'charge-and-buy', 'charge-credits', 'charge-and-buy']);
    expect(grants.map(({ remaining }) => remaining)).toEqual([5, 0]);
    expect(sent.map(({ values }) => values?.slice(10))).toEqual([[], ['a job'], [], ['a job']]);
  });

  it('that wait for one that fails for the lack of a database fail with it', async () => {
    const { charges, faults, named } = opened();
    await charges.charge('acme', 1);
    faults.push(new DatabaseAwayError('cancelled'));
    const unavailable = { kind: 'unavailable', detail: 'cancelled' };
    const three = () => Promise.all([JOB, JOB, undefined].map((one) => charges.charge('acme', 1, one)));
    expect(await named(three)).toEqual([[unavailable, unavailable, unavailable], ['charge-and-buy']]);
    expect(await three()).toEqual([16, 15, 14].map(charged));
  });

  it('that wait for one that lacks something do not fail with it: perhaps only what it bought lacks that', async () => {
    const { charges, faults, named } = opened();
    await charges.charge('acme', 1);
    faults.push(new LackError('no jobs'));
    const two = () => Promise.all([JOB, undefined].map((one) => charges.charge('acme', 1, one)));
    const [ends] = await named(two);
    expect(ends).toEqual([{ kind: 'unavailable', detail: 'no jobs' }, charged(16)]);
  });

  it('know nothing after a failure, which no other organization notices', async () => {
    const { charges, faults, named } = opened();
    await charges.charge('acme', 1);
    faults.push(new DatabaseAwayError('away'));
    expect(await charges.charge('acme', 1)).toEqual({ kind: 'unavailable', detail: 'away' });
    const bug = new StatementError('a bug', '42703');
    await charges.charge('acme', 0);
    faults.push(bug);
    await expect(charges.charge('acme', 1)).rejects.toBe(bug);
    expect((await named(() => charges.charge('acme', 1)))[1]).toEqual(['read-credits', 'charge-credits']);
    const there = new StatementError('there already', '23505');
    faults.push(there);
    await expect(charges.charge('acme', 1, JOB)).rejects.toBe(there);
    await expect(charges.charge('nobody', 1)).rejects.toThrow('unknown organization');
    expect(await charges.charge('acme', 1)).toEqual(charged(15));
  });

  it('that failed are given back once, and only those that may be on record', async () => {
    const { charges, faults, named } = opened();
    faults.push(new DatabaseAwayError('cancelled'), new StatementError('no', '42601'));
    expect((await charges.charge('acme', 1)).kind).toBe('unavailable');
    await expect(charges.charge('acme', 1)).rejects.toThrow('no');
    expect((await named(() => charges.giveBack()))[1]).toEqual([]);
    // A repeat of what it bought finds the charge.
    faults.push(new InDoubtError('away'));
    expect((await charges.charge('acme', 1, JOB)).kind).toBe('unavailable');
    expect((await named(() => charges.giveBack()))[1]).toEqual([]);
    faults.push(new InDoubtError('away'), new DatabaseAwayError('cancelled'));
    expect((await charges.charge('acme', 1)).kind).toBe('unavailable');
    await expect(charges.giveBack()).rejects.toThrow('cancelled');
    expect((await named(() => charges.giveBack()))[1]).toHaveLength(1);
    expect((await named(() => charges.giveBack()))[1]).toEqual([]);
  });

  it('wait for those that failed and may be on record to be given back, once they are a thousand', async () => {
    const { charges, faults, named } = opened();
    faults.push(...Array(1000).fill(new InDoubtError('away')));
    for (let i = 0; i < 1000; i++) expect((await charges.charge('acme', 1)).kind).toBe('unavailable');
    expect((await named(() => charges.charge('acme', 1)))[1]).toEqual([]);
    await charges.giveBack();
    expect(await charges.charge('acme', 1)).toEqual(charged(17));
  });
});
