import { defineConfig } from 'vitest/config';

/** Tests start real servers under two runtimes, so few files run at a time; the slow kind is asked for by name. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.slow.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default'],
  },
});
