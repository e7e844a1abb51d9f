/** Shared rate limits while processes come and go, over a database that only says how many live. */
import { describe, expect, it } from 'vitest';
import { windowCountMax } from '../../../src/storage/memory/rate-limits.ts';
import type { Database } from '../../../src/storage/postgres/database.ts';
import { allowanceOf, SharedRateLimits } from '../../../src/storage/postgres/rates/rate-limits.ts';
import { ManualTime } from '../../support/manual-time.ts';

type Heard = readonly [process: string, serial: number, atMs: number, sums: object];

/** @param heardOf sums of other processes, from the time of the start */
async function opened(heardOf: (nowMs: number) => readonly Heard[] = () => []) {
  const time = new ManualTime();
  const heard = heardOf(time.nowMs());
  let processes = 1;
  let isAway = false;
  let shareCount = 0;
  const told: string[] = [];
  let forgetCount = 0;
  const database = {
    async run({ name, values = [] }: { name?: string; values?: readonly unknown[] }) {
      if (name === 'forget-rates') forgetCount++;
      if (name !== 'share-rates') return [];
      shareCount++;
      // A share that leads to another for ever has to fail the test, not to stop it.
      await new Promise((resolve) => setImmediate(resolve));
      if (isAway) throw new Error('away');
      if (typeof values[2] === 'string') told.push(values[2]);
      const news = heard.filter(([, , atMs]) => atMs > (values[3] as number));
      return [{ now_ms: time.nowMs(), processes, heard: news }];
    },
  } as unknown as Database;
  const limits = new SharedRateLimits({ clock: time, timers: time, database, processId: 'one' });
  await limits.start();
  return {
    time,
    limits,
    told,
    setProcesses(count: number) {
      processes = count;
    },
    setAway(away: boolean) {
      isAway = away;
    },
    shareCount: () => shareCount,
    forgetCount: () => forgetCount,
  };
}

describe('a shared limit', () => {
  it.each([
    [600, 1, 4, 14],
    [600, 2, 6, 9],
    [600, 3, 8, 7],
    [300, 1, 3, 7],
    [100, 1, 3, 2],
    [60, 1, 3, 1],
  ])(
    'of %i goes on when %i processes become %i, after %i passes that are not told',
    async (limit, before, after, passes) => {
      const { limits, setProcesses, shareCount, told } = await opened();
      setProcesses(before);
      await limits.share();
      const limiter = limits.open('jobs', limit, 60_000);
      for (let i = 0; i < passes; i++) expect(limiter.tryPass('client')).toBe(0);
      setProcesses(after);
      await limits.share();
      const sharesBefore = shareCount();
      for (let i = passes; i < limit; i++) expect(await limiter.tryPass('client')).toBe(0);
      expect(await limiter.tryPass('client')).toBeGreaterThan(0);
      // It tells of itself once an allowance, and no more often.
      expect(shareCount() - sharesBefore).toBeLessThanOrEqual(limit / allowanceOf(limit, after) + 1);
      const sum = told.reduce((all, text) => all + (JSON.parse(text) as { jobs: { client: number } }).jobs.client, 0);
      expect(sum).toBeGreaterThanOrEqual(limit - allowanceOf(limit, after));
    },
  );

  it('waits for nobody once it is closed, also while it was telling the others', async () => {
    const { limits } = await opened();
    const telling = limits.share();
    await limits.close();
    await telling;
    expect(limits.isAlone).toBe(true);
    const limiter = limits.open('jobs', 10, 60_000);
    for (let i = 0; i < 10; i++) expect(limiter.tryPass('client')).toBe(0);
    expect(limiter.tryPass('client')).toBeGreaterThan(0);
  });

  it('holds for each process alone while the database is away, and tells all of it afterwards', async () => {
    const { limits, setAway, told } = await opened();
    const limiter = limits.open('jobs', 10, 60_000);
    setAway(true);
    for (let i = 0; i < 10; i++) expect(await limiter.tryPass('client')).toBe(0);
    expect(await limiter.tryPass('client')).toBeGreaterThan(0);
    expect([limits.isAlone, told]).toEqual([true, []]);
    setAway(false);
    await limits.share();
    expect([limits.isAlone, told]).toEqual([false, [JSON.stringify({ jobs: { client: 10 } })]]);
  });

  it('tells all passes of a key once that left memory and came back while it was told', async () => {
    const { limits, told } = await opened();
    const limiter = limits.open('jobs', 600, 60_000);
    for (let i = 0; i < 20; i++) expect(limiter.tryPass('client')).toBe(0);
    const telling = limits.share();
    for (let i = 0; i < windowCountMax(600); i++) expect(limiter.tryPass(`other ${i}`)).toBe(0);
    for (let i = 0; i < 15; i++) expect(limiter.tryPass('client')).toBe(0);
    await telling;
    await limits.share();
    await limits.share();
    expect(told.map((text) => (JSON.parse(text) as { jobs: { client: number } }).jobs.client)).toEqual([20, 15]);
  });

  it('counts what others told of, each sum once and until it leaves the window', async () => {
    const { time, limits } = await opened((nowMs) => [
      ['two', 1, nowMs - 20_000, { jobs: { client: 4 } }],
      ['two', 2, nowMs - 1000, { jobs: { client: 3 } }],
    ]);
    const limiter = limits.open('jobs', 10, 60_000);
    await limits.share();
    for (let i = 0; i < 3; i++) expect(await limiter.tryPass('client')).toBe(0);
    expect([await limiter.tryPass('client'), limiter.peek('client'), limiter.peek('other')]).toEqual([
      40_000, 40_000, 0,
    ]);
    time.pass(40_000);
    for (let i = 0; i < 4; i++) expect(await limiter.tryPass('client')).toBe(0);
    expect(await limiter.tryPass('client')).toBe(19_000);
  });

  it('counts what others shared before the database’s clock was set back for one window at most', async () => {
    const { time, limits } = await opened((nowMs) => [['two', 1, nowMs + 3_600_000, { jobs: { client: 10 } }]]);
    const limiter = limits.open('jobs', 10, 60_000);
    expect(await limiter.tryPass('client')).toBe(60_000);
    time.pass(60_000);
    expect(await limiter.tryPass('client')).toBe(0);
  });

  it('lets no request too many pass when a sum leaves the window out of order, and is exact again with the next share', async () => {
    const { time, limits } = await opened((nowMs) => [
      ['two', 1, nowMs - 1000, { jobs: { other: 1 } }],
      ['three', 1, nowMs - 20_000, { jobs: { client: 10 } }],
    ]);
    const limiter = limits.open('jobs', 10, 60_000);
    expect(limiter.peek('client')).toBe(40_000);
    time.pass(45_000);
    expect([limiter.peek('client'), limiter.tryPass('client')]).toEqual([1, 1]);
    await limits.share();
    expect([limiter.peek('client'), limiter.tryPass('client')]).toEqual([0, 0]);
  });

  it('has old sums removed every thirty shares', async () => {
    const { limits, forgetCount, shareCount } = await opened();
    while (shareCount() < 60) await limits.share();
    expect(forgetCount()).toBe(2);
  });
});
