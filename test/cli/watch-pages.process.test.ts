/** `watch` of boards of pages, against a stub: pages that are missing, validators of a single page, robots.txt that cannot be read. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PAGE_BYTES_MAX } from '../../src/adapters/boards/limits.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { MISSING_MAX } from '../../src/cli/watch/missing-postings.ts';
import type { Board } from '../../src/ingest/boards/board.ts';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { BoardStub, type Fault } from '../support/board-stub.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { partOf } from '../support/whole.ts';
import { NOW_MS, run } from './captured-io.ts';

let folder: string;
let stub: BoardStub;
beforeEach(async () => {
  folder = testFolder();
  stub = await BoardStub.open();
});
afterEach(() => {
  stub.close();
});

const board = (shape: Board['shape'], token: string, address: string): Board => ({
  ...{ shape, token, address, company: 'Shop', domain: null },
});
const SHOP = board('jsonld', 'shop.example', 'https://shop.example/jobs');
const WORKDAY = board('workday', 'acme/Careers', 'https://acme.wd5.myworkdayjobs.com/Careers');
const TEAMTAILOR = board('teamtailor', 'shop', 'https://shop.teamtailor.com');

const status =
  (code: number, headers: Record<string, string> = {}): Fault =>
  (_, response) =>
    void response.writeHead(code, headers).end('{}');

/** A round over the board, so many hours after the first. */
async function round(one: Board, hours = 0) {
  const history = HistoryDatabase.openForSettings(folder);
  new BoardTables(history).put(one, NOW_MS);
  history.commit();
  history.close();
  const words = ['--out', join(folder, 'jobs.snapshot'), '--once', '--all', '--host-pause-ms', '0'];
  const ran = await run(['watch', '--catalogue', folder, ...words], {
    nowMs: NOW_MS + hours * 3_600_000,
    env: stub.env,
  });
  expect(ran.exitCode, ran.stderr).toBe(0);
  return JSON.parse(ran.stdout) as Record<string, unknown>;
}

function health(): string | undefined {
  const history = HistoryDatabase.openForReading(folder);
  const [one] = new BoardTables(history).list();
  history.close();
  return one?.state?.health;
}

const html = (document: unknown): string =>
  `<html><script type="application/ld+json">${JSON.stringify(document)}</script></html>`;
const posting = (id: number) => ({
  ...{ '@type': 'JobPosting', title: `Cook ${id}`, url: `https://shop.example/jobs/${id}` },
  ...{ identifier: `${id}`, hiringOrganization: { name: 'Shop' } },
});
const pageBoard = (id: number): Board => ({ ...SHOP, address: `https://shop.example/jobs/${id}` });
/** A page that lists these postings by their addresses. */
const listing = (...ids: number[]) => ({
  '@type': 'ItemList',
  itemListElement: ids.map((id) => ({ '@type': 'ListItem', url: `https://shop.example/jobs/${id}` })),
});

describe('a page that is not there', () => {
  it.each([404, 410])('of a single posting (%i) closes nothing, and takes no other with it', async (code) => {
    stub.list(SHOP, html(listing(1, 2, 3)));
    for (const id of [1, 2, 3]) stub.list(pageBoard(id), html(posting(id)));
    expect(await round(SHOP)).toMatchObject({ status: 'ok', rows: 3, new: 3 });
    for (const hours of [1, 2, 3]) {
      stub.fail(pageBoard(2), status(code));
      stub.list(pageBoard(3), html({ ...posting(3), title: `Chef ${hours}` }));
      expect(await round(SHOP, hours)).toMatchObject({
        ...{ status: 'ok', http_status: 200, rows: 2, changed: 1, closed: 0 },
        reason: '1 of the pages that it lists are not there',
      });
      expect(health()).toBe('partial');
    }
    stub.fail(SHOP, status(code));
    expect(await round(SHOP, 4)).toMatchObject({ status: 'failed', http_status: code, closed: 0 });
    expect(health()).toBe('gone');
  });

  it.each([
    ['has no markup', '<html>This job is taken.</html>'],
    ['is the list again', html(listing(1, 3))],
  ])('of a single posting (it %s) closes nothing, and takes no other with it', async (_, text) => {
    stub.list(SHOP, html(listing(1, 2, 3)));
    for (const id of [1, 2, 3]) stub.list(pageBoard(id), html(posting(id)));
    expect(await round(SHOP)).toMatchObject({ status: 'ok', rows: 3, new: 3 });
    stub.list(pageBoard(2), text);
    for (const hours of [1, 2, 3]) {
      expect(await round(SHOP, hours)).toMatchObject({
        ...{ status: 'ok', rows: 2, closed: 0 },
        reason: 'it has, or may have, more jobs than it lists',
      });
    }
  });

  it('after the first of a list is a failure, and the board is not gone', async () => {
    const postings = Array.from({ length: 20 }, (_, number) => ({ externalPath: `/job/R${number}`, title: 'Cook' }));
    stub.searches.set('/acme.wd5.myworkdayjobs.com/wday/cxs/acme/Careers/jobs', (sent) =>
      (JSON.parse(sent) as { offset: number }).offset === 0 ? { total: 40, jobPostings: postings } : status(404),
    );
    expect(await round(WORKDAY)).toMatchObject({ status: 'failed', http_status: 404 });
    expect(health()).toBe('failed');
  });
});

/** Rounds of the seeded run; the fourth job is lost in the fifth of them. */
const HOURS = partOf(30, 12);

describe('a page that lists some of its jobs, and says nothing of the others', () => {
  const list = (...ids: number[]): void => stub.list(SHOP, html(ids.map(posting)));
  const openJobs = (): string[] => {
    const history = HistoryDatabase.openForReading(folder);
    const rows = history.rows('SELECT id FROM job WHERE closed_ms IS NULL ORDER BY id');
    history.close();
    return rows.map(({ id }) => String(id).split(':').at(-1)!);
  };
  const pagesAsked = (): string[] => stub.seen.splice(0).map(({ path }) => path.split('/').at(-1)!);
  beforeEach(async () => {
    stub.texts.set('/robots.txt', '');
    list(1, 2, 3, 4);
    for (const id of [1, 2, 3, 4]) stub.list(pageBoard(id), html(posting(id)));
    await round(SHOP);
    stub.seen.length = 0;
  });

  it('keeps those open whose own page still has the posting, and says that they were observed', async () => {
    list(1, 2);
    for (const hours of [1, 2, 3, 4]) {
      expect(await round(SHOP, hours)).toMatchObject({ status: 'ok', rows: 2, new: 0, changed: 0, closed: 0 });
      expect(pagesAsked().sort()).toEqual(['3', '4', 'jobs', 'robots.txt']);
    }
    expect(openJobs()).toEqual(['1', '2', '3', '4']);
    const history = HistoryDatabase.openForReading(folder);
    expect(history.rows('SELECT DISTINCT last_observed_ms FROM job')).toEqual([
      { last_observed_ms: NOW_MS + 4 * 3_600_000 },
    ]);
    history.close();
    expect(health()).toBe('ok');
  });

  it.each<[string, () => void]>([
    ['is not there', () => stub.fail(pageBoard(4), status(404), status(410))],
    ['has no markup', () => stub.list(pageBoard(4), '<html>This job is taken.</html>')],
    [
      'leads to the list',
      () => {
        const away = status(302, { location: '/shop.example/jobs' });
        stub.fail(pageBoard(4), away, away);
      },
    ],
    ['shows other jobs', () => stub.list(pageBoard(4), html([posting(8), posting(9)]))],
    ['says that it has ended', () => stub.list(pageBoard(4), html({ ...posting(4), validThrough: '2020-01-01' }))],
  ])('closes one whose own page %s at the second such visit, and no other', async (_, play) => {
    list(1, 2);
    play();
    expect(await round(SHOP, 1)).toMatchObject({ status: 'ok', closed: 0 });
    expect(await round(SHOP, 2)).toMatchObject({ status: 'ok', closed: 1 });
    expect(openJobs()).toEqual(['1', '2', '3']);
    pagesAsked();
    await round(SHOP, 3);
    expect(pagesAsked()).not.toContain('4');
  });

  it.each<[string, () => void, object]>([
    [
      'is refused',
      () => stub.fail(pageBoard(4), ...Array.from({ length: 3 }, () => status(403))),
      { status: 'ok', reason: 'a known job is not in its list, and its page cannot be read: status 403' },
    ],
    [
      'is longer than a page of one posting may be',
      () => stub.list(pageBoard(4), `${html(posting(4))}${' '.repeat(PAGE_BYTES_MAX)}`),
      {
        status: 'ok',
        reason: `a known job is not in its list, and its page cannot be read: too-large: a body over ${PAGE_BYTES_MAX} bytes`,
      },
    ],
    [
      'must not be asked for',
      () => stub.texts.set('/robots.txt', 'User-agent: *\nDisallow: /shop.example/jobs/4'),
      {
        status: 'ok',
        reason: expect.stringMatching(/its page cannot be read: the robots rules of .* do not allow it/),
      },
    ],
    [
      'fails',
      () => stub.fail(pageBoard(4), ...Array.from({ length: 9 }, () => status(503))),
      { status: 'failed', http_status: 503 },
    ],
  ])('closes nothing while the page of one %s', async (_, play, expected) => {
    list(1, 2);
    play();
    stub.fail(pageBoard(3), ...Array.from({ length: 3 }, () => status(404)));
    for (const hours of [1, 2, 3]) expect(await round(SHOP, hours)).toMatchObject({ closed: 0, ...expected });
    expect(openJobs()).toEqual(['1', '2', '3', '4']);
  });

  it('closes nothing, and asks no page, while it lacks more jobs than a visit asks for', async () => {
    const ids = Array.from({ length: MISSING_MAX + 120 }, (_, id) => id + 1);
    list(...ids);
    await round(SHOP, 1);
    list(...ids.slice(0, 119));
    pagesAsked();
    for (const hours of [2, 3, 4]) {
      expect(await round(SHOP, hours)).toMatchObject({
        ...{ status: 'ok', closed: 0 },
        reason: `${MISSING_MAX + 1} known jobs are not in its list, which may be its first ones only`,
      });
    }
    expect(pagesAsked().filter((path) => path !== 'robots.txt')).toEqual(['jobs', 'jobs', 'jobs']);
  });

  it('never closes a job that has its page, and closes each that lost it, whatever the list shows (seeded)', async () => {
    const random = new SeededRandom(18);
    const all = Array.from({ length: 12 }, (_, id) => id + 1);
    let there = new Set(all);
    const goneSince = new Map<number, number>();
    for (const id of all) stub.list(pageBoard(id), html(posting(id)));
    for (let hours = 1; hours <= HOURS; hours++) {
      if (hours > 1 && there.size > 8) {
        const gone = [...there][random.below(there.size)]!;
        there = new Set([...there].filter((id) => id !== gone));
        stub.list(pageBoard(gone), random.below(2) === 0 ? '<html></html>' : html([posting(98), posting(99)]));
        if (random.below(3) === 0) stub.fail(pageBoard(gone), ...Array.from({ length: 30 }, () => status(410)));
        goneSince.set(gone, hours);
      }
      const first = [...there].sort(() => random.below(3) - 1).slice(0, Math.max(4, random.below(there.size + 1)));
      list(...(hours === 1 ? all : first));
      await round(SHOP, hours);
      const open = new Set(openJobs());
      for (const id of there) expect(open, `hour ${hours}: job ${id} has its page`).toContain(`${id}`);
      for (const [id, since] of goneSince) {
        if (hours > since) expect(open, `hour ${hours}: job ${id} is gone`).not.toContain(`${id}`);
      }
    }
    expect(goneSince.size).toBe(4);
  });
});

describe('the validators of a first page', () => {
  const feed = (...ids: number[]) => ({
    ...{
      version: 'https://jsonfeed.org/version/1.1',
      title: 'Shop',
      home_page_url: 'https://shop.teamtailor.com/jobs',
    },
    items: ids.map((id) => ({
      ...{ id: `${id}`, title: 'Cook', url: `https://shop.teamtailor.com/jobs/${id}-cook` },
      date_published: '2026-07-01T00:00:00Z',
      _jobposting: { '@type': 'JobPosting', title: 'Cook', hiringOrganization: { name: 'Shop' } },
    })),
  });

  it('of Teamtailor are sent where it is the only one, and hold for no feed of more', async () => {
    stub.list(TEAMTAILOR, feed(1, 2), { pageRows: 2 });
    expect(await round(TEAMTAILOR)).toMatchObject({ status: 'ok', rows: 2, new: 2 });
    expect(await round(TEAMTAILOR, 1)).toMatchObject({ status: 'unchanged', http_status: 304, rows: 2 });
    stub.list(TEAMTAILOR, feed(1, 2, 3), { pageRows: 2 });
    expect(await round(TEAMTAILOR, 2)).toMatchObject({ status: 'ok', rows: 3, new: 1 });
    expect(await round(TEAMTAILOR, 3)).toMatchObject({ status: 'ok', rows: 3 });
    expect(stub.seen.map(({ headers }) => headers['if-none-match'] !== undefined)).toEqual([
      ...[false, true, true, false],
      ...[false, false],
    ]);
  });

  it('of JSON-LD are sent where it has the postings itself', async () => {
    stub.texts.set('/robots.txt', '');
    stub.list(SHOP, html([posting(1), posting(2)]));
    expect(await round(SHOP)).toMatchObject({ status: 'ok', rows: 2, new: 2 });
    expect(await round(SHOP, 1)).toMatchObject({ status: 'unchanged', http_status: 304, rows: 2 });
    stub.list(SHOP, html(listing(1)));
    stub.list(pageBoard(1), html(posting(1)));
    expect(await round(SHOP, 2)).toMatchObject({ status: 'ok', rows: 1 });
    expect(await round(SHOP, 3)).toMatchObject({ status: 'ok', rows: 1, closed: 1 });
  });
});

describe('a robots.txt', () => {
  it.each([
    { code: 429, headers: { 'retry-after': '7200' }, hours: 2 },
    { code: 503, headers: { 'retry-after': '10800' }, hours: 3 },
  ])('that answers $code allows nothing, says so, and holds the board as it asks', async ({ code, headers, hours }) => {
    stub.list(SHOP, html(posting(1)));
    stub.searches.set('/robots.txt', () => status(code, headers));
    const visit = await round(SHOP);
    expect(visit).toMatchObject({ status: 'failed', http_status: null });
    expect(visit.reason).toBe(`the robots.txt of ${stub.host} cannot be read: status ${code}`);
    expect(Date.parse(visit.next_at as string)).toBe(NOW_MS + hours * 3_600_000);
    expect(stub.seen.map(({ path }) => path)).toEqual(['/robots.txt']);
    stub.searches.delete('/robots.txt');
    expect(await round(SHOP, 5)).toMatchObject({ status: 'ok', rows: 1 });
  });
});
