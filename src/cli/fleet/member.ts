/** One process of `paygrade fleet`: a gate or a jobs service, started again when it dies, and one at a time on request. */
import { type ChildProcess, spawn } from 'node:child_process';
import { MINUTE_MS } from '../../base/durations.ts';
import { CommandError } from '../command.ts';
import type { Io } from '../io.ts';

/** Pause before a process that died is started again. */
const RESTART_PAUSE_MS = 500;
/** A start that takes longer is given up. A gate itself waits a minute for its database, and then says why it ends. */
const START_TIMEOUT_MS = 1.5 * MINUTE_MS;

export interface MemberOptions {
  /** `gate 1`. */
  readonly name: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly io: Io;
}

export class Member {
  readonly #options: MemberOptions;
  #child: ChildProcess | undefined;
  /** 0 before the first start; unchanged from then on. */
  port = 0;
  #isWanted = true;
  /** `stop` was called: a restart under way starts nothing more. */
  #isOver = false;
  /** The pause before the next start in the background. */
  #pause: NodeJS.Timeout | undefined;

  constructor(options: MemberOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  get processId(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts it; resolves when it listens. @throws CommandError (rejects) when it ends before that */
  async start(): Promise<void> {
    const { name, variables, io } = this.#options;
    const entry = process.argv[1] as string; // this very program
    const { DATABASE_URL: _ofGates, ...inherited } = io.env;
    const child = spawn(process.execPath, [entry, 'serve', '--until-stdin-ends'], {
      env: { ...inherited, ...variables, PORT: String(this.port), LOG_LEVEL: inherited.LOG_LEVEL ?? 'error' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\n')) if (line !== '') io.stderr.write(`${name}: ${line}\n`);
    });
    this.port = await new Promise<number>((resolve, reject) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
      let text = '';
      let isListening = false;
      child.stdout.setEncoding('utf8').on('data', (part: string) => {
        if (isListening) {
          io.stderr.write(part.replace(/^(?=.)/gm, `${name}: `));
          return;
        }
        text += part;
        const found = /listening on \S*:(\d+)\n/.exec(text);
        if (found === null) return;
        isListening = true;
        clearTimeout(timer);
        resolve(Number(found[1]));
      });
      child.once('error', ({ message }) => reject(new CommandError(`${name} cannot be started: ${message}`)));
      child.once('exit', () => {
        clearTimeout(timer);
        reject(new CommandError(`${name} ended before it listened`));
      });
    });
    child.once('exit', (code, signal) => this.#ended(child, code, signal));
  }

  /** SIGTERM, for good; resolves when it has ended. A start that is under way rejects. */
  stop(): Promise<void> {
    this.#isOver = true;
    return this.#end();
  }

  async #end(): Promise<void> {
    this.#isWanted = false;
    clearTimeout(this.#pause);
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }

  /**
   * Ends it as an upgrade would, and starts it again on the same port unless it is stopped meanwhile.
   * @throws CommandError (rejects) when it ends before it listens; it is tried again in the background
   */
  async restart(): Promise<void> {
    await this.#end();
    if (this.#isOver) return;
    this.#isWanted = true;
    try {
      await this.start();
    } catch (failure) {
      if (!this.#isOver) this.#startLater();
      throw failure;
    }
  }

  #ended(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    if (!this.#isWanted || child !== this.#child) return;
    const { name, io } = this.#options;
    io.stderr.write(`${name} ended (${signal ?? `exit code ${code}`}) and is started again\n`);
    this.#startLater();
  }

  /** Retries until it listens or is no longer wanted. */
  #startLater(): void {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      const starting = this.start();
      const child = this.#child;
      starting.catch((failure: Error) => {
        // Another start has taken its place.
        if (!this.#isWanted || child !== this.#child) return;
        this.#options.io.stderr.write(`${failure.message}; it is tried again\n`);
        this.#startLater();
      });
    }, RESTART_PAUSE_MS);
  }
}
