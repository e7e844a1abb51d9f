/** Looks of a process that shares a database (siblings §9). */
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemRandom } from '../../../src/base/random.ts';
import { Database, LATE_MS } from '../../../src/storage/postgres/database.ts';
import { hasNoRow, LEASE_MS, LOOK_MS, mayBeTaken, Owner, ownerIsDead } from '../../../src/storage/postgres/owners.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { SERVER, testDatabase } from '../../support/postgres-database.ts';
import { pause } from '../../support/until.ts';

interface OpenedOwner {
  readonly time: ManualTime;
  readonly database: Database;
  readonly owner: Owner;
  readonly failures: string[];
}

/** An owner that has not started. */
async function openedOwner(): Promise<OpenedOwner> {
  const time = new ManualTime();
  const on = await testDatabase(SERVER!, time);
  const ports = { clock: time, timers: time };
  const database = new Database(on.connections(), { ...ports, onFault() {} });
  const failures: string[] = [];
  const owner = new Owner(database, {
    ...ports,
    random: systemRandom,
    onFailure: (failure) => void failures.push((failure as Error).message),
  });
  onTestFinished(async () => {
    await owner.end();
    await database.close();
    await on.remove();
  });
  return { time, database, owner, failures };
}

describe.skipIf(SERVER === undefined)('a look', () => {
  it('that fails is reported, and stops no other', async () => {
    const { failures, owner, time } = await openedOwner();
    const failing = (what: string) => async (): Promise<void> => {
      throw new Error(what);
    };
    const done: string[] = [];
    owner.onLook(failing('look'));
    owner.onLook(async () => void done.push('look'));
    owner.onDead(failing('take-over'));
    owner.onDead(async () => void done.push('take-over'));
    await owner.start();
    for (let passedMs = 0; passedMs <= LEASE_MS; passedMs += LOOK_MS) {
      const before = done.length;
      time.pass(LOOK_MS);
      await expect.poll(() => done.length).toBeGreaterThan(before);
    }
    await expect.poll(() => done).toContain('take-over');
    expect(new Set(failures)).toEqual(new Set(['look', 'take-over']));
  });
});

describe.skipIf(SERVER === undefined)('a process that stood still', () => {
  it('takes nothing over before the others had time to renew their leases', async () => {
    const { owner, time } = await openedOwner();
    const done: string[] = [];
    owner.onLook(async () => void done.push('look'));
    owner.onDead(async () => void done.push('take-over'));
    await owner.start();
    const looked = async (passedMs: number): Promise<string[]> => {
      done.length = 0;
      time.pass(passedMs);
      await expect.poll(() => done).not.toEqual([]);
      await pause(50);
      return [...done];
    };
    for (let passedMs = LOOK_MS; passedMs < LEASE_MS; passedMs += LOOK_MS)
      expect(await looked(LOOK_MS)).toEqual(['look']);
    expect(await looked(LOOK_MS)).toEqual(['look', 'take-over']);
    expect(await looked(6 * LEASE_MS)).toEqual(['look']);
  });

  it("takes nothing over for a lease after the database's clock was set ahead", async () => {
    const { owner, time } = await openedOwner();
    let takeOverCount = 0;
    owner.onDead(async () => void takeOverCount++);
    await owner.start();
    const passed = async (): Promise<number> => {
      time.pass(LOOK_MS);
      await pause(50);
      return takeOverCount;
    };
    await expect.poll(passed, { timeout: 5000 }).toBeGreaterThan(0);
    takeOverCount = 0;
    time.stepWall(2 * LEASE_MS);
    for (let passedMs = 0; passedMs < LEASE_MS; passedMs += LOOK_MS) expect(await passed()).toBe(0);
    await expect.poll(passed, { timeout: 5000 }).toBeGreaterThan(0);
  });
});

describe.skipIf(SERVER === undefined)('a lease', () => {
  it('that cannot be renewed is lost once, before another process may take over, and holds again once it is', async () => {
    const { database, owner, time } = await openedOwner();
    let losses = 0;
    owner.onLeaseLost(() => losses++);
    await owner.start();
    const renewing = { text: 'SELECT paygrade.now_ms() AS now_ms' };
    database.probeWith({ text: 'SELECT 1 / 0' });
    time.pass(LEASE_MS - 1001);
    expect(losses).toBe(0);
    time.pass(1);
    expect(losses).toBe(1);
    time.pass(10 * LEASE_MS);
    expect(losses).toBe(1);
    await expect(owner.renewLostLease()).rejects.toThrow('division by zero');
    database.probeWith(renewing);
    await owner.renewLostLease();
    database.probeWith({ text: 'SELECT 1 / 0' });
    // It holds, so nothing is asked.
    await owner.renewLostLease();
    time.pass(LEASE_MS);
    expect(losses).toBe(2);
  });

  it('that has run out, or does not exist, makes its process a dead one', async () => {
    const { database, owner, time } = await openedOwner();
    await owner.start();
    const isDead = async (id: string): Promise<unknown> => {
      const [row] = await database.run({
        text: `SELECT ${ownerIsDead('holder')} AS is_dead, ${hasNoRow('holder')} AS has_no_row FROM (SELECT $1::text AS holder) AS held`,
        values: [id],
      });
      return row;
    };
    time.stepWall(LEASE_MS);
    expect(await isDead(owner.id)).toEqual({ is_dead: false, has_no_row: false });
    time.stepWall(1);
    expect(await isDead(owner.id)).toEqual({ is_dead: true, has_no_row: false });
    expect(await isDead('another')).toEqual({ is_dead: true, has_no_row: true });
  });

  it("is another one's to judge only while that one has more than half of its own left, by the same clock", async () => {
    const { database, owner, time } = await openedOwner();
    await owner.start();
    const mayBeTakenBy = async (id: string): Promise<unknown> => {
      const text = `SELECT ${mayBeTaken('holder')} AS it_may FROM (SELECT $2::text AS holder) AS held`;
      return (await database.run({ text, values: [id, 'dead'] }))[0]?.it_may;
    };
    time.stepWall(LEASE_MS / 2);
    expect(await mayBeTakenBy(owner.id)).toBe(true);
    // Set ahead since the renewal: another that lives may look dead.
    time.stepWall(1);
    expect(await mayBeTakenBy(owner.id)).toBe(false);
    expect(await mayBeTakenBy('unknown')).toBe(false);
    await database.probe();
    expect(await mayBeTakenBy(owner.id)).toBe(true);
  });

  it('lasts as long as the latest renewal says, also when an earlier one is carried out after it', async () => {
    const { database, owner, time } = await openedOwner();
    const untilMs = async () => (await database.run({ text: 'SELECT lease_until_ms FROM paygrade.processes' }))[0];
    await owner.start();
    expect(await untilMs()).toEqual({ lease_until_ms: time.nowMs() + LEASE_MS });
    // The repeat of one whose answer was lost, by the time at which it began.
    time.stepWall(-500);
    await database.probe();
    expect(await untilMs()).toEqual({ lease_until_ms: time.nowMs() + 500 + LEASE_MS });
  });

  it('that was given by a clock that ran ahead ends soon after the clock is set back', async () => {
    const { database, owner, time } = await openedOwner();
    await owner.start();
    await database.run({
      text: "INSERT INTO paygrade.processes VALUES ('gone', paygrade.now_ms(), paygrade.now_ms() + 3600000)",
    });
    const leftMs = async (id: string): Promise<unknown> => {
      const text = 'SELECT lease_until_ms - paygrade.now_ms() AS left_ms FROM paygrade.processes WHERE id = $1';
      return (await database.run({ text, values: [id] }))[0]?.left_ms;
    };
    const looked = async (): Promise<unknown> => {
      time.pass(LOOK_MS);
      return leftMs('gone');
    };
    await expect.poll(looked, { timeout: 5000 }).toBeLessThanOrEqual(LEASE_MS + LATE_MS);
    expect(await leftMs(owner.id)).toBeLessThanOrEqual(LEASE_MS);
  });
});
