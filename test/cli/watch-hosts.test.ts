/** Rounds of `watch`, in virtual time, over hosts that fail or ask to be left alone. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Board } from '../../src/ingest/boards/board.ts';
import type { OutboundResult } from '../../src/outbound/outbound.ts';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { answer, failure } from '../support/targets-by-host.ts';
import { type Played, virtualRounds } from '../support/virtual-rounds.ts';
import { NOW_MS, run } from './captured-io.ts';

const MINUTE_MS = 60_000;

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

const board = (shape: Board['shape'], token: string, address: string): Board => ({
  ...{ shape, token, address, company: null, domain: null },
});
const lever = (number: number): Board => {
  const token = `b${String(number).padStart(4, '0')}`;
  return board('lever', token, `https://jobs.lever.co/${token}`);
};
const levers = (count: number): Board[] => Array.from({ length: count }, (_, number) => lever(number));
const ashby = (token: string): Board => board('ashby', token, `https://jobs.ashbyhq.com/${token}`);

/** A list of one posting, as the host of its shape gives it. */
const listOf = ({ host, pathname }: URL): OutboundResult => {
  const token = pathname.split('/').at(-1)!;
  const posting = { id: token, title: 'Cook', text: 'Cook', location: 'Bern', categories: {} };
  if (host !== 'api.lever.co')
    return answer(
      200,
      JSON.stringify({
        apiVersion: '1',
        jobs: [{ ...posting, isListed: true, jobUrl: `https://jobs.ashbyhq.com/${token}/1` }],
      }),
    );
  return answer(200, JSON.stringify([{ ...posting, hostedUrl: `https://jobs.lever.co/${token}/1` }]));
};
/** Boards of Lever's host are answered so, others well. */
const leverPlays =
  (play: Played): Played =>
  (url, request) =>
    url.host === 'api.lever.co' ? play(url, request) : listOf(url);

it('a fault of our own reading fails the board, and the round goes on', async () => {
  const broken = { ...answer(200, '[]'), headers: null } as never;
  const round = await virtualRounds(
    folder,
    [lever(1), ashby('one')],
    1,
    leverPlays(() => broken),
  );
  expect(round.reports.map(({ board, status, reason }) => [board, status, reason?.slice(0, 19)])).toEqual(
    expect.arrayContaining([
      ['lever:b0001', 'failed', 'unexpected failure:'],
      ['ashby:one', 'ok', undefined],
    ]),
  );
});

describe('a host with 804 boards', () => {
  it.each([
    { name: 'never answers', play: () => null, visited: 5, tries: 1, leftMs: 5 * MINUTE_MS },
    { name: 'cannot be reached', play: () => failure('unreachable'), visited: 34, tries: 3, leftMs: 5 * MINUTE_MS },
    { name: 'answers 429', play: () => answer(429), visited: 34, tries: 3, leftMs: 5 * MINUTE_MS },
    {
      name: 'answers 429 with a long Retry-After',
      play: () => answer(429, '', { 'retry-after': '7200' }),
      ...{ visited: 5, tries: 1, leftMs: 120 * MINUTE_MS },
    },
  ])(
    'that $name is left alone after $visited of them, and the rest is due later',
    async ({ play, visited, tries, leftMs }) => {
      const boards = [...levers(804), ashby('one'), ashby('two')];
      const round = await virtualRounds(folder, boards, 1, leverPlays(play));
      const ofHost = round.asked.filter(({ host }) => host === 'api.lever.co');
      expect(ofHost.length).toBe(visited * tries);
      expect(round.tookMs).toBeLessThan(11 * MINUTE_MS);
      const { boards: left, untilMs } = round.held[0]!;
      expect(left).toHaveLength(804 - visited);
      expect(round.reports.filter(({ status }) => status === 'ok').map((report) => report.board)).toEqual([
        'ashby:one',
        'ashby:two',
      ]);
      const unvisited = round.boards.filter(({ shape, state }) => shape === 'lever' && state === null);
      expect(unvisited.map(({ name }) => name).sort()).toEqual(left.map(({ name }) => name).sort());
      expect(new Set(unvisited.map(({ nextMs }) => nextMs))).toEqual(new Set([untilMs]));
      // A random half of the pause is left out.
      const endMs = Math.max(...round.boards.map(({ state }) => state?.lastFetchMs ?? 0));
      expect(untilMs - endMs).toBeGreaterThan(leftMs / 2);
      expect(untilMs - endMs).toBeLessThanOrEqual(leftMs);
    },
  );

  it('is asked for one board alone after a pause, for longer and longer, until it answers', async () => {
    const away = leverPlays(() => answer(503));
    const second = await virtualRounds(folder, levers(60), 2, away);
    expect(second.reports).toHaveLength(1);
    expect(second.held[0]?.boards).toHaveLength(59);
    rmSync(join(folder, 'catalogue.sqlite'));
    let asked = 0;
    const back = await virtualRounds(
      folder,
      levers(60),
      2,
      leverPlays((url) => (++asked > 34 * 3 ? listOf(url) : answer(503))),
    );
    expect(back.reports.map(({ status }) => status)).toEqual(Array(60).fill('ok'));
    expect(back.held).toEqual([]);
  });

  it('of which a few boards alone fail is not left alone, whatever the order', async () => {
    const sick = new Set(['b0000', 'b0001', 'b0002', 'b0003', 'b0010', 'b0011', 'b0012', 'b0013']);
    const play = leverPlays((url) => (sick.has(url.pathname.split('/').at(-1)!) ? answer(500) : listOf(url)));
    const round = await virtualRounds(folder, levers(20), 1, play);
    expect(round.held).toEqual([]);
    expect(round.reports.filter(({ status }) => status === 'ok')).toHaveLength(12);
  });

  it('that fails at once is asked for every board', async () => {
    const round = await virtualRounds(
      folder,
      levers(20),
      1,
      leverPlays(() => answer(500)),
    );
    expect(round.held).toEqual([]);
    expect(round.reports.map(({ status }) => status)).toEqual(Array(20).fill('failed'));
  });
});

it('a short Retry-After holds the host after the last try as well', async () => {
  let asked = 0;
  const play = leverPlays((url) => (++asked <= 3 ? answer(429, '', { 'retry-after': '30' }) : listOf(url)));
  const round = await virtualRounds(folder, levers(2), 1, play);
  expect(round.reports.map(({ status }) => status)).toEqual(['failed', 'ok']);
  const [, , last, next] = round.asked.map(({ atMs }) => atMs);
  expect(next! - last!).toBeGreaterThanOrEqual(30_000);
});

describe('a round', () => {
  it('that has lasted long enough ends after the visits under way, and the rest stays due', async () => {
    const enough = new AbortController();
    let asked = 0;
    const play: Played = (url) => {
      if (++asked === 5) enough.abort();
      return listOf(url);
    };
    const round = await virtualRounds(folder, levers(20), 1, play, { enough: enough.signal });
    expect(round.reports).toHaveLength(5);
    expect(round.boards.filter(({ nextMs, state }) => nextMs === 0 && state === null)).toHaveLength(15);
  });

  it('has other work done every so often while a host does not answer, and keeps visits between', async () => {
    const kept: number[] = [];
    let asked = 0;
    const play = leverPlays((url) => {
      asked++;
      return asked > 2 ? null : listOf(url);
    });
    const aside = { everyMs: 2 * MINUTE_MS, act: async () => void kept.push(asked) };
    const round = await virtualRounds(folder, levers(5), 1, play, { aside });
    expect(round.reports.filter(({ status }) => status === 'ok')).toHaveLength(2);
    expect(kept).toEqual([3, 4, 5]);
  });

  it('ends with the failure of that work, when the visits under way have ended', async () => {
    const act = (): Promise<void> => Promise.reject(new Error('the disk is gone'));
    const play = leverPlays(() => null);
    const round = virtualRounds(folder, levers(3), 1, play, { aside: { everyMs: MINUTE_MS, act } });
    await expect(round).rejects.toThrow('the disk is gone');
  });

  it('gives up a list whose every page comes slowly, and takes it for a failure of the host', async () => {
    const workday = board('workday', 'acme/Careers', 'https://acme.wd5.myworkdayjobs.com/Careers');
    let offset = 0;
    const jobPostings = (): unknown[] =>
      Array.from({ length: 20 }, () => ({ externalPath: `/job/Bern/R${offset++}`, title: 'Cook' }));
    const play: Played = () => answer(200, JSON.stringify({ total: 1900, jobPostings: jobPostings() }));
    const quick = await virtualRounds(folder, [workday], 1, play);
    expect(quick.reports[0]).toMatchObject({ status: 'ok', rows: 1900 });
    rmSync(join(folder, 'catalogue.sqlite'));
    offset = 0;
    const slow = await virtualRounds(folder, [workday], 1, play, { answerMs: 100_000 });
    expect(slow.reports[0]).toMatchObject({ status: 'failed', http_status: null, rows: 0 });
    expect(slow.reports[0]?.reason).toBe('its pages took more than 28 minutes');
    expect(slow.tookMs).toBeLessThan(30 * MINUTE_MS);
  });
});

describe('descriptions of a board', () => {
  const ACME = board('smartrecruiters', 'Acme', 'https://careers.smartrecruiters.com/Acme');
  const OTHER = board('smartrecruiters', 'Other', 'https://careers.smartrecruiters.com/Other');
  const list = (identifier: string, count: number): OutboundResult =>
    answer(
      200,
      JSON.stringify({
        ...{ offset: 0, limit: 100, totalFound: count },
        content: Array.from({ length: count }, (_, id) => ({
          ...{ id: `${id}`, name: `Cook ${id}`, releasedDate: '2026-07-01T00:00:00Z', location: { city: 'Bern' } },
          company: { identifier, name: identifier },
        })),
      }),
    );
  const detail = (text: string): OutboundResult =>
    answer(200, JSON.stringify({ jobAd: { sections: { jobDescription: { text } } } }));

  it('come in the end, however many of the first postings have none, and those are asked for less and less', async () => {
    const askedFor = new Map<string, number>();
    const play: Played = (url) => {
      const id = url.pathname.split('/')[5];
      if (id === undefined) return list('Acme', 100);
      askedFor.set(id, (askedFor.get(id) ?? 0) + 1);
      const number = Number(id);
      return number < 40 ? answer(404) : number < 80 ? detail('') : detail('<p>Cook with Python.</p>');
    };
    await virtualRounds(folder, [ACME], 1, play);
    expect([...askedFor.values()]).toEqual(Array(100).fill(1));
    rmSync(join(folder, 'catalogue.sqlite'));
    askedFor.clear();
    await virtualRounds(folder, [ACME], 12, play, { everyHours: 25 });
    const count = (from: number, to: number): number[] => [
      ...new Set(Array.from({ length: to - from }, (_, at) => askedFor.get(`${from + at}`) ?? 0)),
    ];
    expect(count(80, 100)).toEqual([1]);
    const [missing = 0] = count(0, 80);
    expect(missing).toBeGreaterThan(1);
    expect(missing).toBeLessThan(12);
  });

  it('hold the whole host where it asks for that, and the boards that wait lose nothing', async () => {
    const play: Played = (url) => {
      const [, , , token, , id] = url.pathname.split('/');
      if (id === undefined) return list(token!, 5);
      return answer(429, '', { 'retry-after': '10800' });
    };
    const round = await virtualRounds(folder, [ACME, OTHER], 1, play);
    expect(round.asked.map(({ url }) => new URL(url).pathname)).toEqual([
      '/v1/companies/Acme/postings',
      '/v1/companies/Acme/postings/0',
    ]);
    expect(round.reports).toMatchObject([{ board: 'smartrecruiters:Acme', status: 'ok', rows: 5 }]);
    expect(round.held).toMatchObject([{ host: 'api.smartrecruiters.com', boards: [{ token: 'Other' }] }]);
    const { untilMs } = round.held[0]!;
    expect(Math.min(...round.boards.map(({ nextMs }) => nextMs))).toBe(untilMs);
    expect(untilMs).toBeGreaterThanOrEqual(Date.UTC(2026, 7, 1, 15));
    const after = await virtualRounds(folder, [], 2, play, { everyHours: 4 });
    expect(after.asked.length).toBeGreaterThan(0);
  });
});

it('a board that is removed, or moves to another host, while the round goes on is not asked any more', async () => {
  const boards = [lever(0), lever(1), lever(2), lever(3)];
  const moved = { ...lever(2), address: 'https://jobs.eu.lever.co/b0002' };
  const { asked, reports } = await virtualRounds(folder, boards, 1, (url) => {
    if (url.pathname.endsWith('/b0000')) {
      const history = HistoryDatabase.openForSettings(folder);
      const tables = new BoardTables(history);
      tables.remove('lever:b0001');
      tables.put(moved, 0);
      history.commit();
      history.close();
    }
    return listOf(url);
  });
  expect(asked.map(({ url }) => new URL(url).pathname.split('/').at(-1))).toEqual(['b0000', 'b0003']);
  expect(reports.map(({ board }) => board)).toEqual(['lever:b0000', 'lever:b0003']);
});

it('a board that was never asked is held with its host, also with --all', async () => {
  const history = HistoryDatabase.openForSettings(folder);
  const tables = new BoardTables(history);
  tables.put(lever(0), NOW_MS);
  tables.postpone(['lever:b0000'], NOW_MS + 60 * MINUTE_MS);
  history.commit();
  history.close();
  const words = ['watch', '--once', '--all', '--catalogue', folder, '--out', join(folder, 'out')];
  const { exitCode, stdout } = await run(words);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    board: 'lever:b0000',
    reason: expect.stringMatching(/^not asked: api.lever.co /),
  });
});
