/** Rounds of `watch` over boards that send their bytes one after another: bounded in time, and no job closes. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FeedMemory } from '../../src/adapters/boards/feed-memory.ts';
import { FEEDS_BYTES_MAX } from '../../src/adapters/boards/limits.ts';
import { awakeTimers } from '../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../src/base/clock.ts';
import { FailingHosts } from '../../src/cli/watch/failing-hosts.ts';
import { runRound } from '../../src/cli/watch/round.ts';
import type { VisitReport } from '../../src/cli/watch/visit-line.ts';
import { openWayOut } from '../../src/cli/watch/way-out.ts';
import { targetList } from '../../src/config/parsers.ts';
import type { Board } from '../../src/ingest/boards/board.ts';
import { parseBoardOrigins } from '../../src/ingest/boards/origins.ts';
import { loadSkillExtractor } from '../../src/ingest/skills/skills.ts';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { BoardStub, type Fault } from '../support/board-stub.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { tenantAnswer } from '../support/workday-tenant.ts';

let folder: string;
let slow: BoardStub;
let well: BoardStub;
beforeEach(async () => {
  folder = testFolder();
  [slow, well] = await Promise.all([BoardStub.open(), BoardStub.open()]);
});
afterEach(() => {
  slow.close();
  well.close();
});

const board = (shape: Board['shape'], token: string, address: string): Board => ({
  ...{ shape, token, address, company: 'Acme', domain: null },
});
const DRIPPING = board('greenhouse', 'acme', 'https://boards.greenhouse.io/acme');
const WORKDAY = board('workday', 'acme/Careers', 'https://acme.wd5.myworkdayjobs.com/Careers');
const WELL = board('lever', 'moo', 'https://jobs.lever.co/moo');

const jobs = (count: number) => ({
  jobs: Array.from({ length: count }, (_, id) => ({
    id,
    title: `Cook ${id}`,
    updated_at: '2026-07-01T00:00:00Z',
    absolute_url: `https://boards.greenhouse.io/acme/jobs/${id}`,
    location: { name: 'Bern' },
    content: '<p>Cook.</p>',
  })),
  meta: { total: count },
});
const LEVER = [{ id: 'a', text: 'Cook', hostedUrl: 'https://jobs.lever.co/moo/a', categories: {} }];

/** Sends the body in `parts` parts, some milliseconds apart, and then ends, or goes on with blanks. */
const dripping =
  (parts: number, pauseMs: number, ends: boolean): Fault =>
  (_, response, body) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const step = Math.ceil(body.length / parts);
    let at = 0;
    const timer = setInterval(() => {
      response.write(at < body.length ? body.subarray(at, at + step) : ' ');
      at += step;
      if (ends && at >= body.length) response.end();
    }, pauseMs);
    response.once('close', () => clearInterval(timer));
  };

/** A round over these boards. @param requestMs time of each request @returns visits by shape */
async function round(
  boards: readonly Board[],
  requestMs = 60_000,
  feedMemory = new FeedMemory(FEEDS_BYTES_MAX),
): Promise<Map<string, VisitReport>> {
  const hosts = [slow.host, well.host];
  const parsed = parseBoardOrigins(
    `greenhouse=http://${slow.host},workday=http://${slow.host},lever=http://${well.host}`,
  );
  if (!parsed.ok) throw new Error(parsed.reason);
  const draw = (): number => 0.5;
  const ports = { clock: systemClock, timers: awakeTimers };
  const wayOut = openWayOut({
    ...{ contact: null, targetAllow: targetList(hosts.join(',')), pauseMs: 0, draw, requestMs },
    ...ports,
  });
  const history = HistoryDatabase.openForWatching(folder);
  const tables = new BoardTables(history);
  for (const one of boards) tables.put(one, systemClock.nowMs());
  const visits = new Map<string, VisitReport>();
  await runRound(tables.list(), {
    ...wayOut,
    history,
    tables,
    skills: loadSkillExtractor(),
    bounds: { minMs: 3_600_000, maxMs: 86_400_000 },
    draw,
    clock: systemClock,
    origins: parsed.origins,
    signal: new AbortController().signal,
    enough: new AbortController().signal,
    hosts: new FailingHosts(draw),
    feedMemory,
    aside: null,
    onHeld: () => {},
    onBusy: () => {},
    onVisit: (visit) => void visits.set(visit.board.split(':')[0]!, visit),
  });
  history.close();
  return visits;
}

describe('a board whose answer drips', () => {
  it('is given up in its time and closes nothing, while other hosts are visited', async () => {
    slow.list(DRIPPING, jobs(8), { hasEtags: false });
    well.list(WELL, LEVER);
    expect((await round([DRIPPING, WELL])).get('greenhouse')).toMatchObject({ status: 'ok', rows: 8 });
    slow.list(DRIPPING, jobs(6), { hasEtags: false });
    slow.fail(DRIPPING, dripping(20, 20, false));
    const visits = await round([DRIPPING, WELL], 3000);
    expect(visits.get('greenhouse')).toMatchObject({ status: 'failed', http_status: null, closed: 0 });
    expect(visits.get('greenhouse')?.reason).toMatch(/^timeout/);
    expect(visits.get('lever'), visits.get('lever')?.reason).toMatchObject({ status: 'unchanged' });
    // The connection is closed with it, and the request not repeated at once.
    await expect.poll(() => slow.seen).toHaveLength(2);
  });

  it('is taken whole when it ends in time', async () => {
    slow.list(DRIPPING, jobs(8), { hasEtags: false });
    slow.fail(DRIPPING, dripping(10, 20, true));
    expect((await round([DRIPPING])).get('greenhouse')).toMatchObject({ status: 'ok', rows: 8, new: 8 });
  });

  it('loses all of its pages when one drips for ever', async () => {
    const postings = Array.from({ length: 30 }, (_, number) => ({
      externalPath: `/job/Bern/Cook_R${number}`,
      title: 'Cook',
      facets: {},
    }));
    let isDripping = true;
    slow.searches.set('/acme.wd5.myworkdayjobs.com/wday/cxs/acme/Careers/jobs', (sent) => {
      const { offset } = JSON.parse(sent) as { offset: number };
      return isDripping && offset > 0 ? dripping(5, 20, false) : tenantAnswer(postings, sent, { isCapped: false });
    });
    expect((await round([WORKDAY], 3000)).get('workday')).toMatchObject({ status: 'failed', rows: 0, new: 0 });
    isDripping = false;
    expect((await round([WORKDAY])).get('workday')).toMatchObject({ status: 'ok', rows: 30, new: 30 });
  });
});

it('visits share their memory: lists that come at the same time wait for each other where they do not fit', async () => {
  const lever = Array.from({ length: 1000 }, (_, id) => ({ ...LEVER[0], id: `${id}`, text: `Cook ${id}` }));
  slow.list(DRIPPING, jobs(1000), { hasEtags: false });
  well.list(WELL, lever, { hasEtags: false });
  slow.fail(DRIPPING, dripping(20, 5, true));
  well.fail(WELL, dripping(20, 5, true));
  const bytes = [jobs(1000), lever].map((list) => JSON.stringify(list).length);
  const memory = new FeedMemory(20_000);
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, memory.bytes);
  }, 1);
  const visits = await round([DRIPPING, WELL], 60_000, memory);
  clearInterval(timer);
  expect([...visits.values()].map(({ status, rows }) => [status, rows])).toEqual(Array(2).fill(['ok', 1000]));
  expect(peak).toBeGreaterThan(20_000);
  expect(peak).toBeLessThanOrEqual(Math.max(...bytes) + 20_000);
  expect(memory.bytes).toBe(0);
});
