/**
 * The main thread in place of recovery threads: it recovers while none of them runs, and with WORKERS=0 always. Its
 * library is loaded when it is first needed. Requests wait meanwhile; when it cannot be loaded, they are rejected, and
 * it is tried again each second.
 */
import { firstLineOf } from '../../base/failure.ts';
import type { Timers } from '../../base/timers.ts';
import type { RecoveryJob, RecoveryWorker } from '../../payment/signature/recovery-queue.ts';
import type { Recovered } from '../../payment/signature/signature.ts';

/** Short, and always the same: what fails for want of file descriptors costs next to nothing. */
const RETRY_PAUSE_MS = 1000;

export interface StandInPorts {
  readonly timers: Timers;
  /** Whether no thread runs. */
  isNeeded(): boolean;
  load(): Promise<RecoveryWorker>;
  /** Called when it is ready, and each time that it could not be loaded. */
  onChange(): void;
}

export class StandIn implements RecoveryWorker {
  readonly #ports: StandInPorts;
  #inline: RecoveryWorker | undefined;
  #loading: Promise<void> | undefined;
  #fault: string | undefined;
  #cancelPause = (): void => {};
  #isClosed = false;

  constructor(ports: StandInPorts) {
    this.#ports = ports;
  }

  /** Resolves when it is ready or no longer needed. Never rejects. */
  async load(): Promise<void> {
    if (this.isReady) return;
    this.#loading ??= this.#loadAtLast().finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
  }

  get isReady(): boolean {
    return this.#inline !== undefined;
  }

  /** Why it could not be loaded, one line; undefined while it is not needed, loads or is ready. */
  get fault(): string | undefined {
    return this.#fault;
  }

  isHealthy(): boolean {
    return this.#fault === undefined;
  }

  recoveryMs(): number {
    return this.#inline?.recoveryMs() ?? 0;
  }

  freeCount(): number {
    return this.#inline !== undefined && this.#ports.isNeeded() ? this.#inline.freeCount() : 0;
  }

  start(job: RecoveryJob, done: (recovered: Recovered | undefined) => void): void {
    this.#inline?.start(job, done);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelPause();
  }

  async #loadAtLast(): Promise<void> {
    const { timers, load, isNeeded, onChange } = this.#ports;
    while (this.#inline === undefined && isNeeded()) {
      try {
        this.#inline = await load();
      } catch (failure) {
        this.#fault = firstLineOf(failure);
        onChange();
        await new Promise<void>((resolve) => {
          if (!this.#isClosed) this.#cancelPause = timers.after(RETRY_PAUSE_MS, resolve);
        });
      }
    }
    this.#fault = undefined;
    onChange();
  }
}
