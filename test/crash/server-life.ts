/** One life of a server: started on a folder that others have lived in, and killed. */
import { binaryOf, listeningPort, type Runtime, type Started, startProcess } from '../support/server.ts';

const OUTPUT_CHARACTERS_MAX = 20_000;

export class ServerLife {
  readonly #started: Started;
  readonly exited: Promise<number | null>;
  /** The address it listens at; undefined when it ended before that. */
  readonly listening: Promise<string | undefined>;
  isOver = false;

  /** @param entry the program's entry file; `serve` is its command */
  constructor(runtime: Runtime, entry: string, variables: Readonly<Record<string, string>>) {
    this.#started = startProcess(binaryOf(runtime), [entry, 'serve'], {
      PORT: '0',
      LOG_LEVEL: 'error',
      RATE_LIMIT_PER_MINUTE: '0',
      ...variables,
    });
    this.exited = this.#started.exited;
    void this.exited.then(() => {
      this.isOver = true;
    });
    this.listening = listeningPort(this.#started).then(
      (port) => `http://127.0.0.1:${port}`,
      () => undefined,
    );
  }

  /** The end of what it has printed. */
  get output(): string {
    return (this.#started.stdout() + this.#started.stderr()).slice(-OUTPUT_CHARACTERS_MAX);
  }

  /** SIGKILL, now. */
  kill(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#started.child.kill('SIGKILL');
  }

  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null> {
    this.#started.child.kill('SIGTERM');
    return this.exited;
  }
}
