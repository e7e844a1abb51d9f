/** Creations of callbacks and the room that they claim, over a database whose answers a test gives. */
import { describe, expect, it } from 'vitest';
import type { RateLimits } from '../../../src/base/rate-limits.ts';
import { CLAIM_BYTES } from '../../../src/callback/limits.ts';
import { digestOf } from '../../../src/callback/read-token.ts';
import { PostgresCallbacks } from '../../../src/storage/postgres/callbacks/callbacks.ts';
import type { Row, Statement } from '../../../src/storage/postgres/connections.ts';
import type { Database, RunOptions } from '../../../src/storage/postgres/database.ts';
import { Chance } from '../../support/chance.ts';
import { ManualTime } from '../../support/manual-time.ts';

const ROOM_COUNT = 2;

/** @param created the row of a creation, or how it fails */
function opened(created: (values: readonly unknown[]) => Row | undefined | Promise<never>) {
  const time = new ManualTime();
  const sent: Statement[] = [];
  const patient: string[] = [];
  let claimed = 0;
  const database = {
    fault: () => undefined,
    async run({ name = '', values = [] }: Statement, { isPatient }: RunOptions = {}): Promise<readonly Row[]> {
      sent.push({ name, text: '', values });
      if (isPatient) patient.push(name);
      if (name === 'claim-callbacks') {
        const ids = values[0] as string[];
        claimed += ids.length;
        return [{ held: ids, claimed }];
      }
      if (name === 'give-back-claim') return [{ claimed: --claimed }];
      const row = await created(values);
      return row === undefined ? [] : [{ now_ms: time.nowMs(), expires_ms: time.nowMs() + 1, ...row }];
    },
  } as unknown as Database;
  const rateLimits: RateLimits = { open: () => ({ tryPass: () => 0, peek: () => 0 }) };
  const ports = { clock: time, timers: time, random: new Chance(1), database, rateLimits, processId: 'one' };
  const callbacks = new PostgresCallbacks(ROOM_COUNT * CLAIM_BYTES, {
    ...ports,
    onFault(fault) {
      throw fault;
    },
  });
  const countOf = (): number => callbacks.capacity.claimedBytes / CLAIM_BYTES;
  const valuesOf = (name: string): (readonly unknown[])[] =>
    sent.filter((one) => one.name === name).map(({ values = [] }) => values);
  return { time, callbacks, countOf, patient, valuesOf };
}

const isNew = ([, token_digest]: readonly unknown[]): Row => ({ token_digest, is_new: true });

/** The id of the first claim. */
const claimOf = (values: readonly (readonly unknown[])[]): unknown => (values as string[][][])[0]?.[0]?.[0];

describe('a callback that is created', () => {
  it('takes the oldest claim of its process, or its room unasked', async () => {
    const { callbacks, countOf, patient, valuesOf } = opened(isNew);
    await callbacks.capacity.tryClaim();
    await callbacks.create();
    expect([countOf(), callbacks.counts.live]).toEqual([1, 1]);
    await callbacks.create();
    expect([countOf(), callbacks.counts.live]).toEqual([2, 2]);
    expect(valuesOf('create-callback').map((values) => values[2])).toEqual([claimOf(valuesOf('claim-callbacks')), '']);
    expect(patient).toEqual(['create-callback', 'create-callback']);
  });

  it('gives its claim back where it was made before, or cannot be made', async () => {
    const before = opened(([, token_digest]) => ({ token_digest, is_new: false }));
    await before.callbacks.capacity.tryClaim();
    await before.callbacks.create();
    expect([before.countOf(), before.callbacks.counts.live]).toEqual([0, 0]);

    const failing = opened(() => {
      throw new Error('away');
    });
    await failing.callbacks.capacity.tryClaim();
    await expect(failing.callbacks.create()).rejects.toThrow('away');
    expect(failing.valuesOf('give-back-claim')).toEqual([[claimOf(failing.valuesOf('claim-callbacks'))]]);
    expect(failing.countOf()).toBe(0);
    await failing.callbacks.capacity.release();
    expect(failing.valuesOf('give-back-claim')).toHaveLength(1);
  });

  it('gives back no claim of another purchase where it had none', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const { callbacks, countOf, valuesOf } = opened(() => promise);
    const creating = callbacks.create();
    expect(await callbacks.capacity.tryClaim()).toBe(true);
    reject(new Error('away'));
    await expect(creating).rejects.toThrow('away');
    expect([countOf(), valuesOf('give-back-claim')]).toEqual([1, []]);
  });

  it('is asked for again while another makes it, and is not one that has ended or has another token', async () => {
    let tries = 0;
    const late = opened((values) => (++tries < 3 ? undefined : isNew(values)));
    await late.callbacks.create();
    expect(tries).toBe(3);
    for (const row of [{ expires_ms: 0 }, { token_digest: digestOf('another') }]) {
      const { callbacks } = opened((values) => ({ ...isNew(values), is_new: false, ...row }));
      await expect(callbacks.create()).rejects.toThrow('has ended');
    }
  });
});
