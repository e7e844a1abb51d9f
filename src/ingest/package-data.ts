/** The files that the package ships in its `data` folder. */
import { readFileSync } from 'node:fs';

/** Folders above this file that may hold `data`: two for src/ingest, one to four for a `dist` of any usual shape. */
const LEVELS_UP_MAX = 4;

/**
 * The parsed JSON of a file of `data`.
 * @throws Error when no folder above the program has the file, or when it is not JSON
 */
export function readPackageData(fileName: string): unknown {
  for (let level = 1; level <= LEVELS_UP_MAX; level++) {
    const file = new URL(`${'../'.repeat(level)}data/${fileName}`, import.meta.url);
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
      throw error;
    }
    return JSON.parse(text);
  }
  throw new Error(`data/${fileName} was not found in the folders above the program`);
}
