/** Claims of idempotency keys: one request has a key at a time (siblings §6). */
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/base/random.ts';
import { newRetryId } from '../../src/retry/identifier.ts';
import { newJob, type RetryJob } from '../../src/retry/job.ts';
import { CLAIM_PAUSE_MS, CLAIM_WAIT_MS_MAX, KEPT_MS } from '../../src/retry/limits.ts';
import { DEFAULT_POLICY } from '../../src/retry/policy.ts';
import { Retries, type RetriesPorts } from '../../src/retry/retries.ts';
import type { RetryStore } from '../../src/retry/store.ts';
import { ManualTime, settle } from '../support/manual-time.ts';

const BODY = new TextEncoder().encode('{}');
const KEY = 'a-key-of-its-customer';

function opened(shared: Partial<RetryStore> = {}) {
  const time = new ManualTime();
  const jobs = new Map<string, RetryJob>();
  const removed: string[] = [];
  let failure: Error | undefined;
  const store: Partial<RetryStore> = {
    async findByKey(key) {
      if (failure !== undefined) throw failure;
      return jobs.get(key);
    },
    async remove(id) {
      removed.push(id);
      jobs.clear();
    },
    ...shared,
  };
  const retries = new Retries({ store, clock: time, timers: time, random: systemRandom } as unknown as RetriesPorts);
  return {
    time,
    jobs,
    removed,
    claim: () => retries.claim('org:acme', KEY, BODY),
    fail(with_: Error | undefined): void {
      failure = with_;
    },
  };
}

async function claimed(claim: ReturnType<Retries['claim']>) {
  const result = await claim;
  if (result.kind !== 'claimed') throw new Error(result.kind);
  return result;
}

describe('an idempotency key', () => {
  it('goes from one of many requests to the next, whatever is released twice', async () => {
    const { claim, time } = opened();
    const first = await claimed(claim());
    const results: string[] = [];
    const another = async (number: number) => {
      const one = await claimed(claim());
      results.push(`claimed ${number}`);
      return one;
    };
    const waiting = [another(1), another(2)] as const;
    await settle();
    expect(results).toEqual([]);
    first.release();
    const second = await waiting[0];
    first.release();
    const late = another(3);
    await settle();
    expect(results).toEqual(['claimed 1']);
    second.release();
    (await waiting[1]).release();
    (await late).release();
    expect(results).toEqual(['claimed 1', 'claimed 2', 'claimed 3']);
    expect(time.pendingCount).toBe(0);
  });

  it('is not waited for without end, however many have it one after the other', async () => {
    const { claim, time } = opened();
    const first = await claimed(claim());
    const [second, third] = [claimed(claim()), claim()];
    await settle();
    time.pass(CLAIM_WAIT_MS_MAX - 1);
    first.release();
    await second;
    await settle();
    time.pass(1);
    expect(await third).toEqual({ kind: 'under-way' });
    expect(time.pendingCount).toBe(0);
  });

  it('is free again when the state could not say whether it has a job', async () => {
    const { claim, fail } = opened();
    fail(new Error('away'));
    await expect(claim()).rejects.toThrow('away');
    fail(undefined);
    await claimed(claim());
  });

  it('has its job for as long as that can be read', async () => {
    const { claim, jobs, removed, time } = opened();
    const { claim: idempotency, release } = await claimed(claim());
    const draft = {
      ...{ id: newRetryId(systemRandom), customer: 'org:acme', organization: 'acme', tokenDigest: null, idempotency },
      ...{ policy: DEFAULT_POLICY, deadlineSeconds: 60, hasCallback: false },
    };
    const job: RetryJob = { ...newJob(draft, time.nowMs()), status: 'succeeded', endedAtMs: time.nowMs() };
    jobs.set(idempotency.key, job);
    release();
    time.stepWall(KEPT_MS - 1);
    expect(await claim()).toEqual({ kind: 'existing', job });
    time.stepWall(1);
    await claimed(claim());
    expect(removed).toEqual([job.id]);
  });

  it('is requested repeatedly while another process has it, and then released for all processes', async () => {
    const given: string[] = [];
    let isTaken = true;
    const { claim, time } = opened({
      claimKey: async () => !isTaken,
      async releaseKey(_, by) {
        given.push(by);
        throw new Error('away');
      },
    });
    const claiming = claimed(claim());
    for (let tries = 0; tries < 3; tries++) {
      await settle();
      expect(time.pendingCount).toBe(1);
      if (tries === 2) isTaken = false;
      time.pass(100);
    }
    (await claiming).release();
    await settle();
    expect(given).toHaveLength(1);
  });

  it('is not waited for without end while another process has it, and then given up for all processes', async () => {
    const given: string[] = [];
    const { claim, time } = opened({
      claimKey: async () => false,
      releaseKey: async (_, by) => void given.push(by),
    });
    let result: unknown;
    void claim().then((found) => {
      result = found;
    });
    for (let leftMs = CLAIM_WAIT_MS_MAX; leftMs > 0; leftMs -= CLAIM_PAUSE_MS) {
      await settle();
      expect(result).toBeUndefined();
      time.pass(CLAIM_PAUSE_MS);
    }
    await settle();
    expect([result, time.pendingCount, given.length]).toEqual([{ kind: 'under-way' }, 0, 1]);
  });
});
