/** Where the shared real postings are, for tests that skip without them. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../../shared/data/real/', import.meta.url));

export const realDataMissing = !existsSync(FOLDER);
/** For the title of a block that is skipped. */
export const skippedWithout = realDataMissing ? ' (skipped: ../shared/data/real is not here)' : '';

export function realFile(name: string): string {
  return `${FOLDER}${name}`;
}
