import { chmodSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type TestProjectConfiguration, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Projects, told apart by a file's name alone; `npm test` runs them all, `npm run check` the first.
 *
 * unit     `*.test.ts`: inside this process. No child process, no socket, no wait for real time. Files share their modules.
 *          `test/contract` is part of it; `contract-under-bun.process.test.ts` runs files of it once more under Bun, and
 *          `test/shared/contract.process.test.ts` one over PostgreSQL.
 * feeds    `*.feeds.test.ts`: the same with real feeds by the hundred megabytes.
 * process  `*.process.test.ts`: starts servers, commands or browsers, or listens on a socket. What a server of ours answers
 *          is held against the published contract.
 * attacks  Trials that need the machine for themselves, after all others.
 *
 * `npm run test:slow` runs `*.slow.test.ts`, which wait for real deadlines of half a minute, and the whole of the suites of
 * which `npm test` runs a part; `npm run test:long` runs `*.long.test.ts`. Both take minutes and are run by hand; the first in
 * three steps: what computes, what waits, and what needs the machine for itself.
 */
const KINDS = ['slow', 'long'] as const;
const kind = KINDS.find((one) => one === process.env.PAYGRADE_TESTS);
const filesOf = (suffix: string): string => `test/**/*.${suffix}.test.ts`;

/** Of these `npm test` runs a part: one runtime, one look, fewer runs, or the rows that are quick (test/support/whole.ts). */
const TAKES_A_PART = /\b(?:IS_WHOLE|LOOKS|oneRuntime|partOf)\b/;
const partial = (): string[] =>
  globSync('test/**/*.test.ts').filter((path) => TAKES_A_PART.test(readFileSync(path, 'utf8')));

/** What an honest customer notices is compared with a quiet moment before. */
const ATTACKS = 'test/attacks/attacks.process.test.ts';

/** `.ci/run` runs the whole contract under Bun as a step, and then no part of it here. */
const UNDER_BUN = 'test/blackbox/contract-under-bun.process.test.ts';
const APART = process.env.PAYGRADE_CONTRACT_UNDER_BUN === 'apart' ? [UNDER_BUN] : [];

/**
 * Small files that take long: where nothing is known of an earlier run the largest files come first, and these would run alone at the
 * end. The first takes as long as its file takes to load, which the runner does not count.
 */
const FIRST = [
  UNDER_BUN,
  'test/storage/postgres/domains.process.test.ts',
  'test/storage/postgres/suites.process.test.ts',
  'test/adapters/files/catalogue-reload.process.test.ts',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isFirst = ({ moduleId }: TestSpecification): boolean => FIRST.some((path) => moduleId.endsWith(path));
    const sorted = await super.sort(files);
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))];
  }
}

/** They hold a runtime to times beside a crowd, or to its memory: a neighbour would decide. */
const ALONE = [
  ATTACKS,
  'test/attacks/*.slow.test.ts',
  'test/**/crowd.slow.test.ts',
  'test/blackbox/overload-memory.slow.test.ts',
  'test/shared/{standby,wake}.slow.test.ts',
];

/** Workers, and the threads that tests start, load their modules in a fifth of the time, because Node keeps what it compiled. */
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'node-compile');

/** Linux, shm_overview(7). */
const IN_MEMORY = '/dev/shm';
const ROOM_BYTES = 4 * 1024 ** 3;

function hasRoom(): boolean {
  if (!existsSync(IN_MEMORY)) return false;
  const { bavail, bsize } = statfsSync(IN_MEMORY);
  return Math.min(bavail * bsize, freemem()) >= ROOM_BYTES;
}

/** Of a run, by the id of its process: its temporary folder, and the program that its tests start (test/support/server-paths.ts). */
const RUN = /^(?:paygrade-run|\.bundle)-(\d+)/;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A run that was killed leaves its folder, and a test that was cut short may have mounted a small disk in it. */
function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  } catch {}
}

function removeOfDeadRuns(place: string): void {
  for (const name of readdirSync(place)) {
    const pid = RUN.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) removeFolder(join(place, name));
  }
}

/**
 * Temporary folders of a run are in one, which goes when the run ends, with what its tests leave behind. It is in memory where
 * there is room: for hundreds of new databases a disk takes thirty times as long.
 */
function makeTemporaryFolder(): void {
  const place = process.env.TMPDIR === undefined && hasRoom() ? IN_MEMORY : tmpdir();
  removeOfDeadRuns(place);
  const folder = mkdtempSync(join(place, `paygrade-run-${process.pid}-`));
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o1777);
  process.once('exit', () => removeFolder(folder));
  process.env.TMPDIR = folder;
}
makeTemporaryFolder();

/**
 * Each run bundles into its own folder: one that another run starts its servers from must not be replaced. A run that a test starts
 * uses that of its parent.
 */
function nameBundle(): void {
  if (process.env.PAYGRADE_BUNDLE !== undefined) return;
  removeOfDeadRuns(import.meta.dirname);
  const folder = join(import.meta.dirname, `.bundle-${process.pid}`);
  process.once('exit', () => removeFolder(folder));
  process.env.PAYGRADE_BUNDLE = folder;
}
nameBundle();

/** How long `expect.poll` asks again: a state that is to come comes late on a machine that others use too. */
const PATIENT = { poll: { timeout: 10_000 } } as const;

/** They wait for nothing, and each worker loads and compiles the program again: as many as the least machine has cores. */
const inProcess = {
  pool: 'threads',
  isolate: false,
  maxWorkers: 2,
  testTimeout: 30_000,
  hookTimeout: 60_000,
  expect: PATIENT,
} as const;

/** Mostly waits for other processes: six of these keep two cores busy. Loading the modules of each file again took as long. */
const startsProcesses = {
  globalSetup: ['test/support/bundled-setup.ts'],
  setupFiles: ['test/support/published-setup.ts'],
  pool: 'forks',
  isolate: false,
  maxWorkers: 6,
  /** Tests that wait for one deadline side by side. */
  maxConcurrency: 10,
  testTimeout: 30_000,
  hookTimeout: 60_000,
  expect: PATIENT,
} satisfies TestProjectInlineConfiguration['test'];

const everyTest: TestProjectConfiguration[] = [
  {
    test: {
      ...inProcess,
      name: 'unit',
      include: ['test/**/*.test.ts'],
      exclude: ['feeds', 'process', ...KINDS].map(filesOf),
      sequence: { groupOrder: 0 },
    },
  },
  { test: { ...inProcess, name: 'feeds', include: [filesOf('feeds')], sequence: { groupOrder: 0 } } },
  {
    test: {
      ...startsProcesses,
      name: 'process',
      include: [filesOf('process')],
      exclude: [ATTACKS, ...APART],
      sequence: { groupOrder: 1 },
    },
  },
  { test: { ...startsProcesses, name: 'attacks', include: [ATTACKS], maxWorkers: 1, sequence: { groupOrder: 2 } } },
];

/** Nobody waits for these, so fewer are beside each other, and a deadline is for what hangs. */
const byHand = { ...startsProcesses, maxWorkers: 2, testTimeout: 120_000, hookTimeout: 240_000 } as const;

const isProcess = (path: string): boolean => path.endsWith('.process.test.ts');

const slowTests: TestProjectConfiguration[] = [
  {
    test: {
      ...byHand,
      name: 'slow, computes',
      include: partial().filter((path) => !isProcess(path)),
      sequence: { groupOrder: 0 },
    },
  },
  {
    test: {
      ...byHand,
      name: 'slow, waits',
      include: [filesOf('slow'), ...partial().filter(isProcess)],
      exclude: ALONE,
      maxWorkers: 4,
      sequence: { groupOrder: 1 },
    },
  },
  { test: { ...byHand, name: 'slow, alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 2 } } },
];

const longTests: TestProjectConfiguration = {
  test: { ...byHand, name: 'long', include: [filesOf('long')], maxWorkers: 1 },
};

export default defineConfig({
  test: {
    /** Projects and the run under Bun share what one of them has transformed. */
    experimental: { fsModuleCache: true },
    reporters: ['default'],
    sequence: { sequencer: LongestFirst },
    projects: { all: everyTest, slow: slowTests, long: [longTests] }[kind ?? 'all'],
  },
});
