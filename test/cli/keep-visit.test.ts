/** Visits that are kept beside other processes that write into the catalogue. */
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { FetchedFeed } from '../../src/adapters/boards/feed-fetch.ts';
import type { CompanyDomain } from '../../src/catalogue/company-domain.ts';
import { keepVisit, type VisitSettings } from '../../src/cli/watch/keep-visit.ts';
import type { Board } from '../../src/ingest/boards/board.ts';
import { loadSkillExtractor } from '../../src/ingest/skills/skills.ts';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { testFolder } from '../support/scratch-folder.ts';

const NOW_MS = Date.UTC(2026, 7, 1);
const ACME: Board = {
  ...{ shape: 'greenhouse', token: 'acme', company: null, domain: null },
  address: 'https://job-boards.greenhouse.io/acme',
};

let folder: string;
let history: HistoryDatabase;
beforeEach(() => {
  folder = testFolder();
  history = HistoryDatabase.openForWatching(folder);
});
afterEach(() => {
  history.close();
});

const JOB = '{"id":1,"title":"Cook","absolute_url":"https://a.example/1","updated_at":"2026-07-01T00:00:00Z"}';
const feedOf = (...pages: string[]): FetchedFeed => ({
  ...{ kind: 'feed', status: 200, pages: pages.map((page) => Buffer.from(page)) },
  ...{ partialReason: null, standing: [], validators: null },
});

const settingsOf = (tables: BoardTables): VisitSettings => ({
  ...{ history, tables, skills: loadSkillExtractor(), bounds: { minMs: 3_600_000, maxMs: 86_400_000 } },
  ...{ draw: () => 0.5, clock: { nowMs: () => NOW_MS } },
});

/** Keeps a visit of Acme's board during which `boards` did something. */
async function keptAfter(change: (tables: BoardTables) => void) {
  const tables = new BoardTables(history);
  tables.put(ACME, NOW_MS);
  const board = tables.find('greenhouse:acme')!;
  change(tables);
  history.tryBegin();
  const fetched = { ...feedOf(`{"jobs":[${JOB}]}`), validators: { etag: '"a"', lastModified: null } } as FetchedFeed;
  const report = await keepVisit({ board, fetched, atMs: NOW_MS }, settingsOf(tables));
  const jobs = history.rows('SELECT company, company_domain FROM job').map(Object.values);
  return { report, jobs, after: tables.find('greenhouse:acme') };
}

it('nothing is kept of the visit of a board that was removed meanwhile', async () => {
  const { report, jobs, after } = await keptAfter((tables) => tables.remove('greenhouse:acme'));
  expect([report, jobs, after]).toEqual([undefined, [], undefined]);
  expect(history.rows('SELECT * FROM watched_day')).toEqual([]);
});

it('nothing is kept of the visit of a board that got another address meanwhile: it stays due', async () => {
  const address = 'https://boards.eu.greenhouse.io/acme';
  const { report, jobs, after } = await keptAfter((tables) => tables.put({ ...ACME, address }, NOW_MS));
  expect([report, jobs]).toEqual([undefined, []]);
  expect(after).toMatchObject({ address, nextMs: 0, state: null });
});

it('a company that a board got during its visit is that of the jobs, and its domain is not', async () => {
  const named = { ...ACME, company: 'Acme Ltd', domain: 'acme.example' as CompanyDomain };
  const { report, jobs } = await keptAfter((tables) => tables.put(named, NOW_MS));
  expect(report).toMatchObject({ status: 'ok' });
  expect(jobs).toEqual([['Acme Ltd', null]]);
});

it('a list over which our own reading falls is a failed visit, and not the end of the watch', async () => {
  const tables = new BoardTables(history);
  tables.put(ACME, NOW_MS);
  history.tryBegin();
  const settings = settingsOf(tables);
  const skills = { ...settings.skills, extract: () => String({ toString: null }) as never };
  const visit = { board: tables.find('greenhouse:acme')!, fetched: feedOf(`{"jobs":[${JOB}]}`), atMs: NOW_MS };
  const report = await keepVisit(visit, { ...settings, skills });
  expect(report).toMatchObject({
    status: 'failed',
    reason: expect.stringContaining('unexpected failure: Cannot conv'),
  });
  expect(history.row('SELECT count(*) AS jobs FROM job')).toEqual({ jobs: 0 });
});

it('a list that was already seen while the clock ran ahead is read again once the clock is set back, and the jobs of the list before it are not observed once more', async () => {
  const tables = new BoardTables(history);
  tables.put(ACME, NOW_MS);
  const other = JOB.replaceAll('1', '2');
  const keep = async (atMs: number, ...jobs: string[]) => {
    history.tryBegin();
    const settings = { ...settingsOf(tables), clock: { nowMs: () => atMs } };
    const visit = { board: tables.find('greenhouse:acme')!, fetched: feedOf(`{"jobs":[${jobs}]}`), atMs };
    expect(await keepVisit(visit, settings)).toMatchObject({ status: 'ok' });
  };
  await keep(NOW_MS, JOB);
  await keep(NOW_MS + 86_400_000, other);
  await keep(NOW_MS + 3_600_000, other);
  const times = history.rows('SELECT id, first_observed_ms, last_observed_ms FROM job ORDER BY id');
  expect(times.map(Object.values)).toEqual([
    ['greenhouse:acme:1', NOW_MS, NOW_MS],
    ['greenhouse:acme:2', NOW_MS + 3_600_000, NOW_MS + 86_400_000],
  ]);
});

it.each<[string, FetchedFeed, string]>([
  [
    'there was no answer',
    {
      ...{ kind: 'failed', status: null, reason: 'timeout' },
      ...{ retryAfterMs: null, isOfHost: true, isGone: false },
    },
    'failed',
  ],
  ['a page cannot be read', feedOf(`{"jobs":[${JOB}]}`, 'no list'), 'failed'],
  ['all is well', feedOf(`{"jobs":[${JOB}]}`), 'ok'],
])('nobody else can write between the beginning and the end of one: %s', async (_, fetched, status) => {
  const tables = new BoardTables(history);
  tables.put(ACME, NOW_MS);
  const other = new DatabaseSync(history.path);
  other.exec('PRAGMA busy_timeout = 0');
  const canWrite = (): boolean => {
    try {
      other.exec('BEGIN IMMEDIATE; ROLLBACK');
      return true;
    } catch {
      return false;
    }
  };
  expect(history.tryBegin()).toBe(true);
  const exec = history.exec.bind(history);
  const gaps: string[] = [];
  history.exec = (sql) => {
    exec(sql);
    if (!sql.endsWith('COMMIT') && canWrite()) gaps.push(sql);
  };
  const settings = settingsOf(tables);
  const board = tables.find('greenhouse:acme')!;
  expect(await keepVisit({ board, fetched, atMs: NOW_MS }, settings)).toMatchObject({ status });
  expect(gaps).toEqual([]);
  expect(canWrite()).toBe(true);
  other.close();
  expect(tables.find('greenhouse:acme')?.state).toMatchObject({ health: status });
  const [row] = history.rows('SELECT count(*) AS jobs FROM job');
  expect(row).toEqual({ jobs: status === 'ok' ? 1 : 0 });
});
