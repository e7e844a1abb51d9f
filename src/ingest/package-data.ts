/** The files that the package ships in its `data` folder. */
import { existsSync, readFileSync } from 'node:fs';

/** Folders above this file that may hold `data`: one for `dist`, two for src/ingest. */
const PLACES = ['../data/', '../../data/'];

/** The text of a file of `data`. @throws Error when no folder above the program has the file */
export function readPackageText(fileName: string): string {
  const found = PLACES.map((folder) => new URL(folder + fileName, import.meta.url)).find((place) => existsSync(place));
  if (found === undefined) throw new Error(`data/${fileName} was not found in the folders above the program`);
  return readFileSync(found, 'utf8');
}

/**
 * The parsed JSON of a file of `data`.
 * @throws Error when no folder above the program has the file, or when it is not JSON
 */
export function readPackageData(fileName: string): unknown {
  return JSON.parse(readPackageText(fileName));
}
