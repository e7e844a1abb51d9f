/** Where the programs lie that tests start. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** A folder of the project, as `dist` is, so that the program finds `data` and `pages` above it. */
export const BUNDLE = join(PROJECT, '.bundle');
