/** `watch` of a Workday board: pages, parts of a long search, and descriptions one by one, against a stub of its search. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { BoardStub } from '../support/board-stub.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { storedJobs } from '../support/stored-jobs.ts';
import { type TenantPosting, tenantAnswer } from '../support/workday-tenant.ts';
import { NOW_MS, run } from './captured-io.ts';

const HOST = 'acme.wd5.myworkdayjobs.com';
const ADDRESS = `https://${HOST}/Careers`;
const SITE = `/${HOST}/wday/cxs/acme/Careers`;
const BOARD = { shape: 'workday', token: 'acme/Careers', address: ADDRESS, company: 'Acme', domain: null } as const;

let folder: string;
let stub: BoardStub;
beforeEach(async () => {
  folder = testFolder();
  stub = await BoardStub.open();
  const history = HistoryDatabase.openForSettings(folder);
  new BoardTables(history).put(BOARD, NOW_MS);
  history.commit();
  history.close();
});
afterEach(() => {
  stub.close();
});

/** Twelve hundred in the first family. */
const posting = (number: number, facets = { family: [number < 1200 ? 'a' : 'b'] } as TenantPosting['facets']) => ({
  externalPath: `/job/Bern/Cook_R${number}`,
  title: `Cook ${number}`,
  locationsText: 'Bern',
  timeType: 'Full time',
  facets,
});
const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

/** A round over the board, which lists these postings. */
async function round(hours: number, postings: readonly TenantPosting[]) {
  stub.searches.set(`${SITE}/jobs`, (sent) => tenantAnswer(postings, sent, { isCapped: false }));
  const words = ['--out', join(folder, 'jobs.snapshot'), '--once', '--all', '--host-pause-ms', '0'];
  const ran = await run(['watch', '--catalogue', folder, ...words], {
    nowMs: NOW_MS + hours * 3_600_000,
    env: stub.env,
  });
  expect(ran.exitCode, ran.stderr).toBe(0);
  return JSON.parse(ran.stdout) as Record<string, unknown>;
}

describe('watch of a Workday board', () => {
  it('reads its pages, and the description of each job once', async () => {
    const detail = { jobPostingInfo: { jobDescription: '<p>Cook with Python.</p>', title: 'Another' } };
    for (const number of numbers(45)) stub.texts.set(`${SITE}/job/Bern/Cook_R${number}`, JSON.stringify(detail));
    const postings = numbers(45).map((number) => posting(number));
    expect(await round(0, postings)).toMatchObject({ status: 'ok', rows: 45, new: 45 });
    const asked = () => stub.seen.map(({ method }) => method).sort();
    expect(asked()).toEqual([...Array(45).fill('GET'), ...Array(3).fill('POST')]);
    expect(await round(1, postings)).toMatchObject({ status: 'ok', rows: 45, new: 0, changed: 0, closed: 0 });
    expect(asked()).toEqual([...Array(45).fill('GET'), ...Array(6).fill('POST')]);
    const history = HistoryDatabase.openForReading(folder);
    const found = [...storedJobs(history)].find(({ job }) => job.title === 'Cook 7');
    history.close();
    expect(found?.job).toMatchObject({
      id: 'workday:acme/Careers:R7',
      sourceUrl: `${ADDRESS}/job/Bern/Cook_R7`,
      description: 'Cook with Python.',
      skills: ['Python'],
    });
  });

  it('closes no job that a long search, read in parts, does not show, and closes what is gone', async () => {
    const all = numbers(2002).map((number) => posting(number));
    expect(await round(0, all)).toMatchObject({ status: 'ok', new: 2002 });
    const less = [...all.slice(0, 1500), ...all.slice(1501)];
    expect(await round(1, less)).toMatchObject({ status: 'ok', closed: 0 });
    // In none of the parts, and not on the first page: were this list complete, it would be the second without the job.
    const hidden = [...all.slice(0, 1500), posting(1500, {}), ...all.slice(1501)];
    expect(await round(2, hidden)).toMatchObject({
      status: 'ok',
      closed: 0,
      reason: expect.stringContaining('more jobs than it lists'),
    });
    const closing = await round(3, less);
    expect(closing).toMatchObject({ status: 'ok', closed: 1 });
    expect(closing.reason).toBeUndefined();
  }, 60_000);
});
