/** Descriptions that `watch` asks for one by one. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PageAnswer } from '../../src/adapters/boards/board-client.ts';
import { fetchDetails, rowsWithout } from '../../src/cli/watch/details.ts';
import type { Board } from '../../src/ingest/boards/board.ts';
import type { BoardRequest } from '../../src/ingest/boards/board-request.ts';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { HISTORY_FILE, HistoryDatabase, HistoryError } from '../../src/storage/history/database.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { NOW_MS } from './captured-io.ts';

const BOARD: Board = {
  ...{ shape: 'smartrecruiters', token: 'Acme', company: null, domain: null },
  address: 'https://careers.smartrecruiters.com/Acme',
};

const page = (body: string): PageAnswer => ({
  ...{ kind: 'page', status: 200, validators: null, url: '' },
  body: Buffer.from(body),
});
const refused = (status: number | null, isOfHost = false, retryAfterMs: number | null = null): PageAnswer => ({
  ...{ kind: 'failed', status, isOfHost, retryAfterMs },
  reason: 'as the test says',
});

/** The jobs of a list of one posting that lack a description. */
function wantedIds(history: HistoryDatabase): string[] {
  const tables = new BoardTables(history);
  const [watched] = tables.list();
  const posting = { id: '744', name: 'Cook', company: { identifier: 'Acme', name: 'Acme' } };
  const list = [Buffer.from(JSON.stringify({ totalFound: 1, content: [posting] }))];
  return rowsWithout({ history, tables }, watched!, list, { atMs: NOW_MS, origins: new Map() }).map(({ id }) => id);
}

/** Asks for the descriptions of jobs 0, 1 and so on, which these answer; all after them have one. */
async function found(...answers: readonly PageAnswer[]) {
  const asked: string[] = [];
  const client = {
    async ask({ url }: BoardRequest) {
      asked.push(url);
      return answers[Number(url)] ?? page(`{"jobAd":"${url}"}`);
    },
  };
  const wanted = Array.from({ length: 9 }, (_, number) => ({
    id: `job ${number}`,
    row: { id: `${number}` },
    request: { method: 'GET', url: `${number}`, body: null, accept: 'application/json' } as const,
  }));
  const details = await fetchDetails(BOARD, wanted, client, new AbortController().signal);
  const rows = details.page === null ? [] : (JSON.parse(Buffer.from(details.page).toString()) as { id: string }[]);
  return { ...details, came: rows.map(({ id }) => id).join(''), urls: asked.join('') };
}

describe('descriptions of a visit', () => {
  it('are fetched again where the last try was made while the clock ran ahead', () => {
    const folder = testFolder();
    const history = HistoryDatabase.openForSettings(folder);
    try {
      const tables = new BoardTables(history);
      tables.put(BOARD, NOW_MS);
      const ids = wantedIds(history);
      expect(ids).toHaveLength(1);
      tables.keepDetailTries('smartrecruiters:Acme', ids, NOW_MS - 1);
      expect(wantedIds(history)).toEqual([]);
      tables.keepDetailTries('smartrecruiters:Acme', ids, NOW_MS + 30 * 86_400_000);
      expect(wantedIds(history)).toEqual(ids);
    } finally {
      history.close();
    }
  });

  it('end with the line of a damaged catalogue where its jobs cannot be read', () => {
    const folder = testFolder();
    const made = HistoryDatabase.openForSettings(folder);
    new BoardTables(made).put(BOARD, NOW_MS);
    const pageBytes = made.row('PRAGMA page_size')?.page_size as number;
    const pages = made.rows("SELECT rootpage FROM sqlite_master WHERE tbl_name = 'job' AND rootpage > 0");
    made.commit();
    made.close();
    const file = openSync(join(folder, HISTORY_FILE), 'r+');
    for (const { rootpage } of pages)
      writeSync(file, Buffer.alloc(pageBytes, 0xff), 0, pageBytes, ((rootpage as number) - 1) * pageBytes);
    closeSync(file);
    const history = HistoryDatabase.openForSettings(folder);
    try {
      expect(() => wantedIds(history)).toThrow(HistoryError);
    } finally {
      history.close();
    }
  });

  it('are not asked for after three failures in a row', async () => {
    const fault = refused(500, true);
    const { asked, came, urls } = await found(fault, fault, page('{"jobAd":"2"}'), fault, fault, fault);
    expect([came, urls]).toEqual(['2', '012345']);
    expect(asked).toEqual(['job 0', 'job 1', 'job 2', 'job 3', 'job 4', 'job 5']);
  });

  it.each([
    ['404', refused(404)],
    ['410', refused(410)],
    ['no text', page('{}')],
  ])('go on after any number of postings that answer %s', async (_, answer) => {
    const { asked, came } = await found(...Array<PageAnswer>(6).fill(answer));
    expect(came).toMatch(/678$/);
    expect(asked).toHaveLength(9);
  });

  it('are not asked for any more once those that came fill the memory for them', async () => {
    const long = page(JSON.stringify({ jobAd: 'x'.repeat(9 * 1024 * 1024) }));
    const { asked, came } = await found(...Array<PageAnswer>(9).fill(long));
    expect([came, asked.length]).toEqual(['0123', 4]);
  });

  it('are not asked for any more once the host asks to be left alone', async () => {
    const { came, retryAfterMs, urls } = await found(page('{"jobAd":"0"}'), refused(429, true, 7_200_000));
    expect([came, urls, retryAfterMs]).toEqual(['0', '01', 7_200_000]);
  });
});
