/**
 * Callbacks that a start found expired. Its clock may have been ahead, as that of a machine whose hardware clock runs in local
 * time, and be set back a moment later: those that have not reached their end by the right clock then live on, with their
 * events. After one lifetime none can have any of it left, and the store drops what it has of them.
 */
import type { Clock } from '../../base/clock.ts';
import type { Timers } from '../../base/timers.ts';
import type { CallbackId } from '../identifier.ts';
import { LIFETIME_MS, SWEEP_COUNT_MAX } from '../limits.ts';
import type { LoadedCallback } from './event-store.ts';

/** Between two looks at the clock. */
const LOOK_PAUSE_MS = 1000;

export interface Revived {
  readonly loaded: LoadedCallback;
  readonly leftMs: number;
}

export interface ExpiredAtStartPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly revive: (callbacks: readonly Revived[]) => void;
  /** These callbacks are over for good. Resolves once the store has dropped them or failed; never rejects. */
  readonly end: (ids: readonly CallbackId[]) => Promise<void>;
}

export class ExpiredAtStart {
  readonly #ports: ExpiredAtStartPorts;
  readonly #callbacks = new Map<CallbackId, LoadedCallback>();
  /** The latest end of all; while the clock is past it, none lives. */
  #lastEndMs = 0;
  /** Monotonic, milliseconds. */
  #untilMs = 0;
  #cancel = (): void => {};
  #isClosed = false;

  constructor(ports: ExpiredAtStartPorts) {
    this.#ports = ports;
  }

  has(id: CallbackId): boolean {
    return this.#callbacks.has(id);
  }

  /** Called once, at the start. */
  watch(callbacks: readonly LoadedCallback[]): void {
    for (const one of callbacks) {
      this.#callbacks.set(one.callback.id, one);
      this.#lastEndMs = Math.max(this.#lastEndMs, one.callback.expiresAtMs);
    }
    this.#untilMs = this.#ports.clock.monotonicMs() + LIFETIME_MS;
    this.#lookLater();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #lookLater(pauseMs = LOOK_PAUSE_MS): void {
    if (this.#callbacks.size === 0 || this.#isClosed) return;
    this.#cancel = this.#ports.timers.after(pauseMs, () => this.#look());
  }

  #look(): void {
    const { clock, revive } = this.#ports;
    const restMs = this.#untilMs - clock.monotonicMs();
    if (restMs <= 0) {
      void this.#endSome();
      return;
    }
    const nowMs = clock.nowMs();
    const live: Revived[] = [];
    for (const [id, loaded] of nowMs < this.#lastEndMs ? this.#callbacks : []) {
      const leftMs = Math.min(loaded.callback.expiresAtMs - nowMs, restMs);
      if (leftMs > 0 && this.#callbacks.delete(id)) live.push({ loaded, leftMs });
    }
    if (live.length > 0) revive(live);
    this.#lookLater();
  }

  /** The next ones follow once the store has dropped these: with too many at once it refuses writes, also those of customers. */
  async #endSome(): Promise<void> {
    const ids: CallbackId[] = [];
    for (const id of this.#callbacks.keys()) {
      if (ids.push(id) === SWEEP_COUNT_MAX) break;
    }
    for (const id of ids) this.#callbacks.delete(id);
    await this.#ports.end(ids);
    this.#lookLater(0);
  }
}
