/**
 * Callbacks that a start found expired. Its clock may have been ahead, as that of a machine whose hardware clock runs in local
 * time, and be set back a moment later: those that have not reached their end by the right clock then live on, with their
 * events. After one lifetime none can have any of it left, and the store drops what it has of them.
 */
import type { Clock } from '../../base/clock.ts';
import type { Timers } from '../../base/timers.ts';
import type { CallbackId } from '../identifier.ts';
import { LIFETIME_MS } from '../limits.ts';
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
  /** The callback is over for good. */
  readonly end: (id: CallbackId) => void;
}

export class ExpiredAtStart {
  readonly #ports: ExpiredAtStartPorts;
  readonly #callbacks = new Map<CallbackId, LoadedCallback>();
  /** Monotonic, milliseconds. */
  #untilMs = 0;
  #cancel = (): void => {};

  constructor(ports: ExpiredAtStartPorts) {
    this.#ports = ports;
  }

  has(id: CallbackId): boolean {
    return this.#callbacks.has(id);
  }

  /** Called once, at the start. */
  watch(callbacks: readonly LoadedCallback[]): void {
    for (const one of callbacks) this.#callbacks.set(one.callback.id, one);
    this.#untilMs = this.#ports.clock.monotonicMs() + LIFETIME_MS;
    this.#lookLater();
  }

  close(): void {
    this.#cancel();
  }

  #lookLater(): void {
    if (this.#callbacks.size > 0) this.#cancel = this.#ports.timers.after(LOOK_PAUSE_MS, () => this.#look());
  }

  #look(): void {
    const { clock, revive, end } = this.#ports;
    const restMs = this.#untilMs - clock.monotonicMs();
    if (restMs <= 0) {
      for (const id of this.#callbacks.keys()) end(id);
      this.#callbacks.clear();
      return;
    }
    const nowMs = clock.nowMs();
    const live: Revived[] = [];
    for (const [id, loaded] of this.#callbacks) {
      const leftMs = Math.min(loaded.callback.expiresAtMs - nowMs, restMs);
      if (leftMs > 0 && this.#callbacks.delete(id)) live.push({ loaded, leftMs });
    }
    if (live.length > 0) revive(live);
    this.#lookLater();
  }
}
