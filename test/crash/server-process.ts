/** One process of the server under test, started on a folder that killed processes may have left behind. */
import { binaryOf, listeningPort, type Runtime, type Started, startProcess } from '../support/server.ts';

/** A start reads everything that kills left, possibly on a busy machine. */
const START_MS_MAX = 600_000;
const OUTPUT_CHARACTERS_MAX = 20_000;

export class ServerProcess {
  readonly #started: Started;
  readonly exited: Promise<number | null>;
  /** The origin it listens at; undefined when the process ended before it listened. */
  readonly listening: Promise<string | undefined>;
  hasEnded = false;
  /** The longest that a request waited for its answer, or for the kill: how busy the machine keeps loop and disk. */
  slowestMs = 0;
  /** The harness ended it, or asked it to end. */
  wasEnded = false;
  /** With SIGTERM: it had the time to record everything. */
  wasStopped = false;
  /** When it was killed or ended, milliseconds since 1970; undefined while it runs. */
  endedAtMs: number | undefined;

  /** @param entry the program's entry file; `serve` is its command */
  constructor(runtime: Runtime, entry: string, variables: Readonly<Record<string, string>>) {
    this.#started = startProcess(binaryOf(runtime), [entry, 'serve'], {
      PORT: '0',
      LOG_LEVEL: 'error',
      RATE_LIMIT_PER_MINUTE: '0',
      CALLBACK_LIMIT_PER_MINUTE: '0',
      ...variables,
    });
    this.exited = this.#started.exited;
    void this.exited.then(() => {
      this.hasEnded = true;
      this.endedAtMs ??= Date.now();
    });
    this.listening = listeningPort(this.#started, START_MS_MAX).then(
      (port) => `http://127.0.0.1:${port}`,
      () => undefined,
    );
  }

  /** The last part of stdout and stderr. */
  get output(): string {
    return (this.#started.stdout() + this.#started.stderr()).slice(-OUTPUT_CHARACTERS_MAX);
  }

  /** Sends SIGKILL. */
  kill(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.wasEnded = true;
    this.endedAtMs = Date.now();
    this.#started.child.kill('SIGKILL');
  }

  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null> {
    this.wasEnded = true;
    this.wasStopped = true;
    this.#started.child.kill('SIGTERM');
    return this.exited;
  }
}
