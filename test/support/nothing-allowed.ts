/** `TARGET_ALLOW` of a server that has none. */
import { targetList } from '../../src/config/parsers.ts';

export const NOTHING_ALLOWED = targetList('');
