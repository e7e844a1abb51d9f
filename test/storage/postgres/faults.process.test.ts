/** Answers of the database that are lost, processes that die, and databases that may not be used. */
import { describe, expect, it } from 'vitest';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { RecordInDoubtError } from '../../../src/base/outage.ts';
import type { Timers } from '../../../src/base/timers.ts';
import { newCallbackId } from '../../../src/callback/identifier.ts';
import { CLAIM_BYTES, RATE_COUNT_MAX } from '../../../src/callback/limits.ts';
import {
  type IdentifierClaim,
  identifierClaim,
  type PaymentIdentifier,
} from '../../../src/payment/protocol/identifier.ts';
import { facilitatorBodyOf, type PaymentOrder } from '../../../src/payment/protocol/order.ts';
import type { Reservation, UnsettledCase } from '../../../src/payment/reservations.ts';
import { localTransactionOf } from '../../../src/payment/settlement/play-ledger.ts';
import { Reconciler } from '../../../src/payment/settlement/reconciler.ts';
import { newRetryId } from '../../../src/retry/identifier.ts';
import { newJob, startAttempt } from '../../../src/retry/job.ts';
import { DEFAULT_POLICY } from '../../../src/retry/policy.ts';
import type { RetryRecord } from '../../../src/retry/store.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { openPostgresBackend, type PostgresOptions } from '../../../src/storage/postgres/backend.ts';
import type { Connection, Connections, Statement } from '../../../src/storage/postgres/connections.ts';
import { Database, LATE_MS, PATIENCE_MS } from '../../../src/storage/postgres/database.ts';
import { InDoubtError } from '../../../src/storage/postgres/failures.ts';
import { checkMigrated, migrate } from '../../../src/storage/postgres/migrations.ts';
import { LEASE_MS, LOOK_MS } from '../../../src/storage/postgres/owners.ts';
import { TABLES } from '../../../src/storage/postgres/tables/tables.ts';
import { orderFor } from '../../payment/fixture.ts';
import { Chance } from '../../support/chance.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { atTimeOf, SERVER, sentBy, type TestDatabase, testDatabase } from '../../support/postgres-database.ts';
import { SALE, SALES_KEPT_MS } from '../../support/sale.ts';
import { pause, until } from '../../support/until.ts';

/** Longest pause of a statement that is repeated. */
const PAUSE_MS_MAX = 500;

/** Pauses before repeats and probes pass at once, for its process and in the statements that it sends. */
class HastyTime implements Clock, Timers {
  #aheadMs = 0;
  /** Looks and other long waits, which the test runs, and how long they are. */
  readonly #long = new Map<() => void, number>();

  nowMs = (): number => Math.floor(systemClock.nowMs() + this.#aheadMs);
  monotonicMs = (): number => systemClock.monotonicMs() + this.#aheadMs;

  after(delayMs: number, run: () => void): () => void {
    if (delayMs >= LOOK_MS) {
      this.#long.set(run, delayMs);
      return () => this.#long.delete(run);
    }
    if (delayMs > PAUSE_MS_MAX) return systemTimers.after(delayMs, run);
    return systemTimers.after(0, () => {
      this.#aheadMs += delayMs;
      run();
    });
  }

  /** The process stands still: its timers are late. */
  standStill(forMs: number): void {
    this.#aheadMs += forMs;
  }

  /** One look of every process that has this time, unless the last one still renews its lease, which must not be late. */
  look(afterMs = 0): void {
    const due = [...this.#long].filter(([, delayMs]) => delayMs <= LOOK_MS);
    if (due.length === 0) return;
    this.#aheadMs += afterMs;
    for (const [run] of due) if (this.#long.delete(run)) run();
  }
}

/** The statement that takes over has none of its own. */
const nameOf = ({ name, text }: Statement): string =>
  name ?? (text.includes('UPDATE paygrade.cases k SET owner') ? 'take-over' : '');

/** Loses answers of statements by their names: the statement has been carried out. */
class LosingConnections implements Connections {
  readonly #connections: Connections;
  /** Name -> answers that are still to be lost. */
  readonly losses = new Map<string, number>();
  /** Names of statements that an administrator cancels. */
  readonly cancels = new Set<string>();
  /** Name -> what its answers wait for. */
  readonly waits = new Map<string, Promise<void>>();
  /** Name -> the statement of that name that was sent last. */
  readonly sent = new Map<string, Statement>();

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async connect() {
    const connection = await this.#connections.connect();
    return {
      query: async (statement: Parameters<typeof connection.query>[0]) => {
        const name = nameOf(statement);
        this.sent.set(name, statement);
        if (this.cancels.has(name)) throw Object.assign(new Error('cancelled'), { code: '57014', severity: 'ERROR' });
        const result = await connection.query(statement);
        await this.waits.get(name);
        const left = this.losses.get(name) ?? 0;
        if (left === 0) return result;
        this.losses.set(name, left - 1);
        throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
      },
      on: (event: string, listener: never) => connection.on(event as 'error', listener),
      release: (isBroken: boolean) => connection.release(isBroken),
    };
  }

  end = (): Promise<void> => this.#connections.end();
}

interface Process {
  readonly backend: Backend;
  readonly losses: Map<string, number>;
  readonly cancels: Set<string>;
  readonly waits: Map<string, Promise<void>>;
  /** The statements that were sent last, by their names. */
  readonly sent: Map<string, Statement>;
  connect(): Promise<Connection>;
  /** Carries the last statement of this name out once more, as if it came late. */
  again(name: string): Promise<void>;
  /** Its lease has run out, for the others. */
  loseLease(): Promise<void>;
  readonly time: HastyTime;
  readonly taken: UnsettledCase[];
}

const OPTIONS = {
  sync: 'normal',
  salesKeptMs: SALES_KEPT_MS,
  callbackBytes: CLAIM_BYTES,
  play: { openingAtomic: 1_000_000n },
} satisfies Omit<PostgresOptions, 'databaseUrl'>;

async function processOn({ url, connections }: TestDatabase, seed: number): Promise<Process> {
  const time = new HastyTime();
  const losing = new LosingConnections(atTimeOf(connections(), time));
  const backend = await openPostgresBackend(
    { ...OPTIONS, databaseUrl: url },
    {
      clock: time,
      timers: time,
      random: new Chance(seed),
      openConnections: () => losing,
      onStateFault() {},
      onFailure(fault) {
        throw fault;
      },
    },
  );
  const taken: UnsettledCase[] = [];
  await backend.reservations.handOver((one) => taken.push(one));
  const query = async (statement: Statement): Promise<void> => {
    const connection = await losing.connect();
    await connection.query(statement);
    connection.release(false);
  };
  const again = (name: string): Promise<void> => query(losing.sent.get(name) as Statement);
  const loseLease = (): Promise<void> =>
    query({
      text: 'DELETE FROM paygrade.processes WHERE id = $1',
      values: [losing.sent.get('renew-lease')?.values?.[0]],
    });
  const { losses, cancels, waits, sent } = losing;
  return { backend, losses, cancels, waits, sent, connect: () => losing.connect(), again, loseLease, time, taken };
}

const freshOrder = (): PaymentOrder =>
  orderFor({ validAfterSeconds: 0, validBeforeSeconds: Math.floor(Date.now() / 1000) + 100 });

async function reserved(
  { backend: { reservations } }: Process,
  order: PaymentOrder,
  claims: readonly IdentifierClaim[] = [],
): Promise<Reservation> {
  const end = await reservations.reserve(order.key, order.authorization.validBeforeSeconds, claims);
  if (end.kind !== 'reserved') throw new Error(JSON.stringify(end));
  return end.reservation;
}

let jobSeed = 0;

/** A job that is due now. */
const freshJob = (): RetryRecord => ({
  job: newJob(
    {
      id: newRetryId(new Chance(++jobSeed)),
      customer: 'org:acme',
      organization: 'acme',
      tokenDigest: null,
      idempotency: null,
      policy: DEFAULT_POLICY,
      deadlineSeconds: 3600,
      hasCallback: false,
    },
    Date.now(),
  ),
  secrets: null,
  resultBody: null,
});

async function takenBy({ backend: { retries } }: Process): Promise<string[]> {
  const taken = await retries.takeDue({ nowMs: Date.now(), countMax: 10, bytesMax: 1000, without: [] });
  return taken.jobs.map(({ id }) => id);
}

/** @returns how the transfer ended */
async function buy(one: Process, order: PaymentOrder): Promise<string> {
  const held = await reserved(one, order);
  const { reservations, playLedger } = one.backend;
  await reservations.recordIntent(held, order, SALE);
  const outcome = await playLedger!.transfer(order);
  if (outcome.kind === 'settled') await reservations.recordSettled(held, outcome.transaction);
  return outcome.kind;
}

/** The order of a case whose intent is in doubt at one process, and which the other has taken over. */
async function takenOverInDoubt(one: Process, other: Process): Promise<PaymentOrder> {
  const order = freshOrder();
  const held = await reserved(one, order);
  one.losses.set('record-intent', Number.POSITIVE_INFINITY);
  await expect(one.backend.reservations.recordIntent(held, order, SALE)).rejects.toThrow(RecordInDoubtError);
  one.losses.clear();
  await until('the database is back', () => one.backend.fault() === undefined);
  await until('the case is taken over', async () => {
    // A renewal that was on its way may have come after the first time.
    await one.loseLease();
    other.time.look(LOOK_MS);
    return other.taken.length === 1;
  });
  return order;
}

describe.skipIf(SERVER === undefined)('a shared database', () => {
  const server = SERVER!;
  const using = async (count: number, test: (...processes: Process[]) => Promise<void>): Promise<void> => {
    const database = await testDatabase(server);
    const processes: Process[] = [];
    for (let seed = 1; seed <= count; seed++) processes.push(await processOn(database, seed));
    try {
      await test(...processes);
    } finally {
      for (const { backend } of processes) await backend.close();
      await database.remove();
    }
  };
  const salesOf = async ({ backend }: Process): Promise<number> =>
    (await backend.books.list({ sinceMs: 0, isUndeliveredOnly: false, after: undefined, limit: 100 })).length;
  /** As all of them count it. */
  const countOf = (...processes: Process[]): number =>
    processes.reduce((sum, { backend }) => sum + (backend.books.counts.byOperation.get(SALE.operation) ?? 0), 0);

  it.each(['claim', 'record-intent', 'transfer', 'record-settled'])(
    'sells once when an answer to %s is lost',
    async (name) =>
      using(2, async (one, other) => {
        one.losses.set(name, 1);
        const order = freshOrder();
        expect(await buy(one, order)).toBe('settled');
        expect(one.losses.get(name)).toBe(0);
        expect(await other.backend.reservations.reserve(order.key, order.authorization.validBeforeSeconds, [])).toEqual(
          {
            kind: 'taken',
            status: { kind: 'settled', transaction: localTransactionOf(order) },
          },
        );
        expect(await salesOf(other)).toBe(1);
        expect(countOf(one, other)).toBe(1);
        expect(one.backend.fault()).toBeUndefined();
      }),
  );

  it('counts a sale once whose record had no answer until after a long outage', () =>
    using(2, async (one, other) => {
      const order = freshOrder();
      const held = await reserved(one, order);
      const { reservations } = one.backend;
      await reservations.recordIntent(held, order, SALE);
      one.losses.set('record-settled', Number.POSITIVE_INFINITY);
      const settled = (): Promise<void> => reservations.recordSettled(held, localTransactionOf(order));
      await expect(settled()).rejects.toThrow(InDoubtError);
      expect([await salesOf(other), countOf(one, other)]).toEqual([1, 0]);
      one.losses.clear();
      await until('the database is back', () => one.backend.fault() === undefined);
      await settled();
      expect([await salesOf(other), countOf(one, other)]).toEqual([1, 1]);
    }));

  it('frees a claim whose answer never came', () =>
    using(2, async (one, other) => {
      one.losses.set('claim', Number.POSITIVE_INFINITY);
      const order = freshOrder();
      const { validBeforeSeconds } = order.authorization;
      expect((await one.backend.reservations.reserve(order.key, validBeforeSeconds, [])).kind).toBe('unavailable');
      expect(await other.backend.reservations.statusOf(order.key)).toEqual({ kind: 'reserved' });
      one.losses.clear();
      one.time.look();
      await until(
        'the claim is free',
        async () => (await other.backend.reservations.statusOf(order.key)) === undefined,
      );
      expect(await buy(other, order)).toBe('settled');
    }));

  it.each([
    ['at once', 0],
    ['after a long outage', LATE_MS],
  ])('frees a claim that comes after its repeat was given back, %s, and none held, being made or sold', (_, awayMs) =>
    using(2, async (one, other) => {
      const [order, held, made] = [freshOrder(), freshOrder(), freshOrder()];
      const statusOf = ({ key }: PaymentOrder) => other.backend.reservations.statusOf(key);
      const named = ({ payer }: PaymentOrder, name: string): IdentifierClaim[] => [
        identifierClaim(`pay_000000000000${name}` as PaymentIdentifier, 'GET /', payer),
      ];
      const { reservations } = one.backend;
      const sold = freshOrder();
      const selling = await reserved(one, sold, named(sold, 'sold'));
      await reservations.recordIntent(selling, sold, SALE, [new Uint8Array(1)]);
      await reservations.recordSettled(selling, localTransactionOf(sold));
      const holding = await reserved(one, held, named(held, 'held'));
      one.losses.set('claim', 1);
      await reservations.release(await reserved(one, order, named(order, 'free')));
      await one.again('claim-identifier');
      await one.again('claim');
      const answer = Promise.withResolvers<void>();
      one.waits.set('claim', answer.promise);
      const making = reserved(one, made, named(made, 'made'));
      await until('all are claimed', async () => (await statusOf(made)) !== undefined);
      expect(await reservations.statusOf(made.key)).toEqual({ kind: 'reserved' });
      expect(await statusOf(order)).toEqual({ kind: 'reserved' });
      one.time.standStill(awayMs);
      one.time.look();
      await until(
        'the claim and its name are free',
        async () => (await other.backend.reservations.find(order.key, named(order, 'free'))) === undefined,
      );
      for (const kept of [held, made]) expect(await statusOf(kept)).toEqual({ kind: 'reserved' });
      answer.resolve();
      const later = freshOrder();
      const laterHeld = await reserved(one, later, named(later, 'late'));
      // As if what freed them came only now.
      for (const name of ['free-stray-claims', 'free-stray-identifiers']) await one.again(name);
      await reservations.recordIntent(holding, held, SALE, [new Uint8Array(1)]);
      await reservations.recordIntent(await making, made, SALE, [new Uint8Array(1)]);
      await reservations.recordIntent(laterHeld, later, SALE, [new Uint8Array(1)]);
      const found = await other.backend.reservations.find(freshOrder().key, named(sold, 'sold'));
      expect(found).toMatchObject({ kind: 'kept' });
    }),
  );

  it('frees an authorization whose intent is in doubt: no money was asked for', () =>
    using(2, async (one, other) => {
      const order = freshOrder();
      const held = await reserved(one, order);
      one.losses.set('record-intent', Number.POSITIVE_INFINITY);
      await expect(one.backend.reservations.recordIntent(held, order, SALE)).rejects.toThrow(RecordInDoubtError);
      expect(await other.backend.reservations.statusOf(order.key)).toEqual({ kind: 'settling' });
      one.losses.clear();
      one.time.look();
      await until('it is free', async () => (await other.backend.reservations.statusOf(order.key)) === undefined);
      expect(await buy(other, order)).toBe('settled');
      expect(await salesOf(other)).toBe(1);
    }));

  it('frees an authorization whose intent the database refuses', () =>
    using(1, async (one) => {
      const order = freshOrder();
      const held = await reserved(one, order);
      const { reservations } = one.backend;
      one.cancels.add('record-intent');
      const failure = await reservations.recordIntent(held, order, SALE).catch((caught: unknown) => caught);
      expect(failure).toBeInstanceOf(Error);
      expect(failure).not.toBeInstanceOf(RecordInDoubtError);
      one.cancels.clear();
      await reservations.release(held);
      expect(await reservations.statusOf(order.key)).toBeUndefined();
    }));

  it('records a settlement once, however often its record is repeated', () =>
    using(1, async (one) => {
      const order = freshOrder();
      const held = await reserved(one, order);
      const { reservations, playLedger } = one.backend;
      await reservations.recordIntent(held, order, SALE);
      one.losses.set('transfer', Number.POSITIVE_INFINITY);
      expect((await playLedger!.transfer(order)).kind).toBe('unknown');
      one.losses.clear();
      await until('the database is back', () => one.backend.fault() === undefined);
      // The case is open, so a repeat learns that the money has moved.
      const outcome = await playLedger!.transfer(order);
      expect(outcome.kind).toBe('settled');
      one.losses.set('record-settled', Number.POSITIVE_INFINITY);
      await expect(reservations.recordSettled(held, localTransactionOf(order))).rejects.toThrow();
      one.losses.clear();
      await until('the database is back', () => one.backend.fault() === undefined);
      await reservations.recordSettled(held, localTransactionOf(order));
      expect(await salesOf(one)).toBe(1);
    }));

  it('makes a bought job and charges it once when the answer is lost', () =>
    using(2, async (one, other) => {
      const { accounts, retries } = one.backend;
      await accounts.grant({ organization: 'acme', kind: 'onboarding', amount: 5, expiresAtMs: null });
      const record = freshJob();
      one.losses.set('charge-and-create-retry', 1);
      expect(await retries.buy(record, 2)).toEqual({ kind: 'charged', remaining: 3 });
      expect(one.losses.get('charge-and-create-retry')).toBe(0);
      expect(await other.backend.retries.find(record.job.id)).toEqual(record);
      expect(await other.backend.accounts.usage('acme')).toMatchObject({ charged: 2, remaining: 3 });
    }));

  it('gives back, once, a charge that failed because its answer was lost, and refuses it when it is carried out late', () =>
    using(2, async (one, other) => {
      const { accounts } = one.backend;
      await accounts.grant({ organization: 'acme', kind: 'onboarding', amount: 5, expiresAtMs: null });
      await accounts.grant({ organization: 'acme', kind: 'subscription', amount: 3, expiresAtMs: null });
      await accounts.grant({ organization: 'beta', kind: 'subscription', amount: 5, expiresAtMs: null });
      expect(await accounts.charge('beta', 5)).toEqual({ kind: 'charged', remaining: 0 });
      const usage = (organization = 'acme') => other.backend.accounts.usage(organization);
      one.losses.set('charge-credits', 1000);
      expect(await accounts.charge('acme', 4)).toMatchObject({ kind: 'unavailable' });
      expect(await usage()).toMatchObject({ charged: 4, remaining: 4 });
      one.losses.clear();
      await until('the database is back', () => one.backend.fault() === undefined);
      one.losses.set('give-back-credits', 1);
      one.time.look();
      await expect.poll(() => usage()).toMatchObject({ charged: 0, remaining: 8 });
      expect(await usage('beta')).toMatchObject({ charged: 5, remaining: 0 });
      const charge = one.sent.get('charge-credits') as Statement;
      const version = (charge.values?.[1] as number) + 2;
      one.sent.set('charge-credits', { ...charge, values: charge.values?.with(1, version) ?? [] });
      await expect(one.again('charge-credits')).rejects.toThrow('duplicate key');
      expect(await accounts.charge('acme', 8)).toEqual({ kind: 'charged', remaining: 0 });
      expect(await usage()).toMatchObject({ charged: 8, remaining: 0 });
    }));

  it('keeps the hold of a job that is taken again before its release is answered', () =>
    using(1, async (one) => {
      const { retries } = one.backend;
      const record = freshJob();
      const { id } = record.job;
      await retries.create(record);
      expect(await takenBy(one)).toEqual([id]);
      const { promise: heard, resolve: hear } = Promise.withResolvers<void>();
      one.waits.set('release-retry', heard);
      const released = retries.release(id);
      await expect.poll(() => takenBy(one)).toEqual([id]);
      hear();
      await released;
      expect(await takenBy(one)).toEqual([]);
      await retries.release(id);
      expect(await takenBy(one)).toEqual([id]);
    }));

  it('frees jobs that a look takes whose answer was lost, also when it is carried out after its repeat', () =>
    using(1, async (one) => {
      const { retries } = one.backend;
      const [first, second] = [freshJob(), freshJob()];
      await retries.create(first);
      one.losses.set('take-retries', 1);
      expect(await takenBy(one)).toEqual([first.job.id]);
      await retries.create(second);
      await one.again('take-retries');
      expect(await takenBy(one)).toEqual([second.job.id]);
      expect(await takenBy(one)).toEqual([]);
    }));

  it('frees jobs that a look took just before a long outage', () =>
    using(1, async (one) => {
      const { job } = freshJob();
      await one.backend.retries.create({ job, secrets: null, resultBody: null });
      one.losses.set('take-retries', Number.POSITIVE_INFINITY);
      await expect(takenBy(one)).rejects.toThrow('terminated');
      one.losses.clear();
      await until('the database is back', () => one.backend.fault() === undefined);
      one.time.standStill(LATE_MS);
      expect(await takenBy(one)).toEqual([job.id]);
      await one.backend.retries.release(job.id);
      expect(await takenBy(one)).toEqual([job.id]);
    }));

  it('starts no attempt when it stood still until its lease ran out while the attempt was recorded', () =>
    using(1, async (one) => {
      const { retries } = one.backend;
      const record = freshJob();
      await retries.create(record);
      expect(await takenBy(one)).toEqual([record.job.id]);
      const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
      one.waits.set('change-retry', answered);
      const starting = retries.update(record.job.id, ({ job }) => {
        const started = startAttempt(job, Date.now());
        return started && { job: started };
      });
      const attemptCount = async () => (await retries.find(record.job.id))?.job.attempts.length;
      await until('the attempt is on record', async () => (await attemptCount()) === 1);
      one.time.standStill(LEASE_MS);
      answer();
      expect(await starting).toBeUndefined();
    }));

  it('does not report a job as ended elsewhere when the job was taken after its end', () =>
    using(1, async (one) => {
      const { retries } = one.backend;
      const { job } = freshJob();
      one.losses.set('take-retries', 1);
      await takenBy(one);
      await retries.create({ job, secrets: null, resultBody: null });
      // A late look holds it, and nobody knows.
      await one.again('take-retries');
      await retries.updateByCustomer!(job.id, (before) => ({ job: { ...before.job, endedAtMs: Date.now() } }));
      expect(await takenBy(one)).toEqual([job.id]);
      const query = { nowMs: Date.now(), countMax: 10, bytesMax: 1000, without: [] };
      expect((await retries.takeDue(query)).abandoned).toBeUndefined();
    }));

  it('frees an idempotency key that could not be released, and those of a dead process', () =>
    using(2, async (one, other) => {
      const { retries } = one.backend;
      const theirs = other.backend.retries;
      expect(await retries.claimKey!('key', 'a')).toBe(true);
      one.losses.set('release-retry-key', Number.POSITIVE_INFINITY);
      await expect(retries.releaseKey!('key', 'a')).rejects.toThrow();
      one.losses.clear();
      await until('the database is back', () => one.backend.fault() === undefined);
      expect(await retries.claimKey!('key', 'a')).toBe(true);
      expect(await theirs.claimKey!('key', 'b')).toBe(false);
      one.time.look();
      await until('the key is free', async () => theirs.claimKey!('key', 'b'));

      expect(await retries.claimKey!('another', 'a')).toBe(true);
      await one.backend.close();
      expect(await theirs.claimKey!('another', 'b')).toBe(false);
      other.time.look(LOOK_MS);
      await until("the dead one's key is free", async () => {
        other.time.look(LOOK_MS);
        return theirs.claimKey!('another', 'b');
      });
    }));

  it('counts a webhook once whose admission was repeated because its answer was lost', () =>
    using(1, async (one) => {
      const { callbacks } = one.backend;
      const id = newCallbackId(new Chance(8));
      const kinds: string[] = [];
      for (let count = 0; count <= RATE_COUNT_MAX; count++) {
        one.losses.set('admit-webhooks', count % 2);
        kinds.push((await callbacks.admit(id)).kind);
      }
      expect(kinds).toEqual([...Array(RATE_COUNT_MAX).fill('not-found'), 'too-many']);
    }));

  it('says that a callback is deleted when the answer about that is lost, and later that there is none', () =>
    using(2, async ({ backend: { callbacks }, losses }, other) => {
      await callbacks.capacity.tryClaim();
      const { id, readToken } = await callbacks.create(callbacks.draft());
      const found = await callbacks.authorize(id, readToken);
      if (found.kind !== 'allowed') throw new Error(found.kind);
      losses.set('delete-callback', 1);
      expect(await callbacks.delete(found.callback)).toEqual({ kind: 'deleted' });
      expect(losses.get('delete-callback')).toBe(0);
      expect(await callbacks.delete(found.callback)).toEqual({ kind: 'not-found' });
      expect(await other.backend.callbacks.authorize(id, readToken)).toEqual({ kind: 'not-found' });
    }));

  it('takes over the case of a process whose lease has run out, and believes the first outcome', () =>
    using(2, async (one, other) => {
      const order = freshOrder();
      const held = await reserved(one, order);
      await one.backend.reservations.recordIntent(held, order, SALE);
      expect(await one.backend.reservations.isHeld(held)).toBe(true);
      // The looks alone stay well below a lease, because real time passes as well.
      for (let passedMs = 0; passedMs < LEASE_MS - LOOK_MS; passedMs += LOOK_MS) {
        other.time.look(LOOK_MS);
        await pause(100);
      }
      expect(other.taken).toEqual([]);
      await one.backend.close();
      await until('the case is taken over', () => {
        other.time.look(LOOK_MS);
        return other.taken.length === 1;
      });
      expect(facilitatorBodyOf(other.taken[0]!.order)).toBe(facilitatorBodyOf(order));
      expect(await other.backend.reservations.statusOf(order.key)).toEqual({ kind: 'unknown', transaction: '' });
      const transaction = localTransactionOf(order);
      await other.backend.reservations.recordSettled(other.taken[0]!.reservation, transaction);
      expect(await other.backend.reservations.statusOf(order.key)).toEqual({ kind: 'settled', transaction });
    }));

  /** Cases of `one`, which stands still until `other` has taken them over; each as the one and the other holds it. */
  const allTakenOver = async (
    one: Process,
    other: Process,
    orders: readonly PaymentOrder[],
  ): Promise<(readonly [Reservation, Reservation])[]> => {
    const held: Reservation[] = [];
    for (const order of orders) {
      const reservation = await reserved(one, order);
      await one.backend.reservations.recordIntent(reservation, order, SALE);
      held.push(reservation);
    }
    await one.loseLease();
    await until('the cases are taken over', () => {
      other.time.look(LOOK_MS);
      return other.taken.length === orders.length;
    });
    const takenOf = ({ key }: PaymentOrder) => other.taken.find(({ order }) => order.key === key)!.reservation;
    return orders.map((order, i) => [held[i]!, takenOf(order)]);
  };
  const takenOver = async (one: Process, other: Process, order: PaymentOrder) =>
    (await allTakenOver(one, other, [order]))[0]!;

  it('tells the former holder of a case how the new one has ended it, unless it ends it in the same way', () =>
    using(2, async (one, other) => {
      const endWith = (
        { reservations }: Backend,
        held: Reservation,
        order: PaymentOrder,
        end: string,
      ): Promise<void> => {
        if (end === 'settled') return reservations.recordSettled(held, localTransactionOf(order));
        return end === 'dead' ? reservations.recordDead(held) : reservations.recordReleased(held);
      };
      const ends = [
        ['released', 'released', 'fulfilled'],
        ['released', 'dead', 'rejected'],
        ['dead', 'dead', 'fulfilled'],
        ['dead', 'released', 'rejected'],
        ['settled', 'dead', 'rejected'],
        ['settled', 'released', 'rejected'],
      ] as const;
      const orders = ends.map(freshOrder);
      const taken = await allTakenOver(one, other, orders);
      for (const [i, [theirEnd, ourEnd, expected]] of ends.entries()) {
        const order = orders[i]!;
        const [held, theirs] = taken[i]!;
        await one.backend.reservations.recordUnknown(held, '');
        await endWith(other.backend, theirs, order, theirEnd);
        const [ended] = await Promise.allSettled([endWith(one.backend, held, order, ourEnd)]);
        expect(ended.status, `${theirEnd}, then ${ourEnd}`).toBe(expected);
        if (ended.status === 'rejected') expect(String(ended.reason)).toContain(`as ${theirEnd}`);
        const status = await one.backend.reservations.statusOf(order.key);
        expect(status?.kind ?? 'released').toBe(theirEnd);
      }
    }));

  it('frees no authorization whose case another process has taken over', () =>
    using(2, async (one, other) => {
      const order = freshOrder();
      const [held, theirs] = await takenOver(one, other, order);
      const statusOf = () => other.backend.reservations.statusOf(order.key);
      // The other one moves the money meanwhile, so ours is refused for want of it.
      await expect(one.backend.reservations.recordReleased(held)).rejects.toThrow('recorded this payment as unknown');
      expect(await statusOf()).toEqual({ kind: 'unknown', transaction: '' });
      expect(await one.backend.reservations.isHeld(held)).toBe(false);
      // It changes nothing from now on.
      await one.backend.reservations.recordUnknown(held, '');
      await one.backend.reservations.recordReleased(held);
      await one.backend.reservations.recordDead(held);
      const transaction = localTransactionOf(order);
      await other.backend.reservations.recordSettled(theirs, transaction);
      expect(await statusOf()).toEqual({ kind: 'settled', transaction });
      expect(await salesOf(one)).toBe(1);
    }));

  it('takes a case back that it has lost when its new holder dies', () =>
    using(2, async (one, other) => {
      const [held] = await takenOver(one, other, freshOrder());
      expect(await one.backend.reservations.isHeld(held)).toBe(false);
      await until('it takes the case back', async () => {
        await other.loseLease();
        one.time.look(LOOK_MS);
        return one.taken.length === 1;
      });
    }));

  it('ends no case as dead that another process has taken over, and removes no hash that it knows', () =>
    using(2, async (one, other) => {
      const order = freshOrder();
      const [held, theirs] = await takenOver(one, other, order);
      const transaction = localTransactionOf(order);
      await other.backend.reservations.recordUnknown(theirs, transaction);
      await one.backend.reservations.recordUnknown(held, '');
      const unknown = { kind: 'unknown', transaction };
      expect(await other.backend.reservations.statusOf(order.key)).toEqual(unknown);
      await expect(one.backend.reservations.recordDead(held)).rejects.toThrow('recorded this payment as unknown');
      expect(await other.backend.reservations.statusOf(order.key)).toEqual(unknown);
      await other.backend.reservations.recordSettled(theirs, transaction);
      expect(await salesOf(one)).toBe(1);
    }));

  it('frees no authorization on a refusal after a take-over: the one that stood still may send it yet', () =>
    using(2, async (one, other) => {
      const order = freshOrder();
      const [held, theirs] = await takenOver(one, other, order);
      const reconciler = new Reconciler({
        settlement: {
          takesContractSignatures: true,
          readiness: () => ({ kind: 'ready' }),
          verify: async () => ({ kind: 'valid' }),
          settle: async () => ({ kind: 'refused', reason: 'kyt_risk_detected', transaction: '', detail: 'risk' }),
        },
        reservations: other.backend.reservations,
        clock: systemClock,
        timers: { after: (_, run) => systemTimers.after(0, run) },
        onCaseReport() {},
        onBug() {},
      });
      reconciler.watch(theirs, order);
      await until('it was refused', () => theirs.isRefused || reconciler.openCount === 0);
      reconciler.stop();
      expect(await other.backend.reservations.statusOf(order.key)).toEqual({ kind: 'unknown', transaction: '' });
      // What it had decided before its lease ran out goes out now, and this time the facilitator takes it.
      await one.backend.reservations.recordSettled(held, localTransactionOf(order));
      expect(await salesOf(one)).toBe(1);
    }));

  it('remembers the refusal and the hash of a payment through every take-over', () =>
    using(3, async (one, other, third) => {
      const order = freshOrder();
      const held = await reserved(one, order);
      await one.backend.reservations.recordIntent(held, order, SALE);
      for (const isRefused of [false, true]) await one.backend.reservations.recordUnknown(held, '', isRefused);
      const takeOver = async (from: Process, to: Process): Promise<Reservation> => {
        await until('the case is taken over', async () => {
          await from.loseLease();
          to.time.look(LOOK_MS);
          return to.taken.length === 1;
        });
        return to.taken[0]!.reservation;
      };
      const theirs = await takeOver(one, other);
      expect(theirs.isRefused).toBe(true);
      const transaction = localTransactionOf(order);
      await other.backend.reservations.recordUnknown(theirs, transaction);
      const last = await takeOver(other, third);
      expect(last.isRefused).toBe(true);
      // It has learned no hash itself.
      await third.backend.reservations.recordUnknown(last, '');
      const { reservations } = one.backend;
      expect(await reservations.statusOf(order.key)).toEqual({ kind: 'unknown', transaction });
      await third.backend.reservations.recordDead(last);
      expect(await reservations.statusOf(order.key)).toEqual({ kind: 'dead', transaction });
    }));

  it('enters the sale of a payment that another process has ended as dead when this one knows that it settled', () =>
    using(2, async (one, other) => {
      const order = freshOrder();
      const [held, theirs] = await takenOver(one, other, order);
      // Cut off from the database with the answer; repeats only say that the nonce is used.
      await other.backend.reservations.recordDead(theirs);
      const transaction = localTransactionOf(order);
      one.losses.set('record-settled', 1);
      await one.backend.reservations.recordSettled(held, transaction);
      expect(one.losses.get('record-settled')).toBe(0);
      const settled = { kind: 'settled', transaction };
      for (const { backend } of [one, other]) expect(await backend.reservations.statusOf(order.key)).toEqual(settled);
      expect(await salesOf(other)).toBe(1);
      expect(countOf(one, other)).toBe(1);
    }));

  it('enters the sale of a payment that another process is just ending as dead', () =>
    using(1, async (one) => {
      const { reservations } = one.backend;
      const intended = async (order: PaymentOrder): Promise<Reservation> => {
        const held = await reserved(one, order);
        await reservations.recordIntent(held, order, SALE);
        return held;
      };
      const dead = await intended(freshOrder());
      await reservations.recordUnknown(dead, '');
      await reservations.recordDead(dead);
      const order = freshOrder();
      const held = await intended(order);
      // A transaction sees the activity as it was at its first look.
      const [ending, looking] = [await one.connect(), await one.connect()];
      await ending.query({ text: 'BEGIN' });
      const ended = one.sent.get('end-dead')!;
      await ending.query({ ...ended, values: ended.values!.with(1, [held.serial]) });
      const recording = reservations.recordSettled(held, localTransactionOf(order));
      const waiting = {
        text: "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      };
      await until('it waits for the end', async () => (await looking.query(waiting)).rows.length > 0);
      await ending.query({ text: 'COMMIT' });
      for (const connection of [ending, looking]) connection.release(false);
      await recording;
      expect(await salesOf(one)).toBe(1);
    }));

  it('enters the sale of a payment whose claim is forgotten', () =>
    using(2, async (one, other) => {
      const order = freshOrder();
      const [held, theirs] = await takenOver(one, other, order);
      await other.backend.reservations.recordDead(theirs);
      const connection = await other.connect();
      // As ten minutes after its window.
      await connection.query({ text: 'DELETE FROM paygrade.claims' });
      connection.release(false);
      await one.backend.reservations.recordSettled(held, localTransactionOf(order));
      expect((await other.backend.books.find(order.key))?.serial).toBe(held.serial);
    }));

  it('counts a sale once that the former and the new holder of its case record', () =>
    using(2, async (one, other) => {
      const order = freshOrder();
      const [held, theirs] = await takenOver(one, other, order);
      const transaction = localTransactionOf(order);
      await other.backend.reservations.recordSettled(theirs, transaction);
      await one.backend.reservations.recordSettled(held, transaction);
      expect(await salesOf(one)).toBe(1);
      expect(countOf(one, other)).toBe(1);
    }));

  it('frees no case whose intent was in doubt when another process has taken it over', () =>
    using(2, async (one, other) => {
      const order = await takenOverInDoubt(one, other);
      one.time.look();
      const transaction = localTransactionOf(order);
      await pause(200);
      await other.backend.reservations.recordSettled(other.taken[0]!.reservation, transaction);
      expect(await salesOf(other)).toBe(1);
    }));

  it('frees no case whose intent was in doubt when it takes it back from a process that has died', () =>
    using(2, async (one, other) => {
      const order = await takenOverInDoubt(one, other);
      await other.loseLease();
      // The case is still to be freed, as far as it knows, while it looks for those of the dead.
      one.cancels.add('release-claim');
      one.sent.clear();
      await until('it has looked for the dead', () => {
        one.time.look(LOOK_MS);
        return one.sent.has('take-over');
      });
      await pause(100);
      one.cancels.clear();
      await until('it takes the case over', async () => {
        await other.loseLease();
        one.time.look(LOOK_MS);
        return one.taken.length === 1;
      });
      expect(await one.backend.reservations.statusOf(order.key)).toEqual({ kind: 'unknown', transaction: '' });
    }));

  it('asks for no money when it stood still until its lease ran out, and frees the authorization', () =>
    using(2, async (one, other) => {
      const order = freshOrder();
      const held = await reserved(one, order);
      const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
      one.waits.set('record-intent', answered);
      const recording = one.backend.reservations.recordIntent(held, order, SALE);
      await until('the intent is on record', async () => {
        return (await other.backend.reservations.statusOf(order.key))?.kind === 'settling';
      });
      one.time.standStill(LEASE_MS);
      answer();
      await expect(recording).rejects.toThrow(RecordInDoubtError);
      one.time.look();
      await until('it is free', async () => (await other.backend.reservations.statusOf(order.key)) === undefined);
      expect(await buy(one, order)).toBe('settled');
    }));

  it('asks for no money when another process took its case over before its intent was repeated', () =>
    using(2, async (one, other) => {
      const order = freshOrder();
      const held = await reserved(one, order);
      const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
      one.waits.set('record-intent', answered);
      one.losses.set('record-intent', 1);
      const recording = one.backend.reservations.recordIntent(held, order, SALE).then(
        () => 'recorded',
        (failure: unknown) => failure,
      );
      await until('the case is taken over', async () => {
        await one.loseLease();
        other.time.look(LOOK_MS);
        return other.taken.length === 1;
      });
      answer();
      expect(await recording).toBeInstanceOf(RecordInDoubtError);
      expect(one.losses.get('record-intent')).toBe(0);
    }));

  it('refuses purchases of one authorization that wait for each other together when statements are cancelled', () =>
    using(1, async ({ backend, cancels, time }) => {
      const { key, authorization } = freshOrder();
      const reserved = () => backend.reservations.reserve(key, authorization.validBeforeSeconds, []);
      cancels.add('claim');
      const beganMs = time.monotonicMs();
      const ends = await Promise.all([reserved(), reserved(), reserved()]);
      expect(ends.map(({ kind }) => kind)).toEqual(['unavailable', 'unavailable', 'unavailable']);
      expect(time.monotonicMs() - beganMs).toBeLessThan(2 * PATIENCE_MS);
      cancels.clear();
      expect((await reserved()).kind).toBe('reserved');
    }));

  it('sells when its lease ran out and no look has renewed it yet, as after an outage', () =>
    using(1, async (one) => {
      one.time.standStill(LEASE_MS);
      expect(await buy(one, freshOrder())).toBe('settled');
    }));

  it('does not take over its own case that begins while its take-over of dead processes’ cases is repeated', () =>
    using(1, async (one) => {
      const order = freshOrder();
      const { reservations } = one.backend;
      for (let passedMs = 0; passedMs < LEASE_MS; passedMs += LOOK_MS) {
        one.time.look(LOOK_MS);
        await pause(100);
      }
      const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
      one.waits.set('take-over', answered);
      one.losses.set('take-over', 1);
      one.sent.clear();
      one.time.look(LOOK_MS);
      await until('it is asked', () => {
        // Again, if the look before was still running.
        one.time.look();
        return one.sent.has('take-over');
      });
      const held = await reserved(one, order);
      await reservations.recordIntent(held, order, SALE);
      answer();
      await until('it is repeated', () => one.losses.get('take-over') === 0);
      await pause(100);
      expect(one.taken).toEqual([]);
    }));

  it('is migrated once by several processes at the same time, and not by an older release', async () => {
    const url = await server.freshUrl();
    const { openConnections } = await import('../../../src/storage/postgres/connections.ts');
    const { parseDatabaseUrl } = await import('../../../src/storage/postgres/address.ts');
    const open = (): Database =>
      new Database(openConnections(parseDatabaseUrl(url), { countMax: 2, statementMs: 5000, connectMs: 5000 }), {
        clock: systemClock,
        timers: systemTimers,
        onStateFault() {},
      });
    const databases = [open(), open(), open()];
    const [first] = databases as [Database];
    expect(await checkMigrated(first, TABLES)).toBe(true);
    await Promise.all(databases.map((database, at) => migrate(database, TABLES, `process-${at}`)));
    expect(await checkMigrated(first, TABLES)).toBe(false);
    const newer = [...TABLES, { name: 'later', migrations: ['CREATE TABLE paygrade.later (id integer)'] }];
    // A process that died in the middle of a migration holds the lock for its lease.
    await first.run({
      text: 'INSERT INTO paygrade.migrating (id, owner, until_ms) VALUES (1, $1, 0)',
      values: ['dead'],
    });
    await migrate(first, newer, 'newer');
    await expect(migrate(first, TABLES, 'older')).rejects.toThrow('migrated by a newer release');
    for (const database of databases) await database.close();
    await server.drop(url);
  });

  const opening = (options: Partial<PostgresOptions>, clock: Clock = systemClock): Promise<Backend> =>
    openPostgresBackend(
      { ...OPTIONS, databaseUrl: 'postgres://ann:s3cret@127.0.0.1:1/shop', ...options },
      { clock, timers: systemTimers, random: new Chance(1), onStateFault() {}, onFailure() {} },
    );

  it('that does not answer, or does not commit durably, refuses the start in one line without a password', async () => {
    await expect(opening({ startMs: 0 })).rejects.toThrow(
      /^the database 127\.0\.0\.1:1\/shop could not be used for 0 s: connect ECONNREFUSED/,
    );
    const { url, remove } = await testDatabase(server);
    const none = new URL(url);
    none.pathname = '/no_such_database';
    await expect(opening({ databaseUrl: none.href })).rejects.toThrow('"no_such_database" does not exist');
    // Tests' own server has fsync off; a given one has it on.
    await expect(
      opening({ databaseUrl: url, sync: 'full' }).then(async (backend) => {
        await backend.close();
        throw new Error('the database has fsync off');
      }),
    ).rejects.toThrow('has fsync off');
    await remove();
  });

  it.each([
    ['LATIN1', 'the encoding of the database is LATIN1; create one whose encoding is UTF8'],
    ['SQL_ASCII', undefined],
  ])('with the encoding %s is refused where it cannot keep every text', async (encoding, refusal) => {
    const { url, connections, remove } = await testDatabase(server);
    const others = connections();
    const connection = await others.connect();
    const name = `encoded_${encoding.toLowerCase()}`;
    const text = `CREATE DATABASE ${name} ENCODING ${encoding} LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`;
    await connection.query({ text });
    const encoded = new URL(url);
    encoded.pathname = `/${name}`;
    const ended = await opening({ databaseUrl: encoded.href }).then(
      (backend) => backend.close(),
      ({ message }: Error) => message,
    );
    await connection.query({ text: `DROP DATABASE ${name}` });
    connection.release(false);
    await others.end();
    await remove();
    expect(ended).toBe(refusal);
  });

  it('leaves no timer behind when its start fails', async () => {
    const time = new ManualTime();
    const { connections, remove, url } = await testDatabase(server, time);
    const refusing = sentBy(connections(), async (statement, query) => {
      if (statement.name !== 'count-resolves') return query(statement);
      throw Object.assign(new Error('refused'), { code: 'XX000', severity: 'ERROR' });
    });
    const ports = { clock: time, timers: time, random: new Chance(1), onStateFault() {}, onFailure() {} };
    const starting = openPostgresBackend(
      { ...OPTIONS, databaseUrl: url },
      { ...ports, openConnections: () => refusing },
    );
    await expect(starting).rejects.toThrow('refused');
    expect(time.pendingCount).toBe(0);
    await remove();
  });

  it('makes a process not ready whose clock is more than a second off', async () => {
    const { url, remove } = await testDatabase(server);
    const off: Clock = { nowMs: () => Date.now() - 5000, monotonicMs: () => systemClock.monotonicMs() };
    const backend = await opening({ databaseUrl: url }, off);
    expect(backend.fault()).toMatch(/^the clock of this machine is 5\.\d s behind the database's$/);
    await backend.close();
    await remove();
  });
});
