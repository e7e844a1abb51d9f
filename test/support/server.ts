/** Programs in separate processes: any command with its output, and a real server on a free port, under Node or Bun. */
import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { expectNothingOn, expectPublishedOn } from './published.ts';
import { MAIN, PROJECT } from './server-paths.ts';
import { smallSample } from './small-sample.ts';
import { overSocket, type Transport } from './transport.ts';
import { IS_WHOLE } from './whole.ts';

export const RUNTIMES = ['node', 'bun'] as const;
export type Runtime = (typeof RUNTIMES)[number];

/** Set when a Node other than the pinned one is tested. */
const OTHER_NODE = process.env.PAYGRADE_NODE ?? '';

/**
 * Runtimes for a costly suite whose subject hardly depends on the runtime: one in `npm test`, both in
 * `npm run test:slow`, only Node when another Node is tested.
 */
export function oneRuntime(runtime: Runtime): readonly Runtime[] {
  if (IS_WHOLE) return RUNTIMES;
  return [OTHER_NODE === '' ? runtime : 'node'];
}

export { MAIN, PROJECT };

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 20_000;

/** The pinned binary of a runtime; `PAYGRADE_NODE` names another Node (the runtime matrix tests the oldest one with it). */
export function binaryOf(runtime: Runtime): string {
  if (runtime === 'node' && OTHER_NODE !== '') return OTHER_NODE;
  return join(PROJECT, 'node_modules', '.bin', runtime);
}

/**
 * Each run of vitest starts a program at a path of its own, so what runtimes keep of its compiled code goes with the run's folder;
 * in the home folder it would be of no use again, and stay for ever.
 */
const COMPILED = process.env.VITEST === undefined ? {} : { XDG_CACHE_HOME: join(tmpdir(), 'compiled') };

/**
 * The environment of our processes. Servers do not shed load, because a machine that runs many tests at once delays
 * every event loop; tests of overload set SHEDDING themselves.
 */
export const processEnvironment = (
  variables: Readonly<Record<string, string>>,
): Record<string, string | undefined> => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  SHEDDING: 'false',
  ...COMPILED,
  ...variables,
});

export interface Ended {
  /** null: a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Everything it has printed so far. */
  stdout(): string;
  stderr(): string;
  /** The exit code; its last output may not have arrived yet. */
  readonly exited: Promise<number | null>;
  /** With all that it printed. */
  readonly ended: Promise<Ended>;
}

/** Killed when this process exits, however it ends: a test's worker is ended by a signal. */
const running = new Set<Started['child']>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

/** @param stdin all that it can read; null: it stays open for as long as this thread lives */
export function startProcess(
  binary: string,
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  stdin: string | null = '',
  cwd = PROJECT,
): Started {
  const child = spawn(binary, words, { cwd, env: processEnvironment(variables), stdio: 'pipe' });
  running.add(child);
  child.stdin.on('error', () => {}); // the process may end before reading everything
  if (stdin !== null) child.stdin.end(stdin);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.once('exit', () => running.delete(child));
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    exited: new Promise((resolve) => child.once('exit', resolve)),
    ended: new Promise((resolve) => child.once('close', (exitCode) => resolve({ exitCode, stdout, stderr }))),
  };
}

/** Runs paygrade to its end, blocking this thread. */
export function runToEnd(
  runtime: Runtime,
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  input = '',
): Ended {
  const { status, stdout, stderr } = spawnSync(binaryOf(runtime), [MAIN, ...words], {
    cwd: PROJECT,
    env: processEnvironment(variables),
    input,
    encoding: 'utf8',
    timeout: 20_000,
  });
  return { exitCode: status, stdout, stderr };
}

/** The port that a process prints; kills a process that prints none in time. */
export function listeningPort(
  { child, stdout, ended }: Started,
  timeoutMs: number = START_TIMEOUT_MS,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const look = (): void => {
      const found = /listening on http:\/\/[^\s]*:(\d+)/.exec(stdout());
      if (found === null) return;
      clearTimeout(timer);
      child.stdout.off('data', look);
      resolve(Number(found[1]));
    };
    child.stdout.on('data', look);
    void ended.then((told) => {
      clearTimeout(timer);
      reject(new Error(`exited with ${told.exitCode} before it listened\n${told.stdout}\n${told.stderr}`));
    });
  });
}

export interface RunningServer extends Started, Transport {
  readonly port: number;
  readonly stateDir: string;
  /** Sends SIGTERM and resolves with the exit code. Removes the state folder if it was created for this server. */
  stop(): Promise<number | null>;
  /** SIGKILL; its state stays. */
  kill(): Promise<void>;
}

/** Which program serves, on which runtime. */
export interface Program {
  readonly binary: string;
  /** An entry file of paygrade; `serve` is its command. */
  readonly entry: string;
}

/**
 * Starts `serve` with the given variables over the defaults of a test: a free port, a state folder of its own, a small
 * catalogue. With `SNAPSHOT: ''` the server builds and serves its own sample instead.
 * @param endsWithThread for a test's worker that is a thread: terminated from outside, it can stop nothing itself
 */
export async function startServer(
  program: Runtime | Program,
  variables: Readonly<Record<string, string>> = {},
  endsWithThread = false,
): Promise<RunningServer> {
  const { binary, entry } = typeof program === 'string' ? { binary: binaryOf(program), entry: MAIN } : program;
  const stateDir = variables.STATE_DIR ?? mkdtempSync(join(tmpdir(), 'paygrade-test-'));
  const catalogue = variables.SNAPSHOT === '' ? {} : { SNAPSHOT: smallSample() };
  const { SNAPSHOT = '', ...others } = { PORT: '0', STATE_DIR: stateDir, ...catalogue, ...variables };
  const environment = SNAPSHOT === '' ? others : { ...others, SNAPSHOT };
  const started = endsWithThread
    ? startProcess(binary, [entry, 'serve', '--until-stdin-ends'], environment, null)
    : startProcess(binary, [entry, 'serve'], environment);
  const { child, exited } = started;
  const port = await listeningPort(started);
  expectPublishedOn(port);
  child.once('exit', () => expectNothingOn(port));
  return {
    ...started,
    ...overSocket(`http://127.0.0.1:${port}`),
    port,
    stateDir,
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      child.kill('SIGTERM');
      const exitCode = await exited;
      clearTimeout(timer);
      if (variables.STATE_DIR === undefined) rmSync(stateDir, { recursive: true, force: true });
      return exitCode;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
