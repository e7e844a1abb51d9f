import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeFolder } from '../../src/storage/make-folder.ts';

const top = mkdtempSync(join(tmpdir(), 'paygrade-folder-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

it('makes missing parents, and accepts existing ones', () => {
  const path = join(top, 'a', 'b', 'c');
  makeFolder(path, 0o700);
  makeFolder(path, 0o700);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

it('refuses a file in its way', () => {
  const file = join(top, 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file)).toThrow(/EEXIST/);
  expect(() => makeFolder(join(file, 'below'))).toThrow(/ENOTDIR/);
});

it.runIf(existsSync('/proc/self'))('ends where no folder can be made', () => {
  expect(() => makeFolder('/proc/none/below')).toThrow(/ENOENT/);
});
