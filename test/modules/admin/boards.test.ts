/** The operator's routes about watched boards: what they show, what they keep, and when they are not there. */
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CompanyDomain } from '../../../src/catalogue/company-domain.ts';
import { wordOfCompany } from '../../../src/ingest/companies/company-file.ts';
import { boardsAnswer } from '../../../src/modules/admin/boards.ts';
import { BoardTables } from '../../../src/storage/history/board-tables.ts';
import { storedWords, storeWords } from '../../../src/storage/history/company-tables.ts';
import { HistoryDatabase } from '../../../src/storage/history/database.ts';
import { type JobsApp, openJobsApp } from '../../support/jobs-app.ts';
import { testFolder } from '../../support/scratch-folder.ts';
import { stateOf, watchedFolder } from '../../support/watched-boards.ts';

const ADMIN_TOKEN = 'operator-0123456789-0123456789-0123';
const authorization = `Bearer ${ADMIN_TOKEN}`;
const PATHS = ['/admin/v1/boards', '/boards'];

let folder: string;
let jobs: JobsApp | undefined;
beforeEach(() => {
  folder = testFolder();
});
afterEach(async () => {
  await jobs?.close();
  jobs = undefined;
});

const opened = async (): Promise<JobsApp> => {
  jobs = await openJobsApp({ ADMIN_TOKEN, CATALOGUE: folder });
  watchedFolder(folder);
  return jobs;
};

async function listed(query = '') {
  const { status, text } = await jobs!.get(`/admin/v1/boards${query}`, { authorization });
  expect([status, text]).toEqual([200, expect.any(String)]);
  return v.parse(boardsAnswer, JSON.parse(text)).data;
}

const state = (domain: unknown, company: unknown = 'Some Company') =>
  jobs!.send('/admin/v1/companies', {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ company, domain }),
  });

describe('the watched boards of a server', () => {
  it('are listed with those first that need the operator, counted by health, and filtered', async () => {
    await opened();
    const all = await listed();
    expect(all.boards.map(({ board, health, overdue }) => [board, health, overdue])).toEqual([
      ['lever:away', 'gone', false],
      ['greenhouse:shrunk', 'unhealthy', false],
      ['ashby:<img src=x onerror=alert(1)>', 'failed', true],
      ['workable:fresh', 'new', false],
      ['greenhouse:acme', 'ok', false],
    ]);
    expect(all.health).toEqual({ new: 1, ok: 1, partial: 0, unhealthy: 1, failed: 1, gone: 1 });
    expect([all.matching_boards, all.overdue]).toEqual([5, 1]);
    expect(all.boards[1]).toMatchObject({ jobs: 100, last_jobs: 3, reason: '3 jobs, where 100 are usual' });
    expect(all.boards[3]).toMatchObject({ jobs: null, last_fetch_at: null, next_at: null, reason: null });
    expect((await listed('?health=failed')).boards).toHaveLength(1);
    for (const query of [
      '?health=sick',
      '?limit=0',
      '?limit=501',
      '?page=2',
      '?cursor=',
      '?cursor=62acme',
      '?cursor=00',
      '?since=yesterday',
      '?x=1',
    ]) {
      expect([query, (await jobs!.get(`/admin/v1/boards${query}`, { authorization })).status]).toEqual([query, 400]);
    }
    expect((await jobs!.get('/admin/v1/boards?health=sick', { authorization })).text).toContain(
      '`health` must be one of new, ok, partial, unhealthy, failed, gone',
    );
  });

  it('are listed by pages, each board that no fetch moves in between once', async () => {
    await opened();
    const first = await listed('?limit=2');
    expect(first.boards.map(({ board }) => board)).toEqual(['lever:away', 'greenhouse:shrunk']);
    const history = HistoryDatabase.openForSettings(folder);
    const tables = new BoardTables(history);
    tables.store('lever:away', stateOf(Date.now(), {}), Date.now() + 3_600_000);
    history.commit();
    history.close();
    const second = await listed(`?limit=2&cursor=${encodeURIComponent(first.next_cursor!)}`);
    expect(second.boards.map(({ board }) => board)).toEqual(['ashby:<img src=x onerror=alert(1)>', 'workable:fresh']);
    const last = await listed(`?limit=2&cursor=${encodeURIComponent(second.next_cursor!)}`);
    expect(last.boards.map(({ board }) => board)).toEqual(['greenhouse:acme', 'lever:away']);
    expect([last.matching_boards, last.next_cursor]).toEqual([5, null]);
  });

  it('have their days summed over all boards', async () => {
    await opened();
    const { days } = await listed();
    expect(days.map(({ day, ...counts }) => counts)).toEqual([
      { fetches: 1, opened: 5, changed: 0, closed: 12, reopened: 1 },
      { fetches: 2, opened: 1202, changed: 3, closed: 0, reopened: 0 },
    ]);
    expect((await listed(`?since=${days[1]!.day}`)).days).toEqual([days[1]]);
  });

  it('come with the companies without a domain, until the operator states one', async () => {
    await opened();
    const before = await listed();
    const [first] = before.companies_without_domain;
    expect(before.total_companies_without_domain).toBeGreaterThan(0);
    expect((await state('Example.COM', first!.company)).status).toBe(200);
    const after = await listed();
    expect(after.companies_without_domain.map(({ company }) => company)).not.toContain(first!.company);
    const history = HistoryDatabase.openForReading(folder);
    expect(storedWords(history)).toMatchObject([{ kind: 'name', domain: 'example.com', aliases: [] }]);
    history.close();
    // A word without a domain changes nothing for buyers.
    const [second] = after.companies_without_domain;
    const writing = HistoryDatabase.openForSettings(folder);
    storeWords(writing, [{ ...wordOfCompany(second!.company, 'a.example' as CompanyDomain, []), domain: null }]);
    writing.commit();
    writing.close();
    expect((await listed()).companies_without_domain).toEqual(after.companies_without_domain);
    // As long as a name in a catalogue can be.
    expect((await state('a.example', '𝒜'.repeat(1000))).status).toBe(200);
    for (const [domain, company] of [['nodot'], ['1.2.3.4'], [7], ['a.example', ''], ['a.example', 'x'.repeat(2001)]]) {
      expect([domain, (await state(domain, company)).status]).toEqual([domain, 400]);
    }
  });

  it('take a word about a board by shape:token, as `companies set` does', async () => {
    await opened();
    expect((await state('acme.com', 'greenhouse:acme')).status).toBe(200);
    const history = HistoryDatabase.openForReading(folder);
    expect(storedWords(history)).toMatchObject([{ kind: 'board', key: 'greenhouse:acme', domain: 'acme.com' }]);
    history.close();
  });

  it('are 503 while an import writes or the folder holds no catalogue, without holding up the server', async () => {
    jobs = await openJobsApp({ ADMIN_TOKEN, CATALOGUE: folder });
    expect((await jobs.get('/admin/v1/boards', { authorization })).status).toBe(503);
    expect((await state('a.example')).status).toBe(503);
    expect((await jobs.get('/metrics')).text).toContain('paygrade_watched_boards_readable 0\n');
    watchedFolder(folder);
    const writer = HistoryDatabase.openForImport(folder);
    const startMs = performance.now();
    expect((await state('a.example')).status).toBe(503);
    expect((await listed()).boards).toHaveLength(5);
    expect(performance.now() - startMs).toBeLessThan(2000);
    writer.close();
    expect((await state('a.example')).status).toBe(200);
  });

  it('are counted in the metrics', async () => {
    await opened();
    const { text } = await jobs!.get('/metrics');
    for (const line of [
      'paygrade_watched_boards_readable 1',
      'paygrade_watched_boards{health="gone"} 1',
      'paygrade_watched_boards{health="partial"} 0',
      'paygrade_watched_boards_overdue 1',
      'paygrade_watched_jobs_today{change="opened"} 1202',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
  });

  it.each([{ ADMIN_TOKEN }, { CATALOGUE: 'somewhere' }, {}])('are unknown with %o alone', async (variables) => {
    jobs = await openJobsApp(variables);
    for (const path of PATHS) {
      for (const headers of [{ authorization }, { authorization, accept: 'text/html' }]) {
        expect([path, (await jobs.get(path, headers)).status]).toEqual([path, 404]);
      }
    }
    expect((await state('a.example')).status).toBe(404);
  });

  it('are shown to the operator alone', async () => {
    await opened();
    expect((await jobs!.get('/admin/v1/boards')).status).toBe(401);
    const page = await jobs!.get('/boards', { accept: 'text/html' });
    expect([page.status, /greenhouse:acme/.test(page.text)]).toEqual([200, false]);
    expect((await jobs!.get('/boards')).status).toBe(404);
  });
});
