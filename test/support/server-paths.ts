/** Where the programs are that tests start. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/**
 * A folder of the project, as `dist` is, so that the program finds `data` and `pages` above it; each run of vitest has its own, and ''
 * is outside of one.
 */
export const BUNDLE = process.env.PAYGRADE_BUNDLE ?? '';
/** Bundled before the tests run, because it then starts in half the time of the sources; a harness or bench starts those. */
export const MAIN = BUNDLE === '' ? join(PROJECT, 'src', 'main.ts') : join(BUNDLE, 'main.js');
