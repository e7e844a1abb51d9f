/** Visits that are kept beside other processes that write into the catalogue. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { FetchedFeed } from '../../src/adapters/boards/feed-fetch.ts';
import { keepVisit } from '../../src/cli/watch/keep-visit.ts';
import type { Board } from '../../src/ingest/boards/board.ts';
import { loadSkillExtractor } from '../../src/ingest/skills/skills.ts';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';

const NOW_MS = Date.UTC(2026, 7, 1);
const ACME: Board = {
  ...{ shape: 'greenhouse', token: 'acme', company: null, domain: null },
  address: 'https://job-boards.greenhouse.io/acme',
};

let folder: string;
let history: HistoryDatabase;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paygrade-visits-'));
  history = HistoryDatabase.openForWatching(folder);
});
afterEach(() => {
  history.close();
  rmSync(folder, { recursive: true });
});

const JOB = '{"id":1,"title":"Cook","absolute_url":"https://a.example/1","updated_at":"2026-07-01T00:00:00Z"}';
const feedOf = (...pages: string[]): FetchedFeed => ({
  ...{ kind: 'feed', status: 200, pages: pages.map((page) => Buffer.from(page)) },
  ...{ partialReason: null, standing: [], validators: null },
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
  const exec = history.database.exec.bind(history.database);
  const gaps: string[] = [];
  history.database.exec = (sql) => {
    exec(sql);
    if (!sql.endsWith('COMMIT') && canWrite()) gaps.push(sql);
  };
  const bounds = { minMs: 3_600_000, maxMs: 86_400_000 };
  const settings = { history, tables, skills: loadSkillExtractor(), bounds, draw: () => 0.5, nowMs: () => NOW_MS };
  const board = tables.find('greenhouse:acme')!;
  expect(await keepVisit({ board, fetched, atMs: NOW_MS }, settings)).toMatchObject({ status });
  expect(gaps).toEqual([]);
  expect(canWrite()).toBe(true);
  other.close();
  expect(tables.find('greenhouse:acme')?.state).toMatchObject({ health: status });
  const [row] = history.database.prepare('SELECT count(*) AS jobs FROM job').all();
  expect(row).toEqual({ jobs: status === 'ok' ? 1 : 0 });
});
