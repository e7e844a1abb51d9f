/** What every implementation of the store of retries promises (siblings §6). The test owns the clock. */
import { describe, expect, it } from 'vitest';
import type { Accounts } from '../../src/accounts/accounts.ts';
import { monthStartMs } from '../../src/accounts/month.ts';
import { newRetryId, type RetryId } from '../../src/retry/identifier.ts';
import { cancel, endAttempt, INTERRUPTED, newJob, type RetryJob, startAttempt } from '../../src/retry/job.ts';
import { DEFAULT_POLICY } from '../../src/retry/policy.ts';
import { DamagedJobError, type RetryRecord, type RetryStore } from '../../src/retry/store.ts';
import { Chance } from '../support/chance.ts';
import { ManualTime } from '../support/manual-time.ts';

const START_MS = Date.UTC(2026, 7, 20, 12);

/** The store, and the accounts that its jobs are bought from. */
interface RetriesAndAccounts {
  readonly retries: RetryStore;
  readonly accounts: Accounts;
}

export interface OpenedRetries {
  readonly stores: RetriesAndAccounts;
  /** Opens what a kill at this moment leaves; undefined where nothing outlives the process. */
  readonly reopen?: () => Promise<RetriesAndAccounts>;
  /** The same, with the record of a job changed meanwhile behind the store. */
  readonly damaged?: (id: RetryId) => Promise<RetryStore>;
  remove(): Promise<void>;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const random = new Chance(16);

function record(time: ManualTime, changes: Partial<RetryJob> = {}, secrets = 'sealed'): RetryRecord {
  const draft = {
    id: newRetryId(random),
    customer: 'org:acme',
    organization: 'acme',
    tokenDigest: null,
    idempotency: null,
    policy: { ...DEFAULT_POLICY, maxAttempts: 3, retryStatuses: [500] },
    deadlineSeconds: 3600,
    hasCallback: true,
  };
  const job = { ...newJob(draft, time.nowMs()), ...changes };
  return { job, secrets: bytes(secrets), resultBody: null };
}

async function give(accounts: Accounts, amount: number): Promise<void> {
  await accounts.grant({ organization: 'acme', kind: 'onboarding', amount, expiresAtMs: null });
}

const look = (time: ManualTime, more: Partial<Parameters<RetryStore['takeDue']>[0]> = {}) => ({
  nowMs: time.nowMs(),
  countMax: 10,
  bytesMax: 1_000_000,
  without: [],
  ...more,
});

const started = (time: ManualTime) => (one: RetryRecord) => {
  const job = startAttempt(one.job, time.nowMs());
  return job && { job, attemptsMade: 1 };
};

/** @param canReopen whether what was recorded outlives the process */
export function describeRetries(
  name: string,
  open: (time: ManualTime) => Promise<OpenedRetries>,
  canReopen: boolean,
): void {
  async function using(
    test: (store: RetryStore, time: ManualTime, opened: OpenedRetries) => Promise<void>,
  ): Promise<void> {
    const time = new ManualTime(START_MS);
    const opened = await open(time);
    try {
      await test(opened.stores.retries, time, opened);
    } finally {
      await opened.remove();
    }
  }

  describe(`the store of retries: ${name}`, () => {
    it('gives a job back as it was created, with what it carries', () =>
      using(async (store, time) => {
        const made = record(time, { idempotency: { key: 'key digest', fingerprint: 'body digest' } });
        expect(await store.create(made)).toEqual({ kind: 'created' });
        expect(await store.find(made.job.id)).toEqual(made);
        expect(await store.findByKey('key digest')).toEqual(made.job);
        expect(await store.findByKey('another')).toBeUndefined();
        expect(await store.find(newRetryId(random))).toBeUndefined();
      }));

    it('claims an idempotency key and an id once, whatever races', () =>
      using(async (store, time) => {
        const claim = { key: 'one key', fingerprint: 'f' };
        const rivals = Array.from({ length: 5 }, () => record(time, { idempotency: claim }));
        const made = await Promise.all(rivals.map((one) => store.create(one)));
        expect(made.filter(({ kind }) => kind === 'created')).toHaveLength(1);
        const winner = rivals[made.findIndex(({ kind }) => kind === 'created')]!.job;
        for (const one of made) if (one.kind === 'existing') expect(one.job).toEqual(winner);
        expect(await store.create(record(time, { id: winner.id }))).toMatchObject({ kind: 'existing' });
      }));

    it('creates bought jobs together with their charges, as many as there are credits for', () =>
      using(async (store, time, { stores: { accounts } }) => {
        await give(accounts, 10);
        const rivals = Array.from({ length: 12 }, () => record(time));
        const [others, bought] = await Promise.all([
          Promise.all(Array.from({ length: 4 }, async () => accounts.charge('acme', 1))),
          Promise.all(rivals.map((one) => store.buy(one, 1))),
        ]);
        const charged = bought.filter(({ kind }) => kind === 'charged').length;
        expect(charged + others.filter(({ kind }) => kind === 'charged').length).toBe(10);
        for (const [i, { kind }] of bought.entries()) {
          expect((await store.find(rivals[i]!.job.id)) !== undefined).toBe(kind === 'charged');
        }
        expect(await accounts.usage('acme')).toMatchObject({ charged: 10, remaining: 0 });
        expect((await store.usage('acme', monthStartMs(time.nowMs()))).retriesCreated).toBe(charged);
      }));

    it('charges nothing for an id or an idempotency key that has its job', () =>
      using(async (store, time, { stores: { accounts } }) => {
        await give(accounts, 10);
        const idempotency = { key: 'bought key', fingerprint: 'f' };
        const first = record(time, { idempotency });
        expect(await store.buy(first, 2)).toEqual({ kind: 'charged', remaining: 8 });
        expect(await store.buy(record(time, { idempotency }), 2)).toEqual({ kind: 'existing' });
        expect(await store.buy(record(time, { id: first.job.id }), 2)).toEqual({ kind: 'existing' });
        expect(await store.buy(record(time), 9)).toEqual({ kind: 'insufficient', remaining: 8 });
        expect(await accounts.usage('acme')).toMatchObject({ charged: 2, remaining: 8 });
        expect(await store.find(first.job.id)).toEqual(first);
      }));

    it('gives a due job to one look only, until it is released', () =>
      using(async (store, time) => {
        const { job } = record(time);
        await store.create({ ...record(time), job });
        const looks = await Promise.all([store.takeDue(look(time))]);
        expect(looks[0]!.jobs.map(({ id }) => id)).toEqual([job.id]);
        expect(await store.takeDue(look(time))).toEqual({ jobs: [], nextDueMs: null });
        await store.update(job.id, started(time));
        expect((await store.takeDue(look(time))).jobs).toEqual([]);
        expect(await store.release(job.id)).toBe(time.nowMs());
        expect((await store.takeDue(look(time))).jobs).toHaveLength(1);
      }));

    it('finds what is due by its time, the longest due first, and says when the next one is', () =>
      using(async (store, time) => {
        const jobs = [5000, 1000, 3000, 0].map((dueMs) => record(time, { dueAtMs: START_MS + dueMs }));
        for (const one of jobs) await store.create(one);
        time.pass(3000);
        const { jobs: taken, nextDueMs } = await store.takeDue(look(time));
        expect(taken.map(({ id }) => id)).toEqual([jobs[3]!.job.id, jobs[1]!.job.id, jobs[2]!.job.id]);
        expect(nextDueMs).toBe(START_MS + 5000);
      }));

    it('keeps within the counts, the bytes and the customers of a look', () =>
      using(async (store, time) => {
        for (let i = 0; i < 4; i++) await store.create(record(time, { customer: 'org:loud' }, 'x'.repeat(100)));
        await store.create(record(time, { customer: 'org:quiet' }, 'x'.repeat(100)));
        const quiet = await store.takeDue(look(time, { without: ['org:loud'] }));
        expect(quiet.jobs.map(({ customer }) => customer)).toEqual(['org:quiet']);
        expect(quiet.nextDueMs).toBeNull();
        const two = await store.takeDue(look(time, { countMax: 2 }));
        expect(two.jobs).toHaveLength(2);
        expect(two.nextDueMs).toBeUndefined();
        const one = await store.takeDue(look(time, { bytesMax: 10 }));
        expect(one.jobs.map(({ byteCount }) => byteCount)).toEqual([100]);
        expect(one.nextDueMs).toBeUndefined();
      }));

    it('counts results that wait for their delivery among the bytes of a look', () =>
      using(async (store, time) => {
        for (let i = 0; i < 2; i++) {
          const made = record(time, {}, 'x'.repeat(10));
          await store.create(made);
          await store.update(made.job.id, ({ job }) => {
            const ended = cancel(job, time.nowMs());
            return ended && { job: ended, resultBody: bytes('y'.repeat(100)) };
          });
        }
        const { jobs, nextDueMs } = await store.takeDue(look(time, { bytesMax: 150 }));
        expect(jobs).toHaveLength(1);
        expect(nextDueMs).toBeUndefined();
      }));

    it('lets steps of one job take turns: each sees what the one before recorded', () =>
      using(async (store, time) => {
        const made = record(time);
        await store.create(made);
        const results = await Promise.all([
          store.update(made.job.id, started(time)),
          store.update(made.job.id, started(time)),
          store.update(made.job.id, ({ job }) => {
            const ended = cancel(job, time.nowMs());
            return ended && { job: ended, secrets: null, resultBody: bytes('"kept"') };
          }),
          store.update(made.job.id, started(time)),
        ]);
        expect(results.map((one) => one?.job.status)).toEqual(['running', undefined, 'cancelled', undefined]);
        const after = await store.find(made.job.id);
        expect(after?.job.attempts.map(({ outcome }) => outcome)).toEqual(['interrupted']);
        expect([after?.secrets, after?.resultBody]).toEqual([null, bytes('"kept"')]);
      }));

    it('forgets a job with its idempotency key, also while it is held', () =>
      using(async (store, time) => {
        const claim = { key: 'a key', fingerprint: 'f' };
        const made = record(time, { idempotency: claim });
        await store.create(made);
        await store.takeDue(look(time));
        await store.remove(made.job.id);
        expect(await store.find(made.job.id)).toBeUndefined();
        expect(await store.release(made.job.id)).toBeUndefined();
        expect(await store.create(record(time, { idempotency: claim }))).toEqual({ kind: 'created' });
      }));

    it('counts the usage of an organization by month, and none for payers', () =>
      using(async (store, time) => {
        const made = record(time);
        await store.create(made);
        await store.create(record(time, { organization: null, customer: 'payer:0x1' }));
        await store.update(made.job.id, started(time));
        await store.update(made.job.id, ({ job }) => ({ job, callbacksDelivered: 1 }));
        const monthMs = monthStartMs(time.nowMs());
        const counts = { retriesCreated: 1, attemptsMade: 1, callbacksDelivered: 1 };
        expect(await store.usage('acme', monthMs)).toEqual(counts);
        expect(await store.usage('acme', monthMs - 1)).toEqual({
          retriesCreated: 0,
          attemptsMade: 0,
          callbacksDelivered: 0,
        });
      }));

    it.runIf(canReopen)('leaves after a kill the charges of the jobs that are there, and no others', () =>
      using(async (store, time, { stores: { accounts }, reopen }) => {
        await give(accounts, 20);
        const rivals = Array.from({ length: 12 }, () => record(time));
        const buying = rivals.map((one) => store.buy(one, 1));
        await buying[random.below(buying.length)];
        const again = await reopen!();
        const found = await Promise.all(rivals.map(({ job }) => again.retries.find(job.id)));
        const jobs = found.filter((one) => one !== undefined).length;
        expect(jobs).toBeGreaterThan(0);
        expect(await again.accounts.usage('acme')).toMatchObject({ charged: jobs, remaining: 20 - jobs });
        await Promise.all(buying);
      }),
    );

    it.runIf(canReopen)('keeps every record over a kill, and frees what the dead process held', () =>
      using(async (store, time, { reopen }) => {
        const [held, waiting] = [record(time), record(time, { dueAtMs: START_MS + 60_000 })];
        await store.create(held);
        await store.create(waiting);
        await store.takeDue(look(time));
        const running = await store.update(held.job.id, started(time));
        const { retries: again } = await reopen!();
        expect(await again.find(held.job.id)).toEqual(running);
        expect(await again.find(waiting.job.id)).toEqual(waiting);
        const { jobs, nextDueMs } = await again.takeDue(look(time));
        expect(jobs.map(({ id }) => id)).toEqual([held.job.id]);
        expect(nextDueMs).toBe(START_MS + 60_000);
        await again.update(held.job.id, ({ job }) => ({ job: endAttempt(job, INTERRUPTED, time.nowMs(), 0)! }));
        expect((await again.usage('acme', monthStartMs(time.nowMs()))).attemptsMade).toBe(1);
      }),
    );

    it.runIf(canReopen)('gives a damaged job like every other, and keeps it from looks once it is set aside', () =>
      using(async (store, time, opened) => {
        const claim = { key: 'a key', fingerprint: 'f' };
        const [bad, good] = [record(time, { idempotency: claim }), record(time, { dueAtMs: START_MS + 1 })];
        await store.create(bad);
        await store.create(good);
        time.pass(1);
        const damaged = await opened.damaged!(bad.job.id);
        const idsOf = async (countMax: number): Promise<string[]> =>
          (await damaged.takeDue(look(time, { countMax }))).jobs.map(({ id }) => id);
        // It is the first, and the only one that this look has room for.
        expect(await idsOf(1)).toEqual([bad.job.id]);
        await expect(damaged.find(bad.job.id)).rejects.toThrow(DamagedJobError);
        await expect(damaged.findByKey('a key')).rejects.toThrow(DamagedJobError);
        await expect(damaged.update(bad.job.id, started(time))).rejects.toThrow(DamagedJobError);
        damaged.setAside(bad.job.id);
        expect(await idsOf(10)).toEqual([good.job.id]);
        expect(await damaged.update(good.job.id, started(time))).toMatchObject({ job: { status: 'running' } });
        await damaged.release(good.job.id);
        expect(await idsOf(10)).toEqual([good.job.id]);
      }),
    );
  });
}
