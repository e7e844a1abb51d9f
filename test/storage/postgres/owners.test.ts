/** The lease of a process, over a database whose answers a test holds back. */
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/base/random.ts';
import type { Statement } from '../../../src/storage/postgres/connections.ts';
import type { Database } from '../../../src/storage/postgres/database.ts';
import { DatabaseAwayError } from '../../../src/storage/postgres/failures.ts';
import { LEASE_MS, LOOK_MS, Owner } from '../../../src/storage/postgres/owners.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';

const AWAY = (): Promise<void> => Promise.reject(new Error('away'));

function opened() {
  const time = new ManualTime();
  /** What was carried out, and what the owner did. */
  const done: string[] = [];
  const failures: unknown[] = [];
  const renewals = { answer: async (): Promise<void> => {}, aheadMs: 0 };
  let fault: string | undefined;
  const database = {
    probeWith() {},
    fault: () => fault,
    get aheadMs() {
      return renewals.aheadMs;
    },
    async probe() {
      await renewals.answer();
      done.push('renewed');
    },
    async run({ name = 'ended' }: Statement) {
      done.push(name);
      return [];
    },
  } as unknown as Database;
  const owner = new Owner(database, {
    clock: time,
    timers: time,
    random: systemRandom,
    onFailure: (failure) => void failures.push(failure),
  });
  owner.onDead(async () => void done.push('took over'));
  owner.onLeaseLost(() => done.push('lost'));
  /** @returns what was done in that time, and in what follows at once */
  const passed = async (ms: number): Promise<string[]> => {
    done.length = 0;
    time.pass(ms);
    await settle();
    return [...done];
  };
  const setFault = (what: string | undefined): void => {
    fault = what;
  };
  return { owner, time, done, failures, renewals, passed, setFault };
}

describe('a lease', () => {
  it('lasts from the request for it on, however late its answer comes', async () => {
    const { owner, passed, renewals } = opened();
    const { promise, resolve } = Promise.withResolvers<void>();
    renewals.answer = () => promise;
    const starting = owner.start();
    const LATE_MS = 2000;
    expect(await passed(LATE_MS)).toEqual([]);
    resolve();
    await starting;
    renewals.answer = AWAY;
    for (let leftMs = LEASE_MS - LATE_MS - 1001; leftMs > 0; leftMs -= LOOK_MS)
      expect(await passed(Math.min(leftMs, LOOK_MS))).not.toContain('lost');
    expect(await passed(1)).toEqual(['lost']);
  });

  it('lets its process take nothing over for a whole lease after a renewal that failed', async () => {
    const { owner, passed, renewals } = opened();
    await owner.start();
    for (let passedMs = LOOK_MS; passedMs < LEASE_MS; passedMs += LOOK_MS)
      expect(await passed(LOOK_MS)).toEqual(['renewed']);
    expect(await passed(LOOK_MS)).toEqual(['renewed', 'took over', 'forget-processes']);
    renewals.answer = AWAY;
    expect(await passed(LOOK_MS)).toEqual([]);
    renewals.answer = async () => {};
    for (let passedMs = 0; passedMs < LEASE_MS; passedMs += LOOK_MS) expect(await passed(LOOK_MS)).toEqual(['renewed']);
    expect(await passed(LOOK_MS)).toEqual(['renewed', 'took over', 'forget-processes']);
  });

  it.each(['fails', "finds the database's clock set ahead"])(
    'lets its process take no more over once a renewal %s in the middle of a look',
    async (what) => {
      const { done, owner, passed, renewals } = opened();
      const { promise, resolve } = Promise.withResolvers<void>();
      owner.onDead(() => promise);
      owner.onDead(async () => void done.push('took over again'));
      await owner.start();
      for (let passedMs = LOOK_MS; passedMs < LEASE_MS; passedMs += LOOK_MS) await passed(LOOK_MS);
      expect(await passed(LOOK_MS)).toEqual(['renewed', 'took over']);
      if (what === 'fails') renewals.answer = AWAY;
      else renewals.aheadMs = LEASE_MS;
      await passed(LOOK_MS);
      done.length = 0;
      resolve();
      await settle();
      expect(done).toEqual([]);
    },
  );

  it('that ran out is renewed once for all decisions that wait for it then', async () => {
    const { done, owner, passed, renewals } = opened();
    await owner.start();
    renewals.answer = AWAY;
    await passed(LEASE_MS);
    const decisions = (): Promise<unknown> => Promise.all([owner.renewLostLease(), owner.renewLostLease()]);
    await expect(decisions()).rejects.toThrow('away');
    renewals.answer = async () => {};
    done.length = 0;
    await decisions();
    await owner.renewLostLease();
    expect([done, owner.isLeaseLost]).toEqual([['renewed'], false]);
  });

  it('ends after a renewal that is under way, and leaves no timer', async () => {
    const { done, owner, passed, renewals, time } = opened();
    await owner.start();
    const { promise, resolve } = Promise.withResolvers<void>();
    renewals.answer = () => promise;
    expect(await passed(LOOK_MS)).toEqual([]);
    const ending = owner.end();
    await settle();
    expect([done, time.pendingCount]).toEqual([[], 0]);
    resolve();
    await ending;
    expect([done, time.pendingCount]).toEqual([['renewed', 'ended'], 0]);

    const idle = opened();
    await idle.owner.start();
    await idle.owner.end();
    expect(idle.time.pendingCount).toBe(0);
  });

  it('that has ended is renewed by no decision, also by one that waits for it then', async () => {
    const { done, owner, passed, renewals } = opened();
    await owner.start();
    renewals.answer = AWAY;
    await passed(LEASE_MS);
    const { promise, resolve } = Promise.withResolvers<void>();
    renewals.answer = () => promise;
    done.length = 0;
    const decision = owner.renewLostLease();
    const ending = owner.end();
    await expect(owner.renewLostLease()).rejects.toBeInstanceOf(DatabaseAwayError);
    resolve();
    await Promise.all([decision, ending]);
    expect(done).toEqual(['renewed', 'ended']);
  });

  it('says what failed in a look, unless the database is away', async () => {
    const { failures, owner, passed, setFault } = opened();
    owner.onLook(() => Promise.reject(new Error('a look')));
    await owner.start();
    setFault('away');
    await passed(LOOK_MS);
    expect(failures).toEqual([]);
    setFault(undefined);
    await passed(LOOK_MS);
    expect(failures).toEqual([new Error('a look')]);
  });
});
