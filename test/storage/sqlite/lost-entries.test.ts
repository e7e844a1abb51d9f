/** An index that has lost an entry hides a record that is on disk: a start refuses the file, as it does any other damage. */
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { Folder } from './folder.ts';

const RETRY = `INSERT INTO retry (id, customer, key_digest, next_ms, due_ms, state, secrets, result_body, checksum)
  VALUES ('rt_1', 'org:acme', 'digest', 1000, ?, '{}', NULL, NULL, 0)`;
const RESOLVE = `INSERT INTO resolve (id, token_digest, created_at_ms, question, checksum, status, outcome, outcome_checksum)
  VALUES ('rs_1', x'00', ?, '', 0, 'pending', x'', 0)`;

/** Runs the insertion while the index leaves such rows out. */
function insertUnindexed(path: string, index: string, insertion: string, value: number | null): void {
  const withSchema = (change: (database: DatabaseSync) => void): void => {
    const database = new DatabaseSync(path, { defensive: false });
    change(database);
    database.close();
  };
  let sql = '';
  withSchema((database) => {
    sql = String(database.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(index)?.sql);
    const without = sql.includes(' WHERE ') ? `${sql} AND customer = ''` : `${sql} WHERE question = '?'`;
    database.exec('PRAGMA writable_schema = ON');
    database.prepare('UPDATE sqlite_schema SET sql = ? WHERE name = ?').run(without, index);
  });
  withSchema((database) => {
    database.prepare(insertion).run(value);
    database.exec('PRAGMA writable_schema = ON');
    database.prepare('UPDATE sqlite_schema SET sql = ? WHERE name = ?').run(sql, index);
  });
}

it.each([
  ['retry_due', RETRY, 1000, /index of retries by due has 0 entries, not 1/],
  ['retry_held', RETRY, null, /index of retries by due has 0 entries, not 1/],
  ['retry_key', RETRY, 1000, /index of retries by key has 0 entries, not 1/],
  ['resolve_by_time', RESOLVE, 1000, /resolve_by_time/],
] as const)('%s', async (index, insertion, value, reason) => {
  const folder = new Folder();
  await folder.open();
  await folder.close();
  insertUnindexed(folder.file('state.db'), index, insertion, value);
  const state = await folder.open();
  expect(state.fault()).toMatch(reason);
  await folder.remove();
});
