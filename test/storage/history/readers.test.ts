/** A change of the history while another process, such as a build, reads it. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseCompanyDomain } from '../../../src/catalogue/company-domain.ts';
import { BoardsUnavailableError } from '../../../src/catalogue/watched-boards.ts';
import { wordOfCompany } from '../../../src/ingest/companies/company-file.ts';
import { storedWords, storeWords } from '../../../src/storage/history/company-tables.ts';
import { HistoryDatabase, HistoryError } from '../../../src/storage/history/database.ts';
import { eventsIn, feedsIn } from '../../../src/storage/history/history-query.ts';
import { WatchedBoardsFile } from '../../../src/storage/history/watched-boards-file.ts';
import { testFolder } from '../../support/scratch-folder.ts';

const DOMAIN = parseCompanyDomain('acme.example')!;

let folder: string;
let reader: HistoryDatabase;
beforeEach(() => {
  folder = testFolder();
  const history = HistoryDatabase.openForSettings(folder);
  history.commit();
  history.close();
  reader = HistoryDatabase.openForReading(folder);
});
afterEach(() => {
  reader.close();
});

it('is refused by the server in a moment, as something that may be tried again', () => {
  const boards = new WatchedBoardsFile(folder);
  expect(() => boards.stateDomain('Acme', DOMAIN)).toThrow(BoardsUnavailableError);
  expect(boards.read(0).statedNames.size).toBe(0);
  reader.rollback();
  boards.stateDomain('Acme', DOMAIN);
  expect(boards.read(0).statedNames.size).toBe(1);
});

it('waits for the reader, and is made once it has ended', () => {
  const history = HistoryDatabase.openForSettings(folder);
  storeWords(history, [wordOfCompany('Acme', DOMAIN, [])]);
  expect(() => history.commit(1)).toThrow(HistoryError);
  reader.rollback();
  history.commit(1);
  expect(storedWords(history)).toHaveLength(1);
  history.close();
});

it('does not wait for events and feeds that are read page by page, and does not show in them', () => {
  const history = HistoryDatabase.openForSettings(folder);
  const addFeed = (board: number): void =>
    history.exec(
      `INSERT INTO board VALUES (${board}, 'lever', 'acme-${board}'); INSERT INTO feed VALUES (${board}, ${board}, 0, 1)`,
    );
  addFeed(1);
  addFeed(2);
  reader.rollback();
  history.commit(1);

  const shown = feedsIn(reader, {});
  expect(shown.next().value?.board).toBe('acme-1');
  expect(history.tryBegin()).toBe(true);
  addFeed(3);
  history.commit(1);
  expect([...shown].map(({ board }) => board)).toEqual(['acme-2']);
  expect([...feedsIn(reader, { sinceMs: 3 })].map(({ board }) => board)).toEqual(['acme-3']);
  expect([...eventsIn(reader, {})]).toEqual([]);
  history.close();
});
