import { defineConfig } from 'vitest/config';

/** `npm run test:slow` runs the tests that wait for real deadlines of half a minute; `npm test` the others. */
const slow = process.env.PAYGRADE_TESTS === 'slow';

/** Tests start real servers under two runtimes, so few files run at a time; the slow kind is asked for by name. */
export default defineConfig({
  test: {
    include: [slow ? 'test/**/*.slow.test.ts' : 'test/**/*.test.ts'],
    exclude: slow ? [] : ['test/**/*.slow.test.ts'],
    setupFiles: ['test/support/published-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default'],
  },
});
