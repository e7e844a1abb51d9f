/** The files that the package ships in its `data` folder. */
import { readFileSync } from 'node:fs';

/** Folders above this file that may hold `data`: two for src/ingest, one to four for a `dist` of any usual shape. */
const LEVELS_UP_MAX = 4;

/** The text of a file of `data`. @throws Error when no folder above the program has the file */
export function readPackageText(fileName: string): string {
  for (let level = 1; level <= LEVELS_UP_MAX; level++) {
    const file = new URL(`${'../'.repeat(level)}data/${fileName}`, import.meta.url);
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
      throw error;
    }
  }
  throw new Error(`data/${fileName} was not found in the folders above the program`);
}

/**
 * The parsed JSON of a file of `data`.
 * @throws Error when no folder above the program has the file, or when it is not JSON
 */
export function readPackageData(fileName: string): unknown {
  return JSON.parse(readPackageText(fileName));
}
