import { accessSync, constants, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderFaultOf } from '../../src/storage/folder-fault.ts';
import { suiteFolder } from '../support/scratch-folder.ts';

const folder = suiteFolder();
const file = join(folder, 'file');
writeFileSync(file, '');
const inside = join(folder, 'new');
const dangling = join(folder, 'dangling');
symlinkSync(join(folder, 'gone'), dangling);
const circle = join(folder, 'circle');
symlinkSync(circle, circle);
/** A folder on a read-only file system, where the machine has one. */
function readOnlyFolder(): string | undefined {
  if (!existsSync('/proc/self/mounts')) return undefined;
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  return mounts
    .map((line) => line.split(' '))
    .filter(([, , , options = '']) => options.split(',').includes('ro'))
    .map(([, path = '']) => path)
    .find(isReadOnlyFolder);
}

/** For this user too: on some read-only mounts the system refuses for another reason first. */
function isReadOnlyFolder(path: string): boolean {
  try {
    if (!statSync(path).isDirectory()) return false;
    accessSync(path, constants.W_OK);
  } catch (failure) {
    return (failure as NodeJS.ErrnoException).code === 'EROFS';
  }
  return false;
}

const readOnly = readOnlyFolder();
const failing = (facts: object): Error => Object.assign(new Error('what the system says\nmore'), facts);

describe('why a folder cannot be used', () => {
  it.each<[facts: object, path: string, words: string]>([
    [{ code: 'EEXIST' }, file, 'it is a file, not a folder; name another one'],
    [{ code: 'ENOTDIR' }, join(file, 'x'), `${file} is a file, not a folder; name another one`],
    [
      { code: 'EACCES' },
      folder,
      'this user may not write to it; give it to the user that runs this, or name another folder',
    ],
    [
      { code: 'EPERM' },
      inside,
      `this user may not write to ${folder}; give it to the user that runs this, or name another folder`,
    ],
    [{ code: 'EROFS' }, folder, 'it is on a read-only file system; name another folder'],
    [{ code: 'ENOSPC' }, inside, `there is no space left at ${folder}; free some, or name another folder`],
    [{ code: 'ENOENT' }, dangling, 'it is a link to nothing; mend it, or name another folder'],
    [{ code: 'ENOENT' }, join(dangling, 'a', 'b'), `${dangling} is a link to nothing; mend it, or name another folder`],
    [{ code: 'ELOOP' }, circle, 'it is a link to nothing; mend it, or name another folder'],
    [{ code: 'ENOENT' }, inside, `no folder can be made in ${folder}; name another one`],
    [
      { code: 'ERR_SQLITE_ERROR', errcode: 14 },
      folder,
      'this user may not write the files in it; give it to the user that runs this, or name another folder',
    ],
    [
      { code: 'ERR_SQLITE_ERROR', errcode: 1032 },
      folder,
      'this user may not write the files in it; give it to the user that runs this, or name another folder',
    ],
    [
      { code: 'ERR_SQLITE_ERROR', errcode: 13 },
      inside,
      `there is no space left at ${folder}; free some, or name another folder`,
    ],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 11 }, folder, 'what the system says'],
    [{}, folder, 'what the system says'],
  ])('%j', (facts, path, words) => {
    expect(folderFaultOf(path, failing(facts))).toBe(words);
  });

  it.runIf(readOnly !== undefined)(
    'a read-only file system is named, though SQLite only says that it cannot open',
    () => {
      const words = 'it is on a read-only file system; name another folder';
      expect(folderFaultOf(readOnly as string, failing({ code: 'ERR_SQLITE_ERROR', errcode: 14 }))).toBe(words);
    },
  );
});
