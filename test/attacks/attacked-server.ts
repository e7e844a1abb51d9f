/** The server under attack: a real process, whose memory is read from outside. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type ProcessorTime, processorTimeOf } from '../support/processor-time.ts';
import { type RunningServer, type Runtime, startServer } from '../support/server.ts';
import type { Target } from './attack.ts';

const STATUS_KIB = { resident: /^VmRSS:\s+(\d+) kB$/m, peak: /^VmHWM:\s+(\d+) kB$/m } as const;

export const sinceThen = (now: ProcessorTime, then: ProcessorTime): ProcessorTime => ({
  ran: Math.round((now.ran - then.ran) * 10) / 10,
  waited: Math.round((now.waited - then.waited) * 10) / 10,
});

export class AttackedServer {
  readonly #server: RunningServer;
  readonly target: Target;
  /** Undefined while the process lives. */
  ending: string | undefined;

  private constructor(server: RunningServer, isProxied: boolean) {
    this.#server = server;
    this.target = { port: server.port, isProxied };
    server.child.once('exit', (code, signal) => {
      this.ending = `exit code ${code}, signal ${signal}`;
    });
  }

  /** @param heapMegabytes bound of Node's heap; Bun has none */
  static async start(
    runtime: Runtime,
    variables: Readonly<Record<string, string>>,
    heapMegabytes?: number,
  ): Promise<AttackedServer> {
    const isBounded = runtime === 'node' && heapMegabytes !== undefined;
    const server = await startServer(runtime, {
      LOG_LEVEL: 'error',
      SHEDDING: 'true',
      ...(isBounded ? { NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}` } : {}),
      ...variables,
    });
    return new AttackedServer(server, variables.TRUST_PROXY === 'true');
  }

  get pid(): number {
    return this.#server.child.pid ?? 0;
  }

  /** The last lines of what it printed. */
  get lastWords(): string {
    return this.#server.stderr().slice(-2000);
  }

  /** Megabytes (2^20) in memory now; undefined when the process has ended. */
  residentMegabytes(): number | undefined {
    return this.#megabytes('resident');
  }

  /** The most since the start or the last `forgetPeak`. */
  peakMegabytes(): number | undefined {
    return this.#megabytes('peak');
  }

  #megabytes(which: keyof typeof STATUS_KIB): number | undefined {
    try {
      const found = STATUS_KIB[which].exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'));
      return found === null ? undefined : Math.round(Number(found[1]) / 1024);
    } catch {
      return undefined;
    }
  }

  processorTime(): ProcessorTime {
    return processorTimeOf(this.pid);
  }

  /** proc(5): 5 in clear_refs sets the peak to what is resident now. */
  forgetPeak(): void {
    writeFileSync(`/proc/${this.pid}/clear_refs`, '5');
  }

  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null> {
    return this.#server.stop();
  }

  /** SIGKILL, and its state is removed. */
  async kill(): Promise<void> {
    if (this.ending === undefined) await this.#server.kill();
    rmSync(this.#server.stateDir, { recursive: true, force: true });
  }

  signal(name: 'SIGHUP' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#server.child.kill(name);
  }
}
