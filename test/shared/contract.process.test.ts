/**
 * One file of the contract suite against three apps on one PostgreSQL, which answers with every operation: what breaks the suite
 * there is seen before contract.slow.test.ts runs all of it.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { SERVER } from '../support/postgres-database.ts';

beforeAll(() => {
  process.env.PAYGRADE_TEST_OPENER = new URL('../support/opened-fleet.ts', import.meta.url).href;
});
// The tests of this process that come next have an app of their own.
afterAll(() => {
  delete process.env.PAYGRADE_TEST_OPENER;
});

describe.skipIf(SERVER === undefined)('three apps on one database', async () => {
  await import('../contract/published-contract.test.ts');
});
