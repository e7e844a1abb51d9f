/** Which failures of SQLite are bugs, and which are those of one operation, by failures that it really has. */
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { DamagedError } from '../../../src/storage/sqlite/checksum.ts';
import { isBug, isOfTheRequest } from '../../../src/storage/sqlite/refused.ts';
import { resultCodeOf } from '../../../src/storage/sqlite/result-code.ts';

function failureOf(run: (database: DatabaseSync) => unknown): unknown {
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE one (id INTEGER PRIMARY KEY, text TEXT) STRICT; INSERT INTO one VALUES (1, NULL)');
  try {
    run(database);
  } catch (failure) {
    return failure;
  } finally {
    database.close();
  }
  throw new Error('it did not fail');
}

it.each<[string, number | undefined, boolean, (database: DatabaseSync) => unknown]>([
  ['names no table', 1, true, (database) => database.exec('SELECT * FROM two')],
  ['makes a value too large', 18, true, (database) => database.prepare('SELECT zeroblob(2000000000)').get()],
  ['repeats a key', 19, true, (database) => database.exec('INSERT INTO one VALUES (1, NULL)')],
  ['has a text for a key', 20, true, (database) => database.prepare('INSERT INTO one VALUES (?, NULL)').run('a')],
  ['has too many values', 25, true, (database) => database.prepare('SELECT 1').get(1)],
  ['has a value of no type', undefined, true, (database) => database.prepare('SELECT ?').get(Symbol('none') as never)],
  [
    'meets a full file',
    13,
    false,
    (database) => {
      database.exec('PRAGMA max_page_count = 2');
      database.prepare('INSERT INTO one VALUES (2, ?)').run('x'.repeat(100_000));
    },
  ],
  [
    'may only read',
    8,
    false,
    (database) => {
      database.exec('PRAGMA query_only = 1');
      database.exec('DELETE FROM one');
    },
  ],
  ['meets no folder', 14, false, () => new DatabaseSync('/nowhere/state.db')],
])('a statement that %s fails with code %s, of its own fault: %s', (_, code, isOwn, run) => {
  const failure = failureOf(run);
  expect(resultCodeOf(failure)).toBe(code);
  expect([isOfTheRequest(failure), isBug(failure)]).toEqual([isOwn, isOwn]);
});

it('a damaged record is the fault of its request alone, and no bug', () => {
  const failure = new DamagedError('sale 1');
  expect([isOfTheRequest(failure), isBug(failure)]).toEqual([true, false]);
});
