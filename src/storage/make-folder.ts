/**
 * Makes a folder and its parents, as `mkdir -p` does. Not `mkdirSync` with `recursive`: on a file system that refuses
 * folders with ENOENT, such as `/proc`, Node's never returns.
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errorCodeOf } from '../base/failure.ts';

/** @param mode of each folder that it makes @throws the error of `mkdirSync` */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, mode);
  } catch (failure) {
    if (errorCodeOf(failure) === 'EEXIST' && statSync(path).isDirectory()) return;
    const above = dirname(resolve(path));
    if (errorCodeOf(failure) !== 'ENOENT' || above === resolve(path)) throw failure;
    makeFolder(above, mode);
    try {
      mkdirSync(path, mode);
    } catch (second) {
      if (errorCodeOf(second) !== 'EEXIST') throw second; // another process made it meanwhile
    }
  }
}
