import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { firstFindingOf } from '../../../src/storage/sqlite/check-verdict.ts';
import { suiteFolder } from '../../support/scratch-folder.ts';

const folder = suiteFolder();

it('is what is wrong with the first damaged page, not the name above it', () => {
  const path = join(folder, 'a.db');
  const whole = new DatabaseSync(path);
  whole.exec('CREATE TABLE a (b TEXT)');
  const insert = whole.prepare('INSERT INTO a VALUES (?)');
  for (let i = 0; i < 100; i++) insert.run(`${i}`.repeat(100));
  whole.close();
  const bytes = readFileSync(path);
  bytes.fill(0xff, 8192, 12_288);
  writeFileSync(path, bytes);
  const damaged = new DatabaseSync(path, { readOnly: true });
  const verdict = damaged.prepare('PRAGMA quick_check(1)').get()?.quick_check;
  damaged.close();
  expect(verdict).toMatch(/^\*\*\* in database main \*\*\*\n/);
  expect(firstFindingOf(verdict)).toMatch(/^Tree \d+ page \d+.*: /);
  expect(firstFindingOf('row 1 missing from index x')).toBe('row 1 missing from index x');
});
