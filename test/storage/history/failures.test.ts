/** A statement that SQLite refuses ends a command in one line that names the file, however the statement is run. */
import { expect, it, onTestFinished } from 'vitest';
import { HistoryDatabase, HistoryError } from '../../../src/storage/history/database.ts';
import { testFolder } from '../../support/scratch-folder.ts';

it.each<[string, (history: HistoryDatabase, sql: string) => unknown]>([
  ['run', (history, sql) => history.run(sql)],
  ['insert', (history, sql) => history.insert(sql)],
  ['exec', (history, sql) => history.exec(sql)],
  ['row', (history, sql) => history.row(sql)],
  ['rows', (history, sql) => history.rows(sql)],
  ['each', (history, sql) => [...history.each(sql)]],
])('%s says that the table is gone, and leaves a bug as it is', (_, act) => {
  const folder = testFolder();
  const history = HistoryDatabase.openForSettings(folder);
  onTestFinished(() => history.close());
  history.exec('DROP TABLE repeated');
  expect(() => act(history, 'INSERT INTO repeated DEFAULT VALUES')).toThrow(
    new HistoryError(`${history.path}: no such table: repeated`),
  );
  expect(() => act(history, 1 as never)).toThrow(TypeError);
});
