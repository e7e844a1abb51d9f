/** One life of a server: started on a folder that others have lived in, and killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { binaryOf, PROJECT, processEnvironment, type Runtime } from '../support/server.ts';

const START_TIMEOUT_MS = 30_000;
const OUTPUT_CHARACTERS_MAX = 20_000;

/** Servers that run now: none outlives the harness, however that ends. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

export class Life {
  readonly #child: ChildProcess;
  readonly exited: Promise<number | null>;
  /** The address it listens at; undefined when it ended before that. */
  readonly listening: Promise<string | undefined>;
  #output = '';
  isOver = false;

  /** @param entry the program's entry file; `serve` is its command */
  constructor(runtime: Runtime, entry: string, variables: Readonly<Record<string, string>>) {
    this.#child = spawn(binaryOf(runtime), [entry, 'serve'], {
      cwd: PROJECT,
      env: processEnvironment({ PORT: '0', LOG_LEVEL: 'error', RATE_LIMIT_PER_MINUTE: '0', ...variables }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(this.#child);
    this.exited = new Promise((resolve) => this.#child.once('exit', (code) => resolve(code)));
    void this.exited.then(() => {
      this.isOver = true;
      running.delete(this.#child);
    });
    this.listening = this.#listening();
  }

  async #listening(): Promise<string | undefined> {
    const timer = setTimeout(() => this.kill(), START_TIMEOUT_MS);
    const url = await new Promise<string | undefined>((resolve) => {
      const listen = (text: string): void => {
        this.#output = (this.#output + text).slice(-OUTPUT_CHARACTERS_MAX);
        const found = /listening on (http:\/\/\S+)\n/.exec(this.#output)?.[1];
        if (found !== undefined) resolve(found);
      };
      this.#child.stdout?.setEncoding('utf8').on('data', listen);
      this.#child.stderr?.setEncoding('utf8').on('data', listen);
      void this.exited.then(() => resolve(undefined));
    });
    clearTimeout(timer);
    return url;
  }

  /** The end of what it has printed. */
  get output(): string {
    return this.#output;
  }

  /** SIGKILL, now. */
  kill(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#child.kill('SIGKILL');
  }

  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    return this.exited;
  }
}
