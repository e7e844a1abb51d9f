import { defineConfig, type TestUserConfig } from 'vitest/config';

/**
 * Two projects, told apart by a file's name alone.
 *
 * unit     `*.test.ts`: in this process. No child process, no listening socket, no wait for real time.
 * process  `*.process.test.ts`: starts servers, commands or browsers, or listens on a socket; what a server of ours answers is
 *          held against the published contract.
 *
 * `npm run test:slow` runs `*.slow.test.ts`, which wait for real deadlines of half a minute; `npm run test:long` runs
 * `*.long.test.ts`, which take minutes and are run by hand.
 */
const KINDS = ['slow', 'long'];
const kind = KINDS.find((one) => one === process.env.PAYGRADE_TESTS);
const ofKinds = KINDS.map((one) => `test/**/*.${one}.test.ts`);

const PROCESS = {
  name: 'process',
  setupFiles: ['test/support/published-setup.ts'],
  pool: 'forks',
  testTimeout: 30_000,
  hookTimeout: 60_000,
} satisfies TestUserConfig;

export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: ['default'],
    projects:
      kind === undefined
        ? [
            {
              test: {
                name: 'unit',
                include: ['test/**/*.test.ts'],
                exclude: ['test/**/*.process.test.ts', ...ofKinds],
                testTimeout: 30_000,
              },
            },
            { test: { ...PROCESS, include: ['test/**/*.process.test.ts'], exclude: ofKinds } },
          ]
        : [{ test: { ...PROCESS, include: [`test/**/*.${kind}.test.ts`] } }],
  },
});
