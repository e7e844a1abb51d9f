/** When the worker looks for due jobs, and what it does with those that it took, over a store whose answers a test gives. */
import { describe, expect, it } from 'vitest';
import type { RetryId } from '../../src/retry/identifier.ts';
import { newJob } from '../../src/retry/job.ts';
import {
  HELD_BYTES_MAX,
  HELD_COUNT_MAX,
  LOOK_PAUSE_MS_MAX,
  TAKEN_BYTES_MAX,
  TAKEN_COUNT_MAX,
} from '../../src/retry/limits.ts';
import { DEFAULT_POLICY } from '../../src/retry/policy.ts';
import {
  DamagedJobError,
  type DueJob,
  type DueQuery,
  type RetryRecord,
  type RetryStore,
  type Taken,
} from '../../src/retry/store.ts';
import { RetryWorker, type WorkerPorts } from '../../src/retry/worker.ts';
import { ManualTime, settle } from '../support/manual-time.ts';
import { heldCountOf } from './model.ts';

const NONE: Taken = { jobs: [], nextDueMs: null };

const dueJob = (name: string, byteCount = 0, customer = `org:${name}`): DueJob => ({
  id: name as RetryId,
  customer,
  byteCount,
});

function opened(lookPauseMs?: number) {
  const time = new ManualTime();
  const looks: DueQuery[] = [];
  const answers: (Taken | Error | Promise<Taken>)[] = [];
  const released: string[] = [];
  const setAside: string[] = [];
  const failures: string[] = [];
  const found: string[] = [];
  /** Job -> what its first step waits for; without it has none. */
  const work = new Map<string, Promise<void>>();
  let loseLease = (): void => {};
  /** Its first step is its expiry. */
  const expiredJob = (id: RetryId): RetryRecord => ({
    job: newJob(
      {
        ...{ id, customer: 'org:acme', organization: 'acme', tokenDigest: null, idempotency: null },
        ...{ policy: DEFAULT_POLICY, deadlineSeconds: 0, hasCallback: false },
      },
      time.nowMs(),
    ),
    secrets: null,
    resultBody: null,
  });
  const store: Partial<RetryStore> = {
    ...(lookPauseMs !== undefined && { lookPauseMs }),
    onLeaseLost(run) {
      loseLease = run;
    },
    async takeDue(query) {
      looks.push(query);
      const answer = await (answers.shift() ?? NONE);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    async find(id) {
      found.push(id);
      const first = work.get(id);
      work.delete(id);
      await first;
      return first === undefined ? undefined : expiredJob(id);
    },
    update: async () => undefined,
    async release(id) {
      released.push(id);
      return undefined;
    },
    setAside: (id) => void setAside.push(id),
  };
  const worker = new RetryWorker({
    ...{ store, clock: time, timers: time },
    onFailure: ({ message }: Error) => void failures.push(message),
  } as unknown as WorkerPorts);
  const passed = async (ms: number): Promise<number> => {
    looks.length = 0;
    time.pass(ms);
    await settle();
    return looks.length;
  };
  return {
    ...{ time, worker, store, looks, answers, released, setAside, failures, found, work, passed },
    loseLease: () => loseLease(),
  };
}

describe('the worker of retries looks', () => {
  it.each([[undefined, LOOK_PAUSE_MS_MAX] as const, [2000, 2000] as const])(
    'again after a pause (of %s ms by its store), also when the next job is due much later',
    async (given, pauseMs) => {
      const { answers, passed, time, worker } = opened(given);
      answers.push(NONE, { jobs: [], nextDueMs: time.nowMs() + 86_400_000 }, NONE);
      worker.start();
      worker.start();
      await settle();
      for (let looks = 0; looks < 3; looks++) {
        expect(await passed(pauseMs - 1)).toBe(0);
        expect(await passed(1)).toBe(1);
      }
      expect(time.pendingCount).toBe(1);
    },
  );

  it('at the time of the job that is due first, with one timer for all', async () => {
    const { passed, time, worker } = opened();
    worker.start();
    await settle();
    worker.wakeAt(time.nowMs() + 5000);
    worker.wakeAt(time.nowMs() + 9000);
    worker.wakeAt(time.nowMs() + 3000);
    expect(time.pendingCount).toBe(1);
    expect(await passed(2999)).toBe(0);
    expect(await passed(1)).toBe(1);
  });

  it('again a second after a failure, and says one that repeats once, unless it had gone', async () => {
    const { answers, failures, passed, worker } = opened();
    const failure = new Error('away');
    answers.push(failure, failure, NONE, failure);
    worker.start();
    await settle();
    expect(await passed(1000)).toBe(1);
    expect(failures).toEqual(['away']);
    expect(await passed(1000)).toBe(1);
    worker.wake();
    await settle();
    expect(failures).toEqual(['away', 'away']);
  });

  it('again after work that failed, and says a failure that repeats once, until some work is done', async () => {
    const { answers, failures, passed, work, worker } = opened();
    const failing = (): void => {
      const failed = Promise.reject(new Error('full'));
      failed.catch(() => {});
      work.set('a', failed);
      answers.push({ jobs: [dueJob('a')], nextDueMs: null });
    };
    failing();
    worker.start();
    await settle();
    for (let i = 0; i < 3; i++) {
      await passed(1000);
      failing();
      worker.wake();
      await settle();
    }
    expect(failures).toEqual(['full']);
    await passed(1000);
    answers.push({ jobs: [dueJob('b')], nextDueMs: null });
    worker.wake();
    await settle();
    failing();
    worker.wake();
    await settle();
    expect(failures).toEqual(['full', 'full']);
  });

  it('again once it has room, and for no more than it has', async () => {
    const { answers, looks, passed, work, worker } = opened();
    const ends: (() => void)[] = [];
    const jobs = ['a', 'b', 'c', 'd'].map((name) => dueJob(name, HELD_BYTES_MAX / 4));
    for (const { id } of jobs) work.set(id, new Promise((resolve) => ends.push(resolve)));
    answers.push({ jobs, nextDueMs: undefined });
    worker.start();
    await settle();
    expect(looks).toHaveLength(1);
    worker.wake();
    expect(await passed(1000)).toBe(0);
    ends[0]!();
    await settle();
    expect(looks).not.toEqual([]);
    for (const { bytesMax } of looks) expect(bytesMax).toBe(TAKEN_BYTES_MAX);
    // Those who hold as much as is left are passed over.
    expect(looks.at(-1)?.without).toEqual(['org:b', 'org:c', 'org:d']);
  });

  it('when it starts, whatever woke it before', async () => {
    const { looks, worker } = opened();
    worker.wake();
    await settle();
    expect(looks).toEqual([]);
    worker.start();
    await settle();
    expect(looks).toHaveLength(1);
  });

  it('once at a time, and once more when it was woken meanwhile', async () => {
    const { answers, looks, worker } = opened();
    const first = Promise.withResolvers<Taken>();
    answers.push(first.promise);
    worker.start();
    await settle();
    for (let i = 0; i < 3; i++) worker.wake();
    await settle();
    expect(looks).toHaveLength(1);
    first.resolve(NONE);
    await settle();
    expect(looks).toHaveLength(2);
  });

  it('for none while it holds as many as it may', async () => {
    const { answers, looks, work, worker } = opened();
    const jobs = Array.from({ length: HELD_COUNT_MAX }, (_, at) => dueJob(`${at}`));
    const ends: (() => void)[] = [];
    for (const { id } of jobs) work.set(id, new Promise((resolve) => ends.push(resolve)));
    answers.push({ jobs, nextDueMs: undefined });
    worker.start();
    await settle();
    worker.wake();
    await settle();
    expect(looks).toHaveLength(1);
    ends[0]!();
    await settle();
    expect(looks.at(-1)).toMatchObject({ countMax: 1 });
  });

  it('for no customer who holds as many jobs as there is room left for', async () => {
    const { answers, looks, work, worker } = opened();
    const jobsOf = (customer: string, count: number): DueJob[] =>
      Array.from({ length: count }, (_, at) => dueJob(`${customer} ${at}`, 0, customer));
    const jobs = [...jobsOf('org:large', HELD_COUNT_MAX - 100), ...jobsOf('org:small', 50), ...jobsOf('org:less', 1)];
    const never = new Promise<void>(() => {});
    for (const { id } of jobs) work.set(id, never);
    answers.push({ jobs, nextDueMs: undefined });
    worker.start();
    await settle();
    const ofOthers = { countMax: 49, without: ['org:large', 'org:small'] };
    expect(looks).toMatchObject([{ countMax: TAKEN_COUNT_MAX, without: [] }, ofOthers, ofOthers]);
  });

  it('for customers who hold few jobs and few bytes before those who hold many, unless it drains', async () => {
    const { answers, looks, released, work, worker } = opened();
    const first = Promise.withResolvers<void>();
    work.set('a', first.promise);
    const few = Promise.withResolvers<Taken>();
    answers.push({ jobs: [dueJob('a', TAKEN_BYTES_MAX)], nextDueMs: undefined }, few.promise);
    worker.start();
    await settle();
    expect(looks.map(({ without }) => without)).toEqual([[], ['org:a']]);
    worker.drain();
    few.resolve({ jobs: [dueJob('b')], nextDueMs: undefined });
    first.resolve();
    await worker.close();
    expect([looks.length, released.sort()]).toEqual([2, ['a', 'b']]);
  });
});

describe('a job that the worker took', () => {
  it.each(['its holder lost its lease', 'another process has ended it', 'it was abandoned here'])(
    'goes no further when %s',
    async (because) => {
      const { answers, found, loseLease, released, work, worker } = opened();
      const first = Promise.withResolvers<void>();
      work.set('a', first.promise);
      answers.push({ jobs: [dueJob('a')], nextDueMs: null });
      worker.start();
      await settle();
      if (because.includes('lease')) loseLease();
      else if (because.includes('here')) worker.abandon('a' as RetryId);
      else {
        answers.push({ ...NONE, abandoned: ['a' as RetryId] });
        worker.wake();
        await settle();
      }
      first.resolve();
      await settle();
      expect([found, released]).toEqual([['a'], ['a']]);
    },
  );

  it('is worked on after its work before a lost lease has failed', async () => {
    const { answers, found, released, time, work, worker } = opened();
    const first = Promise.withResolvers<void>();
    work.set('a', first.promise);
    answers.push({ jobs: [dueJob('a')], nextDueMs: null }, { jobs: [dueJob('a')], nextDueMs: null });
    worker.start();
    await settle();
    worker.wake();
    await settle();
    expect(found).toEqual(['a']);
    first.reject(new Error('the database is away'));
    await settle();
    expect([found, released, heldCountOf(worker)]).toEqual([['a', 'a'], ['a'], 0]);
    time.pass(1000);
    await settle();
    expect(released).toEqual(['a', 'a']);
  });
});

describe('a job that is found damaged as it is released', () => {
  it('is set aside, said once, and held no more', async () => {
    const { answers, failures, setAside, store, work, worker } = opened();
    work.set('a', Promise.resolve());
    store.release = async (id) => {
      throw new DamagedJobError(id, 'its state');
    };
    answers.push({ jobs: [dueJob('a')], nextDueMs: null });
    worker.start();
    await settle();
    expect([setAside, failures, heldCountOf(worker)]).toEqual([['a'], ['retry a is damaged: its state'], 0]);
  });
});

describe('a worker that drains', () => {
  it('releases what a look under way still takes, takes no more, and leaves no timer', async () => {
    const { answers, looks, released, time, worker } = opened();
    const taken = Promise.withResolvers<Taken>();
    answers.push(taken.promise);
    worker.start();
    worker.drain();
    let isClosed = false;
    const closing = worker.close().then(() => {
      isClosed = true;
    });
    await settle();
    expect(isClosed).toBe(false);
    taken.resolve({ jobs: [dueJob('a')], nextDueMs: undefined });
    await closing;
    expect([looks.length, released, time.pendingCount]).toEqual([1, ['a'], 0]);
  });

  it('before it has started never looks', async () => {
    const { looks, worker } = opened();
    worker.drain();
    worker.start();
    await settle();
    expect(looks).toEqual([]);
  });

  it('leaves no timer when it waited for its next look, or for attempts', async () => {
    const idle = opened();
    idle.worker.start();
    await settle();
    await idle.worker.close();
    idle.worker.wakeAt(idle.time.nowMs() + 1000);
    expect(idle.time.pendingCount).toBe(0);

    const busy = opened();
    const first = Promise.withResolvers<void>();
    busy.work.set('a', first.promise);
    busy.answers.push({ jobs: [dueJob('a')], nextDueMs: null });
    busy.worker.start();
    await settle();
    const closing = busy.worker.close();
    first.resolve();
    await closing;
    expect([busy.released, busy.time.pendingCount]).toEqual([['a'], 0]);
  });
});
