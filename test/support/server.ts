/** A real server in a process of its own, under Node or Bun, on a free port; tests talk to it from outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expectPublishedOn } from './published.ts';

export const RUNTIMES = ['node', 'bun'] as const;
export type Runtime = (typeof RUNTIMES)[number];

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 12_000;

/** The pinned binary of a runtime; `PAYGRADE_NODE` names another Node (the runtime matrix tests the oldest one with it). */
export function binaryOf(runtime: Runtime): string {
  const other = process.env.PAYGRADE_NODE;
  if (runtime === 'node' && other !== undefined && other !== '') return other;
  return join(PROJECT, 'node_modules', '.bin', runtime);
}

/** What a process of ours is started with; Node keeps its compiled modules, so that starting costs 0.3 s and not 1 s. */
export const processEnvironment = (
  variables: Readonly<Record<string, string>>,
): Record<string, string | undefined> => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  NODE_COMPILE_CACHE: join(PROJECT, 'node_modules', '.cache', 'node-compile'),
  ...variables,
});

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  readonly stateDir: string;
  readonly child: ChildProcess;
  /** Everything it has printed so far. */
  stdout(): string;
  stderr(): string;
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>;
}

/** Starts `serve` with the given variables over the defaults of a test: a free port, a state folder of its own. */
export async function startServer(runtime: Runtime, variables: Record<string, string> = {}): Promise<RunningServer> {
  const stateDir = variables.STATE_DIR ?? mkdtempSync(join(tmpdir(), 'paygrade-test-'));
  const child = spawn(binaryOf(runtime), [join(PROJECT, 'src', 'main.ts'), 'serve'], {
    cwd: PROJECT,
    env: processEnvironment({ PORT: '0', STATE_DIR: stateDir, ...variables }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));

  const port = await new Promise<number>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`no listening line from ${runtime} in time\n${stdout}\n${stderr}`));
    }, START_TIMEOUT_MS);
    const look = (): void => {
      const found = /listening on http:\/\/[^\s]*:(\d+)/.exec(stdout);
      if (found === null) return;
      clearTimeout(timer);
      child.stdout.off('data', look);
      resolve(Number(found[1]));
    };
    child.stdout.on('data', look);
    void exited.then((code) => {
      clearTimeout(timer);
      reject(new Error(`${runtime} exited with ${code} before it listened\n${stdout}\n${stderr}`));
    });
  });

  expectPublishedOn(port);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    stateDir,
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      child.kill('SIGTERM');
      const code = await exited;
      clearTimeout(timer);
      if (variables.STATE_DIR === undefined) rmSync(stateDir, { recursive: true, force: true });
      return code;
    },
  };
}
