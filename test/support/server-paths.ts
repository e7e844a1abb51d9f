/** Where the programs are that tests start. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** A folder of the project, as `dist` is, so that the program finds `data` and `pages` above it; each run of vitest has its own. */
export const BUNDLE = process.env.PAYGRADE_BUNDLE ?? join(PROJECT, '.bundle');
