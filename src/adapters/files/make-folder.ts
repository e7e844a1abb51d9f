/**
 * Makes a folder and those above it, as `mkdir -p` does. Not `mkdirSync` with `recursive`: Node never returns from it below a
 * place that takes no folders and calls them missing, such as `/proc`.
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const codeOf = (failure: unknown): unknown => (failure as { code?: unknown }).code;

/** @param mode of what is made. @throws what mkdir throws */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, mode);
  } catch (failure) {
    if (codeOf(failure) === 'EEXIST' && statSync(path).isDirectory()) return;
    const above = dirname(resolve(path));
    if (codeOf(failure) !== 'ENOENT' || above === resolve(path)) throw failure;
    makeFolder(above, mode);
    try {
      mkdirSync(path, mode);
    } catch (second) {
      if (codeOf(second) !== 'EEXIST') throw second; // somebody else made it meanwhile
    }
  }
}
