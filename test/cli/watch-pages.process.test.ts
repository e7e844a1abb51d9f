/** `watch` of boards of pages, against a stub: pages that are missing, validators of a single page, robots.txt that cannot be read. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Board } from '../../src/ingest/boards/board.ts';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { BoardStub, type Fault } from '../support/board-stub.ts';
import { NOW_MS, run } from './captured-io.ts';

let folder: string;
let stub: BoardStub;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paygrade-pages-'));
  stub = await BoardStub.open();
});
afterEach(() => {
  stub.close();
  rmSync(folder, { recursive: true });
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
  history.database.exec('COMMIT');
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
