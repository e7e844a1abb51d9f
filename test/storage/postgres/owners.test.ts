/** The lease of a process, over a database whose answers a test holds back. */
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/base/random.ts';
import type { Row, Statement } from '../../../src/storage/postgres/connections.ts';
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
  const renewals = { answer: async (): Promise<void> => {} };
  /** The last renewals of the other processes. */
  const others = new Map<string, number>();
  let fault: string | undefined;
  let onProbed: (row: Row, sentMs: number) => void;
  const database = {
    probeWith(_: Statement, run: typeof onProbed) {
      onProbed = run;
    },
    fault: () => fault,
    async probe() {
      const sentMs = time.monotonicMs();
      await renewals.answer();
      done.push('renewed');
      onProbed({ tables: 'these' }, sentMs);
    },
    async run({ name, values = [] }: Statement) {
      if (fault !== undefined) throw new DatabaseAwayError(fault);
      if (name !== 'remove-dead-processes') done.push(values[0] === owner.id ? 'ended' : 'ended another');
      const [, dead, seen] = values as [string, string[], number[]];
      for (const [i, id] of (dead ?? []).entries()) {
        if (others.get(id) === seen[i] && others.delete(id)) done.push(`removed ${id}`);
      }
      return [...others].map(([id, renewal]) => ({ id, renewal }));
    },
  } as unknown as Database;
  const owner = new Owner(database, {
    clock: time,
    timers: time,
    random: systemRandom,
    onFailure: (failure) => void failures.push(failure),
  });
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
  return { owner, database, time, done, failures, renewals, others, passed, setFault };
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

  it('that another has not renewed is removed after a whole lease of contact, counted from the last break', async () => {
    const { owner, others, passed, renewals } = opened();
    await owner.start();
    others.set('dead', 1);
    others.set('living', 1);
    const looked = (): Promise<string[]> => {
      others.set('living', (others.get('living') as number) + 1);
      return passed(LOOK_MS);
    };
    for (let i = 0; i < 4; i++) expect(await looked()).toEqual(['renewed']);
    renewals.answer = AWAY;
    expect(await looked()).toEqual([]);
    renewals.answer = async () => {};
    // The first look sees it, and the first that begins a lease later removes it.
    for (let i = 0; i < 4; i++) expect(await looked()).toEqual(['renewed']);
    expect(await looked()).toEqual(['renewed', 'removed dead']);
    for (let i = 0; i < 9; i++) expect(await looked()).toEqual(['renewed']);
  });

  it('that another has not renewed is left for another lease after looks that the database refused', async () => {
    const { owner, others, passed, setFault } = opened();
    await owner.start();
    others.set('late', 1);
    expect(await passed(LOOK_MS)).toEqual(['renewed']);
    setFault('other tables');
    for (let i = 0; i < 4; i++) expect(await passed(LOOK_MS)).toEqual(['renewed']);
    setFault(undefined);
    for (let i = 0; i < 4; i++) expect(await passed(LOOK_MS)).toEqual(['renewed']);
    expect(await passed(LOOK_MS)).toEqual(['renewed', 'removed late']);
  });

  it('that another has not renewed is left for another lease when the process that looks stood still', async () => {
    const { owner, others, passed } = opened();
    await owner.start();
    others.set('dead', 1);
    expect(await passed(LOOK_MS)).toEqual(['renewed']);
    expect(await passed(6 * LEASE_MS)).toEqual(['lost', 'renewed']);
    let passedMs = 0;
    while (!(await passed(LOOK_MS)).includes('removed dead')) passedMs += LOOK_MS;
    expect(passedMs).toBeGreaterThanOrEqual(LEASE_MS);
  });

  it('that another renews just before its row is removed stays', async () => {
    const { owner, others, passed, renewals } = opened();
    await owner.start();
    others.set('late', 1);
    for (let i = 0; i < 4; i++) await passed(LOOK_MS);
    renewals.answer = async () => void others.set('late', 2);
    expect(await passed(LOOK_MS)).toEqual(['renewed']);
    renewals.answer = async () => {};
    for (let i = 0; i < 3; i++) expect(await passed(LOOK_MS)).toEqual(['renewed']);
    expect(await passed(LOOK_MS)).toEqual(['renewed', 'removed late']);
  });

  it('is renewed by the probes of outages, which may meet all its own renewals', async () => {
    const { database, owner, passed, renewals } = opened();
    await owner.start();
    for (let i = 0; i < 9; i++) {
      renewals.answer = AWAY;
      expect(await passed(LOOK_MS)).toEqual([]);
      renewals.answer = async () => {};
      await database.probe();
    }
    expect(owner.isLeaseLost).toBe(false);
  });

  it('that another has not renewed is left for another lease when a probe ends the time without contact', async () => {
    const { database, owner, others, passed, renewals } = opened();
    await owner.start();
    others.set('late', 1);
    expect(await passed(LOOK_MS)).toEqual(['renewed']);
    const { promise, resolve } = Promise.withResolvers<void>();
    // The renewal waits for its answer meanwhile.
    renewals.answer = () => promise;
    expect(await passed(LOOK_MS + LEASE_MS)).toEqual(['lost']);
    renewals.answer = async () => {};
    await database.probe();
    resolve();
    for (let i = 0; i < 4; i++) expect(await passed(LOOK_MS)).not.toContain('removed late');
    expect(await passed(LOOK_MS)).toEqual(['renewed', 'removed late']);
  });

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

  it('that was renewed for a decision is not lost to an earlier renewal that is answered later', async () => {
    const { done, owner, passed, renewals } = opened();
    await owner.start();
    const { promise, resolve } = Promise.withResolvers<void>();
    renewals.answer = () => promise;
    expect(await passed(LOOK_MS + LEASE_MS)).toEqual(['lost']);
    renewals.answer = async () => {};
    await owner.renewLostLease();
    resolve();
    await settle();
    expect([done, owner.isLeaseLost]).toEqual([['lost', 'renewed', 'renewed'], false]);
    expect(await passed(LOOK_MS)).toEqual(['renewed']);
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
    expect([idle.time.pendingCount, idle.owner.isLeaseLost]).toEqual([0, true]);
    await expect(idle.owner.renewLostLease()).rejects.toBeInstanceOf(DatabaseAwayError);
  });

  it('is renewed while a look takes long, without a second look, and ends after that look', async () => {
    const { done, owner, passed } = opened();
    const { promise, resolve } = Promise.withResolvers<void>();
    owner.onLook(async () => {
      done.push('looks');
      await promise;
      done.push('looked');
    });
    await owner.start();
    expect(await passed(LOOK_MS)).toEqual(['renewed', 'looks']);
    expect(await passed(LOOK_MS)).toEqual(['renewed']);
    const ending = owner.end();
    expect(await passed(LOOK_MS)).toEqual([]);
    resolve();
    await ending;
    expect(done).toEqual(['looked', 'ended']);
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
