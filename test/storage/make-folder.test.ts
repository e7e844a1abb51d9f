import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '../../src/storage/make-folder.ts';
import { suiteFolder } from '../support/scratch-folder.ts';

const top = suiteFolder();

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
