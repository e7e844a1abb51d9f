/** Looks of a process that shares a database (siblings §9). */
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemRandom } from '../../../src/base/random.ts';
import type { Statement } from '../../../src/storage/postgres/connections.ts';
import { Database } from '../../../src/storage/postgres/database.ts';
import { LEASE_MS, LOOK_MS, Owner, ownerIsDead } from '../../../src/storage/postgres/owners.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { SERVER, sentBy, type TestDatabase, testDatabase } from '../../support/postgres-database.ts';

interface OpenedOwner {
  readonly time: ManualTime;
  readonly on: TestDatabase;
  readonly database: Database;
  readonly owner: Owner;
  readonly failures: string[];
}

/** An owner that has not started, alone on a database or beside another. @param before runs before each statement is sent */
async function openedOwner(
  other?: OpenedOwner,
  before: (statement: Statement) => Promise<void> = async () => {},
): Promise<OpenedOwner> {
  const time = other?.time ?? new ManualTime();
  const on = other?.on ?? (await testDatabase(SERVER!, time));
  const ports = { clock: time, timers: time };
  const connections = sentBy(on.connections(), async (statement, query) => {
    await before(statement);
    return query(statement);
  });
  const database = new Database(connections, { ...ports, onStateFault() {} });
  const failures: string[] = [];
  const owner = new Owner(database, {
    ...ports,
    random: systemRandom,
    onFailure: (failure) => void failures.push((failure as Error).message),
  });
  onTestFinished(async () => {
    await owner.end();
    await database.close();
    if (other === undefined) await on.remove();
  });
  return { time, on, database, owner, failures };
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
    owner.onLook(failing('another look'));
    owner.onLook(async () => void done.push('another look'));
    await owner.start();
    time.pass(LOOK_MS);
    await expect.poll(() => done).toEqual(['look', 'another look']);
    expect(failures).toEqual(['look', 'another look']);
  });
});

const IDS = { text: 'SELECT id FROM paygrade.processes' };

/** Lets time pass until the next look has ended. @returns the processes that have rows then */
async function looked({ database, owner, time }: OpenedOwner): Promise<unknown[]> {
  const { promise, resolve } = Promise.withResolvers<void>();
  owner.onLook(async () => resolve());
  time.pass(LOOK_MS);
  await promise;
  return (await database.run(IDS)).map(({ id }) => id);
}

describe.skipIf(SERVER === undefined)('the row of a process', () => {
  it.each([0, -3_600_000, 3_600_000])(
    "that is dead goes after a lease, also when the database's clock is set by %i ms",
    async (stepMs) => {
      const one = await openedOwner();
      await one.owner.start();
      const gone = "INSERT INTO paygrade.processes VALUES ('gone', paygrade.now_ms(), paygrade.now_ms() + 10000)";
      await one.database.run({ text: gone });
      expect(await looked(one)).toContain('gone');
      one.time.stepWall(stepMs);
      for (let passedMs = LOOK_MS; passedMs < LEASE_MS; passedMs += LOOK_MS)
        expect(await looked(one)).toContain('gone');
      expect(await looked(one)).toEqual([one.owner.id]);
    },
  );

  it("that lives stays, however the database's clock is set", async () => {
    const one = await openedOwner();
    const other = await openedOwner(one);
    await one.owner.start();
    await other.owner.start();
    for (let i = 0; i < 12; i++) {
      // Set back for longer than a lease lasts: each renewal is then before the end of the first.
      one.time.stepWall(i % 6 === 0 ? 12 * LEASE_MS : -2 * LEASE_MS);
      const others = looked(other);
      expect(await looked(one)).toHaveLength(2);
      expect(await others).toHaveLength(2);
    }
  });
});

describe.skipIf(SERVER === undefined)('a lease', () => {
  it('that cannot be renewed is lost once, before another process may take over, and holds again once it is', async () => {
    const one = await openedOwner();
    const { owner, time } = one;
    const { database: another } = await openedOwner(one);
    const rename = (from: string, to: string) => another.run({ text: `ALTER TABLE paygrade.${from} RENAME TO ${to}` });
    let losses = 0;
    owner.onLeaseLost(() => losses++);
    await owner.start();
    await rename('processes', 'others');
    time.pass(LEASE_MS - 1001);
    expect(losses).toBe(0);
    time.pass(1);
    expect(losses).toBe(1);
    time.pass(10 * LEASE_MS);
    expect(losses).toBe(1);
    await expect(owner.renewLostLease()).rejects.toThrow('"paygrade.processes" does not exist');
    await rename('others', 'processes');
    await owner.renewLostLease();
    await rename('processes', 'others');
    // It holds, so nothing is asked.
    await owner.renewLostLease();
    time.pass(LEASE_MS);
    expect(losses).toBe(2);
    await rename('others', 'processes');
  });

  it('that does not exist makes its process a dead one', async () => {
    const { database, owner } = await openedOwner();
    await owner.start();
    const isDead = async (id: string): Promise<unknown> => {
      const text = `SELECT ${ownerIsDead('holder')} AS is_dead FROM (SELECT $1::text AS holder) AS held`;
      return (await database.run({ text, values: [id] }))[0]?.is_dead;
    };
    expect([await isDead(owner.id), await isDead('another')]).toEqual([false, true]);
  });

  it('ends after a probe that is on its way, which would bring its row back', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const sent: string[] = [];
    let isHeld = false;
    const opened = await openedOwner(undefined, async ({ name, text }) => {
      sent.push(name ?? text.split(' ')[0]!);
      if (isHeld && name === 'renew-lease') await released;
    });
    const { database, on, owner, time } = opened;
    await owner.start();
    isHeld = true;
    // The database is asked for the time.
    time.stepWall(5000);
    expect(database.fault()).toMatch(/was put 5\.0 s ahead/);
    time.pass(250);
    await expect.poll(() => sent.filter((one) => one === 'renew-lease')).toHaveLength(2);
    database.endWaits();
    const ending = owner.end();
    await new Promise((resolve) => setTimeout(resolve, 200));
    release();
    await ending;
    expect(sent.at(-1)).toBe('DELETE');
    const other = new Database(on.connections(), { clock: time, timers: time, onStateFault() {} });
    await database.probing;
    expect(await other.run(IDS)).toEqual([]);
    await other.close();
  });

  it("is another one after each renewal, also when the database's clock was set back", async () => {
    const { database, owner, time } = await openedOwner();
    const renewal = async () => (await database.run({ text: 'SELECT lease_until_ms FROM paygrade.processes' }))[0];
    await owner.start();
    const untilMs = time.nowMs() + LEASE_MS;
    expect(await renewal()).toEqual({ lease_until_ms: untilMs });
    time.stepWall(-500);
    await database.probe();
    expect(await renewal()).toEqual({ lease_until_ms: untilMs + 1 });
    time.stepWall(5000);
    await database.probe();
    expect(await renewal()).toEqual({ lease_until_ms: untilMs + 4500 });
  });
});
