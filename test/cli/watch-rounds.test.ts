/** Rounds of `watch` in virtual time: a thousand boards, and no host is asked twice within a second. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { runRound } from '../../src/cli/watch/round.ts';
import type { VisitReport } from '../../src/cli/watch/visit-line.ts';
import { openWayOut } from '../../src/cli/watch/way-out.ts';
import type { Board } from '../../src/ingest/boards/board.ts';
import { OWN_ORIGINS } from '../../src/ingest/boards/origins.ts';
import { loadSkillExtractor } from '../../src/ingest/skills/skills.ts';
import type { Outbound, OutboundResult } from '../../src/outbound/outbound.ts';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { ManualTime } from '../support/manual-time.ts';
import { answer } from '../support/targets-by-host.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paygrade-rounds-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Asked {
  readonly url: string;
  readonly host: string;
  /** When the request reached the host, milliseconds. */
  readonly atMs: number;
}

/** Answers after a while that no request shares, and notes when each arrived. */
class SlowOutbound implements Outbound {
  readonly asked: Asked[] = [];
  readonly #time: ManualTime;
  readonly #random = new SeededRandom(4);
  readonly #answerTo: (url: URL) => OutboundResult;

  readonly policy: Outbound['policy'] = {
    judge: (text) => ({ ok: true, target: { url: new URL(text), isOwnHook: false } }),
  };

  constructor(time: ManualTime, answerTo: (url: URL) => OutboundResult) {
    this.#time = time;
    this.#answerTo = answerTo;
  }

  async lookUp(): Promise<'allowed'> {
    return 'allowed';
  }

  async send({ target: { url } }: { readonly target: { readonly url: URL } }): Promise<OutboundResult> {
    await this.#after(this.#random.below(400));
    this.asked.push({ url: url.href, host: url.host, atMs: this.#time.monotonicMs() });
    await this.#after(this.#random.below(1500));
    return this.#answerTo(url);
  }

  #after(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#time.after(ms, resolve));
  }
}

/** Two pages of a list that has two postings. */
function pageOf(url: URL): OutboundResult {
  const company = url.pathname.split('/')[3]!;
  const offset = Number(url.searchParams.get('offset'));
  const row = {
    id: `${offset}`,
    name: 'Cook',
    jobAd: {},
    company: { identifier: company, name: company },
    releasedDate: '2026-07-01T00:00:00Z',
    location: { city: 'Bern' },
  };
  return answer(200, JSON.stringify({ offset, limit: 1, totalFound: 2, content: [row] }));
}

function oneOf(url: URL): OutboundResult {
  if (url.pathname === '/robots.txt') return answer(404);
  const { host } = url;
  const items = [0, 1].map((id) => ({
    id: `${id}`,
    title: 'Cook',
    url: `https://${host}/jobs/${id}-cook`,
    date_published: '2026-07-01T00:00:00Z',
    _jobposting: { '@type': 'JobPosting', title: 'Cook', hiringOrganization: { name: host } },
  }));
  const page = Number(url.searchParams.get('page') ?? 0);
  const next = page === 0 ? { next_url: `https://${host}/jobs.json?page=1` } : {};
  return answer(
    200,
    JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      title: host,
      home_page_url: `https://${host}/jobs`,
      ...next,
      items: [items[page]],
    }),
  );
}

async function visited(boards: readonly Board[], answerTo: (url: URL) => OutboundResult) {
  const time = new ManualTime();
  const outbound = new SlowOutbound(time, answerTo);
  const history = HistoryDatabase.openForWatching(folder);
  // A file system that syncs is no subject of this test.
  history.database.exec('PRAGMA synchronous = OFF');
  const tables = new BoardTables(history);
  for (const board of boards) tables.put(board, time.nowMs());
  const reports: VisitReport[] = [];
  let isDone = false;
  const draw = (): number => 0.5;
  const wayOut = openWayOut(
    { contact: null, targetAllow: '', pauseMs: 1000, draw, clock: time, timers: time },
    outbound,
  );
  const round = runRound(tables.list(), {
    ...wayOut,
    history,
    tables,
    skills: loadSkillExtractor(),
    bounds: { minMs: 3_600_000, maxMs: 86_400_000 },
    draw,
    nowMs: () => time.nowMs(),
    origins: OWN_ORIGINS,
    signal: new AbortController().signal,
    onBusy: () => {},
    onVisit: (report) => reports.push(report),
  }).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    time.pass(200);
  }
  await round;
  history.close();
  return { asked: outbound.asked, reports };
}

/** The shortest time between two requests to one host. */
function shortestGapMs(asked: readonly Asked[]): number {
  const times = Map.groupBy(asked, ({ host }) => host);
  let shortest = Number.POSITIVE_INFINITY;
  for (const ofHost of times.values()) {
    const sorted = ofHost.map(({ atMs }) => atMs).sort((a, b) => a - b);
    for (let i = 1; i < sorted.length; i++) shortest = Math.min(shortest, sorted[i]! - sorted[i - 1]!);
  }
  return shortest;
}

describe('a round over a thousand boards', () => {
  it('sends two thousand requests, nothing twice, and no two to one host within a second', async () => {
    const boards = Array.from({ length: 1000 }, (_, i): Board => {
      const rest = { company: null, domain: null };
      return i < 400
        ? { shape: 'smartrecruiters', token: `C${i}`, address: `https://careers.smartrecruiters.com/C${i}`, ...rest }
        : { shape: 'teamtailor', token: `c${i}`, address: `https://c${i}.teamtailor.com`, ...rest };
    });
    const { asked, reports } = await visited(boards, (url) =>
      url.host === 'api.smartrecruiters.com' ? pageOf(url) : oneOf(url),
    );
    expect(
      reports.filter(({ status, rows }) => status === 'ok' && rows === 2).length,
      JSON.stringify(reports.find(({ status }) => status !== 'ok')),
    ).toBe(1000);
    expect(asked.length).toBe(2000);
    expect(new Set(asked.map(({ url }) => url)).size).toBe(2000);
    expect(shortestGapMs(asked)).toBeGreaterThanOrEqual(1000);
  }, 30_000);
});
