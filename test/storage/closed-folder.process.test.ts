import { chmodSync, cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { requireWritable } from '../../src/cli/output-paths.ts';
import { closedFolder } from '../../src/storage/folder-fault.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { BooksFile } from '../../src/storage/sqlite/books-file.ts';
import { StateDatabase } from '../../src/storage/sqlite/database.ts';
import { suiteFolder, testFolder } from '../support/scratch-folder.ts';

const isRoot = process.getuid?.() === 0;

/** Root sees everything, so it acts as somebody else. */
function asNobody<T>(act: () => T): T {
  if (!isRoot) return act();
  process.seteuid?.('nobody');
  try {
    return act();
  } finally {
    process.seteuid?.(0);
  }
}

it('a folder that only its server may look into is told from one without the file', () => {
  const closed = testFolder();
  chmodSync(closed, isRoot ? 0o700 : 0o000);
  const words = `${closed} is closed to this user: run this as the user that runs the server`;
  expect(asNobody(() => closedFolder(closed, 'state.db'))).toBe(words);
  chmodSync(closed, 0o755);
  expect(asNobody(() => closedFolder(closed, 'state.db'))).toBeUndefined();
  expect(asNobody(() => closedFolder(join(closed, 'none'), 'state.db'))).toBeUndefined();
});

it('books that only their server may read are told from those that are damaged', () => {
  const folder = testFolder();
  const path = join(folder, 'state.db');
  new StateDatabase({ path, sync: 'normal' }).close();
  chmodSync(path, isRoot ? 0o600 : 0o000);
  chmodSync(folder, 0o755);
  const list = () => new BooksFile(folder).list({ sinceMs: 0, isUndeliveredOnly: false, after: undefined, limit: 1 });
  expect(() => asNobody(list)).toThrow(`${path} is closed to this user: run this as the user that runs the server`);
});

it('an --out in a folder that this user may not write to is refused before the work', async () => {
  const folder = testFolder();
  const out = join(folder, 'out');
  await requireWritable(out);
  expect(readdirSync(folder)).toEqual([]);
  chmodSync(folder, 0o555);
  if (isRoot) process.seteuid?.('nobody');
  try {
    await expect(requireWritable(out)).rejects.toThrow(`${out} cannot be written (EACCES)`);
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

describe('a catalogue that this user may not read', () => {
  const folder = suiteFolder();
  const path = join(folder, 'catalogue.sqlite');

  it.each<[string, () => void, string]>([
    [
      'a folder that is closed',
      () => chmodSync(folder, isRoot ? 0o700 : 0o000),
      `${folder} is closed to this user: run this as the user that runs the server`,
    ],
    [
      'a file that is closed',
      () => {
        chmodSync(folder, 0o755);
        chmodSync(path, isRoot ? 0o600 : 0o000);
      },
      `${path} cannot be opened by this user`,
    ],
    [
      'a write that a kill cut off',
      () => {
        chmodSync(path, 0o644);
        const killed = testFolder();
        const history = HistoryDatabase.openForSettings(folder);
        history.exec('PRAGMA cache_size = 1; CREATE TABLE many (text); INSERT INTO many VALUES (randomblob(100000))');
        cpSync(folder, killed, { recursive: true });
        history.exec('ROLLBACK');
        history.close();
        cpSync(killed, folder, { recursive: true });
        chmodSync(path, 0o444);
        chmodSync(folder, 0o555);
      },
      `${path}: a killed process left an unfinished write, which this user may not roll back; run this once as the user that imports or watches`,
    ],
  ])('is said to be %s', (_, close, words) => {
    if (readdirSync(folder).length === 0) {
      const history = HistoryDatabase.openForSettings(folder);
      history.commit();
      history.close();
    }
    close();
    expect(() => asNobody(() => HistoryDatabase.openForGlance(folder))).toThrow(words);
  });
});
