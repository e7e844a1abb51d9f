/** The files that the package ships beside the program, in `data`, `pages` and `dist/vendor`. */
import { existsSync, readFileSync } from 'node:fs';

/** Folders above this file that may be the package's: two for src/ingest, one for `dist`. */
const LEVELS_UP_MAX = 2;

/** The place of a file of the package, such as `data/skills.json`; undefined where no folder above the program has it. */
export function packageFile(path: string): URL | undefined {
  for (let level = 1; level <= LEVELS_UP_MAX; level++) {
    const place = new URL(`${'../'.repeat(level)}${path}`, import.meta.url);
    if (existsSync(place)) return place;
  }
  return undefined;
}

/** The text of a file of `data`. @throws Error when no folder above the program has the file */
export function readPackageText(fileName: string): string {
  const place = packageFile(`data/${fileName}`);
  if (place === undefined) throw new Error(`data/${fileName} was not found in the folders above the program`);
  return readFileSync(place, 'utf8');
}

/**
 * The parsed JSON of a file of `data`.
 * @throws Error when no folder above the program has the file, or when it is not JSON
 */
export function readPackageData(fileName: string): unknown {
  return JSON.parse(readPackageText(fileName));
}
