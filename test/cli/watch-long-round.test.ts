/** `watch` in virtual time: a round that a slow host holds up has what it found built meanwhile, and gives way to other hosts. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Watcher } from '../../src/cli/watch/watcher.ts';
import { openWayOut } from '../../src/cli/watch/way-out.ts';
import type { Board } from '../../src/ingest/boards/board.ts';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { ManualTime } from '../support/manual-time.ts';
import { NOTHING_ALLOWED } from '../support/nothing-allowed.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { answer } from '../support/targets-by-host.ts';
import { type Played, SlowOutbound } from '../support/virtual-rounds.ts';
import { capturedIo, run } from './captured-io.ts';

const MINUTE_MS = 60_000;

let folder: string;
let watch: ReturnType<typeof watching>;
beforeEach(() => {
  folder = testFolder();
});
afterEach(async () => {
  await watch.stop();
});

const board = (shape: Board['shape'], token: string, address: string): Board => ({
  ...{ shape, token, address, company: 'Acme', domain: null },
});
const WORKDAY = board('workday', 'acme/Careers', 'https://acme.wd5.myworkdayjobs.com/Careers');
const SMARTRECRUITERS = board('smartrecruiters', 'Acme', 'https://careers.smartrecruiters.com/Acme');
const LEVER = board('lever', 'moo', 'https://jobs.lever.co/moo');
const ASHBY = board('ashby', 'moo', 'https://jobs.ashbyhq.com/moo');
const NEVER_ASKED = board('ashby', 'never', 'https://jobs.ashbyhq.com/never');
const levers = Array.from({ length: 220 }, (_, n) => board('lever', `moo${n}`, `https://jobs.lever.co/moo${n}`));

/** A watch over these boards. `pass` lets time pass while the watch does what falls due. */
function watching(
  boards: readonly Board[],
  isOnce: boolean,
  play: Played,
  minutes = { least: 60, most: 1440 },
  time = new ManualTime(),
) {
  const { io, written } = capturedIo({});
  const outbound = new SlowOutbound(time, play, 0);
  const draw = (): number => 0.5;
  const history = HistoryDatabase.openForSettings(folder);
  for (const one of boards) new BoardTables(history).put(one, time.nowMs());
  history.commit();
  history.close();
  const end = new AbortController();
  const out = join(folder, 'jobs.snapshot');
  const watcher = new Watcher(
    {
      ...{ folder, out, isOnce, isAll: false, isJson: true },
      bounds: { minMs: minutes.least * MINUTE_MS, maxMs: minutes.most * MINUTE_MS },
      build: { maxAgeDays: undefined, mergesSameUrl: false, keepsDescriptions: true },
    },
    {
      io: { ...io, clock: time },
      wayOut: openWayOut(
        { contact: null, targetAllow: NOTHING_ALLOWED, pauseMs: 1000, draw, clock: time, timers: time },
        outbound,
      ),
      origins: new Map(),
      draw,
      signal: end.signal,
    },
  );
  let isDone = false;
  const ran = watcher.run().finally(() => {
    isDone = true;
    watcher.close();
  });
  /** Files of a build lie beside the snapshot until it is in its place. */
  const isBuilding = (): boolean =>
    readdirSync(folder).some((name) => name !== 'jobs.snapshot' && name.includes('jobs.snapshot'));
  const startMs = time.monotonicMs();
  return {
    asked: outbound.asked,
    written,
    minutes: () => (time.monotonicMs() - startMs) / MINUTE_MS,
    isDone: () => isDone,
    hasBuilt: () => existsSync(out),
    async pass(until: () => boolean): Promise<void> {
      while (!until() && !isDone) {
        // A build works with real files: time hardly passes for it.
        do await setTimeout(1);
        while (isBuilding());
        time.pass(2000);
      }
    },
    async stop(): Promise<void> {
      end.abort();
      await ran;
    },
    ran,
  };
}

/** Boards of which a host answers some fifteen a minute. */
const listOf = ({ pathname }: URL) => {
  const hostedUrl = `https://jobs.lever.co${pathname}/a`;
  return { ...answer(200, JSON.stringify([{ id: 'a', text: 'Cook', hostedUrl, categories: {} }])), afterMs: 2000 };
};
/** Every page of Workday's takes as long as a request may. */
const workdayCrawls: Played = (url) => (url.host === 'api.lever.co' ? listOf(url) : { ...page(), afterMs: 110_000 });
let rows = 0;
const page = () => {
  const jobPostings = Array.from({ length: 20 }, () => ({ externalPath: `/job/Bern/R${rows++}`, title: 'Cook' }));
  return answer(200, JSON.stringify({ total: 1900, jobPostings }));
};

it('builds what a round has found while a host holds it up', async () => {
  watch = watching([WORKDAY, LEVER], true, workdayCrawls);
  await watch.pass(watch.hasBuilt);
  expect([watch.isDone(), watch.hasBuilt()]).toEqual([false, true]);
  expect(watch.minutes()).toBeGreaterThan(14);
  expect(watch.minutes()).toBeLessThan(27);
  await watch.pass(() => watch.minutes() > 60);
  await watch.ran;
  expect(watch.minutes()).toBeLessThan(32);
  expect(watch.written.stdout).toContain('its pages took more than 28 minutes');
}, 30_000);

it('has descriptions in its last build that came after the one within the round', async () => {
  const company = { identifier: 'Acme', name: 'Acme' };
  const content = Array.from({ length: 60 }, (_, id) => ({
    ...{ id: `${id}`, name: `Cook ${id}`, releasedDate: '2026-07-01T00:00:00Z', location: { city: 'Bern' }, company },
  }));
  const text = '<p>Cook with Python.</p>';
  watch = watching([SMARTRECRUITERS], true, (url) =>
    url.pathname.endsWith('/postings')
      ? answer(200, JSON.stringify({ offset: 0, limit: 100, totalFound: content.length, content }))
      : { ...answer(200, JSON.stringify({ jobAd: { sections: { jobDescription: { text } } } })), afterMs: 20_000 },
  );
  const described = async (): Promise<number> => {
    const { stdout } = await run(['snapshot', 'export', join(folder, 'jobs.snapshot')], {});
    return stdout.split('\n').filter((line) => line.includes('Cook with Python.')).length;
  };
  await watch.pass(watch.hasBuilt);
  expect(watch.minutes()).toBeLessThan(17);
  expect([watch.isDone(), await described()]).toEqual([false, 0]);
  await watch.pass(() => false);
  await watch.ran;
  expect(await described()).toBe(60);
}, 30_000);

it('ends a round that goes on and on, builds, and continues with the boards that are left', async () => {
  watch = watching(levers, false, listOf);
  await watch.pass(watch.hasBuilt);
  expect(watch.minutes()).toBeGreaterThan(9);
  expect(watch.minutes()).toBeLessThan(12);
  const before = watch.asked.length;
  expect(before).toBeLessThan(220);
  await watch.pass(() => watch.asked.length === 220);
  await watch.stop();
  expect(new Set(watch.asked.map(({ url }) => url)).size).toBe(220);
  expect(watch.written.stderr).toMatch(/of 220 boards visited.*of \d+ boards visited/s);
}, 30_000);

it('comes to every board, whatever falls due again before', async () => {
  const slow = Array.from({ length: 120 }, (_, n) => board('jsonld', `a${n}.example`, `https://a${n}.example/jobs`));
  const posting = '<script type="application/ld+json">{"@type":"JobPosting","title":"Cook"}</script>';
  watch = watching(
    [...slow, LEVER],
    false,
    (url) => {
      if (url.host === 'api.lever.co') return listOf(url);
      return url.pathname === '/robots.txt' ? answer(404) : { ...answer(200, posting), afterMs: 100_000 };
    },
    { least: 1, most: 1 },
  );
  await watch.pass(() => watch.minutes() > 60 || watch.asked.some(({ host }) => host === 'api.lever.co'));
  expect(watch.asked.some(({ host }) => host === 'api.lever.co')).toBe(true);
}, 60_000);

it('takes every board in one round with --once, however long that takes', async () => {
  watch = watching(levers, true, listOf);
  await watch.pass(() => false);
  await watch.ran;
  expect(watch.minutes()).toBeGreaterThan(12);
  expect(watch.written.stderr).toMatch(/220 of 220 boards visited/);
}, 30_000);

it('continues at once when a clock that ran ahead is set back, and warns what that means', async () => {
  const time = new ManualTime();
  const visits = { least: 60, most: 1440 };
  const nowMs = time.nowMs();
  const builtAt = async (): Promise<string> => {
    const { stdout } = await run(['snapshot', 'inspect', '--json', join(folder, 'jobs.snapshot')], {});
    return JSON.parse(stdout).built_at;
  };
  time.stepWall(30 * 24 * 60 * MINUTE_MS);
  watch = watching([LEVER], false, listOf, visits, time);
  await watch.pass(watch.hasBuilt);
  expect(await builtAt()).toMatch(/^2026-08-31T12:0/);
  time.stepWall(nowMs - time.nowMs());
  const { ino } = statSync(join(folder, 'jobs.snapshot'));
  await watch.pass(() => statSync(join(folder, 'jobs.snapshot')).ino !== ino || watch.minutes() > 99);
  expect(watch.minutes()).toBeLessThan(5);
  expect(watch.written.stderr).toMatch(
    /^warning: the clock ran ahead, to 2026-08-31T12:0\S+, and was set back: fetching 1 board again/m,
  );
  await watch.stop();
  expect(await builtAt()).toMatch(/^2026-08-01T12:0/);
  expect(watch.asked).toHaveLength(2);
});

it('asks boards again that a host which failed while the clock ran ahead put off, asked before or never', async () => {
  const time = new ManualTime();
  const nowMs = time.nowMs();
  watch = watching([LEVER, ASHBY, NEVER_ASKED], false, listOf, undefined, time);
  await watch.pass(watch.hasBuilt);
  await watch.stop();
  const history = HistoryDatabase.openForSettings(folder);
  const tables = new BoardTables(history);
  const aheadMs = nowMs + 30 * 24 * 60 * MINUTE_MS;
  tables.store('lever:moo', { ...tables.find('lever:moo')!.state!, lastFetchMs: aheadMs }, aheadMs);
  tables.store('ashby:never', null, 0);
  tables.postpone(['ashby:moo', 'ashby:never'], aheadMs + 60 * MINUTE_MS);
  history.commit();
  history.close();
  watch = watching([], false, listOf, undefined, time);
  await watch.pass(() => watch.asked.length === 3 || watch.minutes() > 30);
  expect(watch.asked).toHaveLength(3);
  expect(watch.written.stderr).toContain('and was set back: fetching 3 boards again');
});

it('builds once where a board that a clock ahead has seen fails after the clock is set back', async () => {
  const time = new ManualTime();
  const nowMs = time.nowMs();
  time.stepWall(30 * 24 * 60 * MINUTE_MS);
  let play: Played = listOf;
  watch = watching([LEVER], false, (url, init) => play(url, init), undefined, time);
  await watch.pass(watch.hasBuilt);
  time.stepWall(nowMs - time.nowMs());
  play = () => answer(503, '');
  const built = new Set<number>();
  await watch.pass(() => {
    built.add(statSync(join(folder, 'jobs.snapshot')).mtimeMs);
    return watch.written.stderr.split('; 1 failed;').length > 3 || watch.minutes() > 99;
  });
  expect(built.size).toBe(2);
});
