/** The list of watched boards and their states, in the history of a catalogue. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseCompanyDomain } from '../../src/catalogue/company-domain.ts';
import type { Board } from '../../src/ingest/boards/board.ts';
import type { FetchState } from '../../src/ingest/boards/fetch-state.ts';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { testFolder } from '../support/scratch-folder.ts';

const DAY_MS = 86_400_000;
const ACME: Board = {
  ...{ shape: 'greenhouse', token: 'acme', company: null, domain: null },
  address: 'https://job-boards.greenhouse.io/acme',
};
const STATE: FetchState = {
  ...{ health: 'ok', lastFetchMs: 5, lastOkMs: 5, httpStatus: 200, reason: null, failures: 0, rows: 3, lastRows: 3 },
  ...{ validators: { etag: '"1"', lastModified: null } },
};

let folder: string;
let history: HistoryDatabase;
let tables: BoardTables;
const open = (): void => {
  history = HistoryDatabase.openForSettings(folder);
  tables = new BoardTables(history);
};
beforeEach(() => {
  folder = testFolder();
  open();
});
afterEach(() => {
  history.close();
});

it('keeps what is committed, and nothing else', () => {
  expect(tables.put(ACME, 1)).toBe('added');
  history.close();
  open();
  expect(tables.list()).toEqual([]);
  tables.put(ACME, 2);
  history.commit();
  history.close();
  open();
  expect(tables.list()).toEqual([{ ...ACME, name: 'greenhouse:acme', addedMs: 2, nextMs: 0, state: null }]);
});

it('brings a known board up to date without losing its state, whatever the case of its name', () => {
  tables.put(ACME, 1);
  tables.store('greenhouse:acme', STATE, 99);
  expect(tables.put({ ...ACME, token: 'ACME' }, 2)).toBe('known');
  const domain = parseCompanyDomain('acme.com')!;
  expect(tables.put({ ...ACME, company: 'Acme', domain }, 2)).toBe('changed');
  expect(tables.put(ACME, 3)).toBe('known');
  expect(tables.find('Greenhouse:acme')).toMatchObject({
    company: 'Acme',
    domain,
    nextMs: 99,
    state: STATE,
    addedMs: 1,
  });
  // Another place has other answers: what validated the old one's says nothing about it.
  expect(tables.put({ ...ACME, address: 'https://job-boards.eu.greenhouse.io/acme' }, 4)).toBe('changed');
  expect(tables.find('greenhouse:acme')).toMatchObject({ nextMs: 0, state: { ...STATE, validators: null } });
});

it('adds up the days of the boards, those of boards that are no longer watched included', () => {
  tables.put(ACME, 1);
  const counts = { fetches: 1, opened: 2, changed: 3, closed: 4, reopened: 5 };
  tables.addToDay('greenhouse:acme', 3 * DAY_MS, counts);
  tables.addToDay('greenhouse:acme', 4 * DAY_MS - 1, counts);
  tables.addToDay('greenhouse:acme', 4 * DAY_MS, counts);
  tables.addToDay('lever:other', 4 * DAY_MS + 1, counts);
  const days = [
    { dayMs: 3 * DAY_MS, fetches: 2, opened: 4, changed: 6, closed: 8, reopened: 10 },
    { dayMs: 4 * DAY_MS, fetches: 2, opened: 4, changed: 6, closed: 8, reopened: 10 },
  ];
  expect(tables.days(0)).toEqual(days);
  expect(tables.days(4 * DAY_MS + 1)).toHaveLength(1);
  expect([tables.remove('greenhouse:acme'), tables.remove('greenhouse:acme')]).toEqual([true, false]);
  expect([tables.days(0), tables.list()]).toEqual([days, []]);
});

it('keeps which descriptions were asked for in vain, for as long as that matters', () => {
  tables.put(ACME, 1);
  tables.keepDetailTries('greenhouse:acme', ['a', 'b'], 10);
  tables.keepDetailTries('greenhouse:acme', ['b'], 20);
  expect(tables.detailTries('Greenhouse:acme')).toEqual(
    new Map([
      ['a', { tries: 1, triedMs: 10 }],
      ['b', { tries: 2, triedMs: 20 }],
    ]),
  );
  tables.keepDetailTries('greenhouse:acme', ['c'], 11 + 14 * DAY_MS);
  expect([...tables.detailTries('greenhouse:acme').keys()]).toEqual(['b', 'c']);
  tables.remove('greenhouse:acme');
  expect(tables.detailTries('greenhouse:acme').size).toBe(0);
});

it('puts boards off, and none that is due later', () => {
  tables.put(ACME, 1);
  tables.postpone(['greenhouse:acme'], 50);
  expect(tables.find('greenhouse:acme')).toMatchObject({ nextMs: 50, state: null });
  tables.postpone(['greenhouse:acme'], 40);
  expect(tables.find('greenhouse:acme')?.nextMs).toBe(50);
});
