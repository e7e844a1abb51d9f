import { defineConfig } from 'vitest/config';

/**
 * `npm run test:slow` runs the tests that wait for real deadlines of half a minute, `npm run test:long` those that take minutes
 * and are run by hand; `npm test` the others.
 */
const KINDS = ['slow', 'long'];
const kind = KINDS.find((one) => one === process.env.PAYGRADE_TESTS);

/** Tests start real servers under two runtimes, so few files run at a time; the slow kind is asked for by name. */
export default defineConfig({
  test: {
    include: [kind === undefined ? 'test/**/*.test.ts' : `test/**/*.${kind}.test.ts`],
    exclude: kind === undefined ? KINDS.map((one) => `test/**/*.${one}.test.ts`) : [],
    setupFiles: ['test/support/published-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default'],
  },
});
