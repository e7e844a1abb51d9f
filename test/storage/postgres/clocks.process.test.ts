/** Processes of one database whose clocks differ from the database's (siblings §9). */
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { CLAIM_BYTES, LIFETIME_MS } from '../../../src/callback/limits.ts';
import { identifierClaim, type PaymentIdentifier } from '../../../src/payment/protocol/identifier.ts';
import { KEPT_MS } from '../../../src/payment/reservations.ts';
import { newResolveId, type ResolveId, resolveTokenDigest } from '../../../src/resolve/identifier.ts';
import { KEPT_MS as RESOLVE_KEPT_MS } from '../../../src/resolve/limits.ts';
import { newRetryId } from '../../../src/retry/identifier.ts';
import { expire, newJob } from '../../../src/retry/job.ts';
import { DEFAULT_POLICY } from '../../../src/retry/policy.ts';
import type { RetryRecord } from '../../../src/retry/store.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { PostgresAccounts } from '../../../src/storage/postgres/accounts/accounts.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/backend.ts';
import { Cases } from '../../../src/storage/postgres/cases.ts';
import { Claims } from '../../../src/storage/postgres/claims.ts';
import { Database } from '../../../src/storage/postgres/database.ts';
import { Identifiers } from '../../../src/storage/postgres/identifiers.ts';
import type { Owner } from '../../../src/storage/postgres/owners.ts';
import { PostgresPlayLedger } from '../../../src/storage/postgres/play-ledger.ts';
import { PostgresResolves } from '../../../src/storage/postgres/resolves/resolves.ts';
import { PostgresRetries } from '../../../src/storage/postgres/retries/retries.ts';
import { orderFor } from '../../payment/fixture.ts';
import { Chance } from '../../support/chance.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { client, webhookOf } from '../../support/opened-inbox.ts';
import { SERVER, testDatabase } from '../../support/postgres-database.ts';
import { SALE, SALES_KEPT_MS } from '../../support/sale.ts';

/** Claims of any table count. */
const ANY_TABLES = { sawClaims() {} };

const MINUTES_MS = 300_000;
const AHEAD_MS = 2 * 3_600_000;
const OUTCOME = '"result":null,"failure":null';
const chance = new Chance(1);

const openingAt = (databaseUrl: string, aheadMs: number | (() => number)): Promise<Backend> =>
  openPostgresBackend(
    { databaseUrl, sync: 'normal', callbackBytes: CLAIM_BYTES, play: undefined, salesKeptMs: SALES_KEPT_MS },
    {
      clock: {
        nowMs: () => systemClock.nowMs() + (typeof aheadMs === 'number' ? aheadMs : aheadMs()),
        monotonicMs: () => systemClock.monotonicMs(),
      },
      timers: systemTimers,
      random: chance,
      onStateFault() {},
      onFailure() {},
    },
  );

const jobDueIn = (waitMs: number): RetryRecord => {
  const draft = {
    id: newRetryId(chance),
    customer: 'org:acme',
    organization: 'acme',
    tokenDigest: null,
    idempotency: null,
    policy: DEFAULT_POLICY,
    deadlineSeconds: 60,
    hasCallback: false,
  };
  return { job: newJob(draft, systemClock.nowMs() + waitMs), secrets: null, resultBody: null };
};

const lookAt = (aheadMs: number) => ({
  nowMs: systemClock.nowMs() + aheadMs,
  countMax: 10,
  bytesMax: 1000,
  without: [],
});

describe.skipIf(SERVER === undefined)('a process whose clock is minutes off', () => {
  it.each([MINUTES_MS, -MINUTES_MS])('makes and takes no retries (%i ms)', async (aheadMs) => {
    const { url, remove } = await testDatabase(SERVER!);
    const right = await openingAt(url, 0);
    const off = await openingAt(url, aheadMs);
    await right.accounts.grant({ organization: 'acme', kind: 'onboarding', amount: 10, expiresAtMs: null });

    await expect(off.retries.buy(jobDueIn(0), 1)).rejects.toThrow('the clock of this machine is');
    expect(await right.retries.buy(jobDueIn(0), 1)).toEqual({ kind: 'charged', remaining: 9 });
    await expect(off.retries.takeDue(lookAt(aheadMs))).rejects.toThrow('the clock of this machine is');
    expect((await right.retries.takeDue(lookAt(0))).jobs).toHaveLength(1);

    await off.close();
    await right.close();
    await remove();
  });

  it('takes no retry early before it knows that its clock was put ahead', async () => {
    const { url, remove } = await testDatabase(SERVER!);
    const backend = await openingAt(url, 0);
    await backend.retries.create(jobDueIn(60_000));
    expect((await backend.retries.takeDue(lookAt(MINUTES_MS))).jobs).toEqual([]);
    await backend.close();
    await remove();
  });

  it('ends no retry that it holds as expired because its clock was put ahead just now', async () => {
    const { url, remove } = await testDatabase(SERVER!);
    let aheadMs = 0;
    const backend = await openingAt(url, () => aheadMs);
    const record = jobDueIn(0);
    const { id } = record.job;
    await backend.retries.create(record);
    expect((await backend.retries.takeDue(lookAt(0))).jobs).toHaveLength(1);
    aheadMs = MINUTES_MS;
    const expired = backend.retries.update(id, ({ job }) => {
      const ended = expire(job, systemClock.nowMs() + aheadMs);
      return ended && { job: ended };
    });
    await expect(expired).rejects.toThrow('the clock of this machine was put 300.0 s ahead');
    expect((await backend.retries.find(id))?.job.status).toBe('scheduled');
    await backend.close();
    await remove();
  });

  it("ends a wait after its timeout, though a clock ahead of the database's says that its callback ends first", async () => {
    const { url, remove } = await testDatabase(SERVER!);
    const off = await openingAt(url, LIFETIME_MS + MINUTES_MS);
    const { id, readToken } = await off.callbacks.create(off.callbacks.draft());
    const authorized = await off.callbacks.authorize(id, readToken);
    if (authorized.kind !== 'allowed') throw new Error(authorized.kind);
    expect(await off.callbacks.wait(authorized.callback, null, 100, client(), { woken() {} })).toEqual({
      kind: 'timed-out',
    });
    await off.close();
    await remove();
  });
});

/** A database whose clock the test sets, and a process on it. */
async function databaseAt(time: ManualTime) {
  const on = await testDatabase(SERVER!, time);
  const database = new Database(on.connections(), { clock: time, timers: new ManualTime(), onStateFault() {} });
  onTestFinished(async () => {
    await database.close();
    await on.remove();
  });
  return database;
}

const OWNER = { id: 'one', onLook() {} } as unknown as Owner;
const onFailure = (fault: unknown): never => {
  throw fault;
};

function resolvesOf(database: Database, time: ManualTime) {
  const resolves = new PostgresResolves({
    ...{ clock: time, timers: time, random: chance, owner: OWNER },
    database,
    onFailure,
  });
  const create = async (): Promise<ResolveId> => {
    const id = newResolveId(chance);
    await resolves.create({
      id,
      tokenDigest: resolveTokenDigest('token'),
      createdAtMs: time.nowMs(),
      question: { url: 'https://target.example/', include: ['text'] },
    });
    return id;
  };
  return { resolves, create };
}

describe.skipIf(SERVER === undefined)('a database whose clock is two hours behind for a while', () => {
  it.each(['settled', 'dead'] as const)('keeps the identifier of a purchase that is %s meanwhile', async (end) => {
    const time = new ManualTime();
    const database = await databaseAt(time);
    const right = new ManualTime(time.nowMs());
    const identifiers = new Identifiers(database, right, 'one', () => {});
    const claims = new Claims(database, 'one', {
      identity: ANY_TABLES,
      retention: { removableSerial: () => 0 },
      onDoubt() {},
    });
    const cases = new Cases(database, right, 'one', 'local');
    const validBeforeSeconds = Math.floor(time.nowMs() / 1000) + 120;
    const order = orderFor({ validBeforeSeconds });
    const { key } = order;
    const claim = identifierClaim(`pay_${'0'.repeat(20)}` as PaymentIdentifier, 'GET /', order.payer);
    await identifiers.claim([claim], 1);
    const serial = (await claims.claim({ key, validBeforeSeconds, attempt: 1 })) as number;
    const sealed = Buffer.from('x');
    await cases.intend.add({ key, serial, attempt: 1, order, sale: SALE, answers: [{ claim, sealed }] });

    time.stepWall(-AHEAD_MS);
    const transaction = `0x${'ab'.repeat(32)}`;
    if (end === 'settled') await cases.settle.add({ key, serial, order, sale: SALE, transaction });
    else await cases.end.add({ serial, transaction });
    time.stepWall(AHEAD_MS);
    for (const one of [time, right]) one.stepWall(KEPT_MS - 1);
    await identifiers.prune();
    expect((await identifiers.find([claim]))?.kind).toBe(end === 'settled' ? 'kept' : 'under-way');
    expect(await identifiers.claim([claim], 2)).toBe(false);
    for (const one of [time, right]) one.stepWall(1);
    expect(await identifiers.find([claim])).toBeUndefined();
    expect(await identifiers.claim([claim], 2)).toBe(true);
  });

  it('leaves the idempotency key of a request under way to it once it is right again', async () => {
    const time = new ManualTime();
    const database = await databaseAt(time);
    const right = new ManualTime(time.nowMs());
    const accounts = new PostgresAccounts(true, { clock: right, timers: right, random: chance, database, onFailure });
    const retries = new PostgresRetries({ clock: right, random: chance, database, owner: OWNER, accounts });
    time.stepWall(-AHEAD_MS);
    expect(await retries.claimKey('key', 'first')).toBe(true);
    time.stepWall(AHEAD_MS);
    for (const one of [time, right]) one.stepWall(119_999);
    expect(await retries.claimKey('key', 'second')).toBe(false);
    for (const one of [time, right]) one.stepWall(1);
    expect(await retries.claimKey('key', 'second')).toBe(true);
    await accounts.close();
  });
});

describe.skipIf(SERVER === undefined)('a process whose clock is two hours behind for a while', () => {
  it('keeps a resolve for its hour', async () => {
    const time = new ManualTime();
    const database = await databaseAt(time);
    const off = new ManualTime(time.nowMs() - AHEAD_MS);
    const { resolves, create } = resolvesOf(database, off);
    const id = await create();
    await resolves.finish(id, 'failed', OUTCOME);
    off.stepWall(AHEAD_MS);
    await resolves.start();
    for (const one of [time, off]) one.stepWall(RESOLVE_KEPT_MS - 2000);
    expect((await resolves.find(id))?.status).toBe('failed');
    expect(await resolves.readOutcome(id)).toBe(OUTCOME);
    for (const one of [time, off]) one.stepWall(1000);
    expect((await resolves.find(id))?.status).toBe('expired');
    await resolves.close();
  });
});

describe.skipIf(SERVER === undefined)('a database whose clock is two hours ahead for a while', () => {
  it('gives no idempotency key of a request under way to another', async () => {
    const time = new ManualTime();
    const database = await databaseAt(time);
    const right = new ManualTime(time.nowMs());
    const accounts = new PostgresAccounts(true, { clock: right, timers: right, random: chance, database, onFailure });
    const retries = new PostgresRetries({ clock: right, random: chance, database, owner: OWNER, accounts });
    expect(await retries.claimKey('key', 'first')).toBe(true);
    time.stepWall(AHEAD_MS);
    expect(await retries.claimKey('key', 'second')).toBe(false);
    time.stepWall(-AHEAD_MS);
    for (const one of [time, right]) one.stepWall(120_000);
    expect(await retries.claimKey('key', 'second')).toBe(true);
  });

  it('renews no subscription before its month, and lets no credits lapse', async () => {
    const time = new ManualTime(Date.UTC(2026, 7, 31, 23));
    const database = await databaseAt(time);
    const right = new ManualTime(time.nowMs());
    const accounts = new PostgresAccounts(true, { clock: right, timers: right, random: chance, database, onFailure });
    const organization = 'acme';
    await accounts.grant({ organization, kind: 'subscription', amount: 10, expiresAtMs: null });
    const charge = async (amount: number) => (await accounts.charge(organization, amount)).kind;
    expect(await charge(8)).toBe('charged');
    time.stepWall(AHEAD_MS);
    expect([await charge(3), await charge(1)]).toEqual(['insufficient', 'charged']);
    const expiresAtMs = right.nowMs() + 3_600_000;
    await accounts.grant({ organization, kind: 'onboarding', amount: 5, expiresAtMs });
    expect(await charge(5)).toBe('charged');
    time.stepWall(-AHEAD_MS);
    expect((await accounts.usage(organization))?.charged).toBe(14);
    for (const one of [time, right]) one.stepWall(AHEAD_MS);
    expect([await charge(10), await charge(1)]).toEqual(['charged', 'insufficient']);
    await accounts.close();
  });

  it('moves no play money twice for an open case, and forgets its transfer with its claim', async () => {
    const time = new ManualTime();
    const database = await databaseAt(time);
    const claims = new Claims(database, 'one', {
      identity: ANY_TABLES,
      retention: { removableSerial: () => Number.MAX_SAFE_INTEGER },
      onDoubt() {},
    });
    const cases = new Cases(database, new ManualTime(time.nowMs()), 'one', 'local');
    const ledger = new PostgresPlayLedger(database, 100_000_000n);
    const validBeforeSeconds = Math.floor(time.nowMs() / 1000) + 120;
    const order = orderFor({ validBeforeSeconds });
    const { key } = order;
    const serial = (await claims.claim({ key, validBeforeSeconds, attempt: 1 })) as number;
    await cases.intend.add({ key, serial, attempt: 1, order, sale: SALE, answers: [] });
    expect(await ledger.transfer(order)).toMatchObject({ kind: 'settled' });

    time.stepWall(AHEAD_MS);
    await ledger.prune();
    time.stepWall(-AHEAD_MS);
    expect(await ledger.transfer(order)).toMatchObject({ kind: 'settled' });
    const amount = String(order.authorization.valueAtomic);
    expect(await database.run({ text: 'SELECT atomic::text FROM paygrade.play_spent' })).toEqual([{ atomic: amount }]);

    await cases.settle.add({ key, serial, order, sale: SALE, transaction: `0x${'ab'.repeat(32)}` });
    time.stepWall(AHEAD_MS);
    await claims.prune(serial);
    await ledger.prune();
    expect(await database.run({ text: 'SELECT FROM paygrade.play_transfers' })).toEqual([]);
  });

  it('ends no resolve: records its outcome and gives it, and takes over the resolve of a dead process', async () => {
    const time = new ManualTime();
    const database = await databaseAt(time);
    const { resolves, create } = resolvesOf(database, new ManualTime(time.nowMs()));
    const [done, late, left] = [await create(), await create(), await create()];
    await resolves.finish(done, 'failed', OUTCOME);

    time.stepWall(AHEAD_MS);
    await resolves.start();
    await resolves.finish(late, 'failed', OUTCOME);
    expect((await resolves.takePending()).map(({ id }) => id)).toEqual([left]);
    for (const id of [done, late]) {
      expect((await resolves.find(id))?.status).toBe('failed');
      expect(await resolves.readOutcome(id)).toBe(OUTCOME);
    }
    await resolves.close();
  });

  it('frees no identifier whose answer is kept, and gives that answer', async () => {
    const time = new ManualTime();
    const database = await databaseAt(time);
    const identifiers = new Identifiers(database, new ManualTime(time.nowMs()), 'one', () => {});
    const payer = orderFor().payer;
    const claims = [identifierClaim(`pay_${'0'.repeat(20)}` as PaymentIdentifier, 'GET /', payer)];
    expect(await identifiers.claim(claims, 1)).toBe(true);
    await database.run({
      text: `UPDATE paygrade.identifiers SET serial = 1, transaction = '0x', sealed = 'x', kept_until_ms = paygrade.now_ms() + ${KEPT_MS}`,
    });
    time.stepWall(AHEAD_MS);
    const known = await identifiers.find(claims);
    if (known?.kind !== 'kept') throw new Error(known?.kind);
    expect(await identifiers.claim(claims, 2)).toBe(false);
    await identifiers.replace(known.kept, Buffer.from('y'));
    await identifiers.prune();
    expect(await identifiers.read(known.kept)).toEqual(new Uint8Array(Buffer.from('y')));
  });

  it('drops no webhook', async () => {
    const time = new ManualTime();
    const right = new ManualTime(time.nowMs());
    const on = await testDatabase(SERVER!, time);
    const opened = (): Promise<Backend> =>
      openPostgresBackend(
        {
          databaseUrl: on.url,
          sync: 'normal',
          callbackBytes: CLAIM_BYTES,
          play: undefined,
          salesKeptMs: SALES_KEPT_MS,
        },
        {
          clock: right,
          timers: right,
          random: chance,
          openConnections: () => on.connections(),
          onStateFault() {},
          onFailure() {},
        },
      );
    const first = await opened();
    const { id, readToken } = await first.callbacks.create(first.callbacks.draft());
    const admitted = await first.callbacks.admit(id);
    if (admitted.kind !== 'admitted') throw new Error(admitted.kind);
    await first.callbacks.receive(admitted.callback, webhookOf('x', 'text/plain'));

    time.stepWall(AHEAD_MS);
    // Sweeps as it starts.
    const second = await opened();
    time.stepWall(-AHEAD_MS);
    const authorized = await first.callbacks.authorize(id, readToken);
    if (authorized.kind !== 'allowed') throw new Error(authorized.kind);
    const waited = await first.callbacks.wait(authorized.callback, null, 100, client(), { woken() {} });
    expect(waited).toMatchObject({ kind: 'event' });
    for (const one of [second, first]) await one.close();
    await on.remove();
  });
});
