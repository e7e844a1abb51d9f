/** Where the shared real postings are, for tests that skip without them. */
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../../shared/data/real/', import.meta.url));

export const realDataMissing = !existsSync(FOLDER);
/** For the title of a block that is skipped. */
export const skippedWithout = realDataMissing ? ' (skipped: ../shared/data/real is not here)' : '';

/** Rows of all files, counted in them by hand. No other row is refused: whatever has a title, company and address comes in. */
export const EVERY_REAL_FILE = {
  read: 268_079,
  refused: {
    'company_name is missing or blank': 33_246,
    'Company is missing or blank': 272,
    'company is missing or blank': 2,
    'url is missing or blank': 16,
    'hiringOrganization is missing or blank': 1,
    'externalPath has no host, and neither the document nor --manifest gives one': 10,
  },
} as const;

export function realFile(name: string): string {
  return `${FOLDER}${name}`;
}

/** Every file but the folder's description: first those without a day in their names, then those with one. */
export function realFiles(): { readonly undated: readonly string[]; readonly dated: readonly string[] } {
  const paths = readdirSync(FOLDER)
    .filter((name) => name !== 'README.md')
    .map(realFile);
  const hasDay = (path: string): boolean => /\d{4}-\d{2}-\d{2}/.test(path);
  return { undated: paths.filter((path) => !hasDay(path)), dated: paths.filter(hasDay) };
}
