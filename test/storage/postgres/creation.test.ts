/** Creations of callbacks and the room that they claim, and failures where nobody waits, over a database whose answers a test gives. */
import { describe, expect, it } from 'vitest';
import type { RateLimits } from '../../../src/base/rate-limits.ts';
import { CLAIM_BYTES, SWEEP_PAUSE_MS } from '../../../src/callback/limits.ts';
import { digestOf } from '../../../src/callback/read-token.ts';
import { PostgresCallbacks } from '../../../src/storage/postgres/callbacks/callbacks.ts';
import type { Row, Statement } from '../../../src/storage/postgres/connections.ts';
import type { Database, RunOptions } from '../../../src/storage/postgres/database.ts';
import { Chance } from '../../support/chance.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';

const ROOM_COUNT = 2;

/** @param created the row of a creation, or how it fails */
function opened(created: (values: readonly unknown[]) => Row | undefined | Promise<never>) {
  const time = new ManualTime();
  const sent: Statement[] = [];
  const patient: string[] = [];
  const faults: unknown[] = [];
  let outage: string | undefined;
  let isSweepFailing = false;
  let claimed = 0;
  let expired = 0;
  const database = {
    fault: () => outage,
    connect: () => Promise.reject(new Error('no connection for hints')),
    async run({ name = '', values = [] }: Statement, { isPatient }: RunOptions = {}): Promise<readonly Row[]> {
      sent.push({ name, text: '', values });
      if (isPatient) patient.push(name);
      if (name === 'claim-callbacks') {
        const held = (values[0] as string[]).slice(0, Math.max(0, ROOM_COUNT - claimed));
        claimed += held.length;
        return [{ held, claimed }];
      }
      if (/^(sweep|forget|count)-/.test(name)) {
        if (isSweepFailing) throw new Error('a sweep');
        claimed -= expired;
        expired = 0;
        return [{ count: 0, claimed, live: 0, over: 0, unknown: 0 }];
      }
      if (name === 'give-back-claim') {
        if (outage !== undefined) await new Promise(() => {});
        return [{ claimed: --claimed }];
      }
      const row = await created(values);
      return row === undefined ? [] : [{ now_ms: time.nowMs(), expires_ms: time.nowMs() + 1, ...row }];
    },
  } as unknown as Database;
  const rateLimits: RateLimits = { open: () => ({ tryPass: () => 0, peek: () => 0 }) };
  const ports = { clock: time, timers: time, random: new Chance(1), database, rateLimits, processId: 'one' };
  const callbacks = new PostgresCallbacks(ROOM_COUNT * CLAIM_BYTES, {
    ...ports,
    onFailure: (fault) => void faults.push((fault as Error).message),
  });
  const countOf = (): number => callbacks.capacity.claimedBytes / CLAIM_BYTES;
  const valuesOf = (name: string): (readonly unknown[])[] =>
    sent.filter((one) => one.name === name).map(({ values = [] }) => values);
  const failSweeps = (isFailing: boolean, because?: string): void => {
    isSweepFailing = isFailing;
    outage = because;
  };
  /** A sweep finds this many that are over. */
  const expire = (count: number): void => {
    expired = count;
  };
  return { time, callbacks, countOf, patient, valuesOf, faults, failSweeps, expire };
}

const isNew = ([, token_digest]: readonly unknown[]): Row => ({ token_digest, is_new: true });

/** The id of the first claim. */
const claimOf = (values: readonly (readonly unknown[])[]): unknown => (values as string[][][])[0]?.[0]?.[0];

describe('room for callbacks', () => {
  it('is claimed by those of one turn together, and again only where a sweep has made some', async () => {
    const { callbacks, valuesOf, expire } = opened(isNew);
    const { capacity } = callbacks;
    const claims = (): number => valuesOf('claim-callbacks').length;
    expect(await capacity.isFree()).toBe(true);
    expect(await Promise.all([1, 2, 3].map(() => capacity.tryClaim()))).toEqual([true, true, false]);
    expect([await capacity.isFree(), claims()]).toEqual([false, 1]);
    expect([await capacity.tryClaim(), claims()]).toEqual([false, 2]);
    expire(1);
    expect([await capacity.tryClaim(), claims()]).toEqual([true, 4]);
    expect(await capacity.isFree()).toBe(false);
    expire(1);
    expect(await capacity.isFree()).toBe(true);
  });
});

describe('a callback that is created', () => {
  it('takes the oldest claim of its process, or its room unasked', async () => {
    const { callbacks, countOf, patient, valuesOf } = opened(isNew);
    await callbacks.capacity.tryClaim();
    await callbacks.create(callbacks.draft());
    expect([countOf(), callbacks.counts.live]).toEqual([1, 1]);
    await callbacks.create(callbacks.draft());
    expect([countOf(), callbacks.counts.live]).toEqual([2, 2]);
    expect(valuesOf('create-callback').map((values) => values[2])).toEqual([claimOf(valuesOf('claim-callbacks')), '']);
    expect(patient).toEqual(['create-callback', 'create-callback']);
  });

  it('gives its claim back where it was made before, or cannot be made', async () => {
    const before = opened(([, token_digest]) => ({ token_digest, is_new: false }));
    await before.callbacks.capacity.tryClaim();
    await before.callbacks.create(before.callbacks.draft());
    expect([before.countOf(), before.callbacks.counts.live]).toEqual([0, 0]);

    const failing = opened(() => {
      throw new Error('away');
    });
    await failing.callbacks.capacity.tryClaim();
    await expect(failing.callbacks.create(failing.callbacks.draft())).rejects.toThrow('away');
    expect(failing.valuesOf('give-back-claim')).toEqual([[claimOf(failing.valuesOf('claim-callbacks'))]]);
    expect(failing.countOf()).toBe(0);
    await failing.callbacks.capacity.release();
    expect(failing.valuesOf('give-back-claim')).toHaveLength(1);
  });

  it('gives its claim back without keeping its client waiting for a database that is away', async () => {
    const { callbacks, valuesOf, failSweeps } = opened(() => {
      throw new Error('away');
    });
    await Promise.all([callbacks.capacity.tryClaim(), callbacks.capacity.tryClaim()]);
    failSweeps(false, 'the database is away');
    expect(callbacks.capacity.release()).toBeUndefined();
    await expect(callbacks.create(callbacks.draft())).rejects.toThrow('away');
    expect(valuesOf('give-back-claim')).toHaveLength(2);
  });

  it('gives back no claim of another purchase where it had none', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const { callbacks, countOf, valuesOf } = opened(() => promise);
    const creating = callbacks.create(callbacks.draft());
    expect(await callbacks.capacity.tryClaim()).toBe(true);
    reject(new Error('away'));
    await expect(creating).rejects.toThrow('away');
    expect([countOf(), valuesOf('give-back-claim')]).toEqual([1, []]);
  });

  it('is asked for again while another makes it, and is not one that has ended or has another token', async () => {
    let tries = 0;
    const late = opened((values) => (++tries < 3 ? undefined : isNew(values)));
    await late.callbacks.create(late.callbacks.draft());
    expect(tries).toBe(3);
    for (const row of [{ expires_ms: 0 }, { token_digest: digestOf('another') }]) {
      const { callbacks } = opened((values) => ({ ...isNew(values), is_new: false, ...row }));
      await expect(callbacks.create(callbacks.draft())).rejects.toThrow('has ended');
    }
  });
});

describe('a sweep that fails', () => {
  it('is said, unless the database is away, and the next one comes', async () => {
    const { callbacks, failSweeps, faults, time, valuesOf } = opened(isNew);
    await callbacks.start();
    for (const [because, said] of [
      ['away', []],
      [undefined, ['a sweep']],
    ] as const) {
      failSweeps(true, because);
      time.pass(SWEEP_PAUSE_MS);
      await settle();
      expect(faults).toEqual(said);
    }
    failSweeps(false);
    time.pass(SWEEP_PAUSE_MS);
    await settle();
    expect(valuesOf('count-callbacks')).toHaveLength(2);
    callbacks.close();
    await callbacks.ended();
    expect(time.pendingCount).toBe(0);
  });

  it('fails a start, which leaves no timer', async () => {
    const { callbacks, failSweeps, time } = opened(isNew);
    failSweeps(true);
    await expect(callbacks.start()).rejects.toThrow('a sweep');
    expect(time.pendingCount).toBe(0);
  });
});
