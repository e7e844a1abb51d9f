/**
 * Tracks which callbacks are live, which have expired and which ids are unknown. The clock alone decides: every lookup ends a
 * callback whose lifetime is over, whether or not a timer has fired; timers only clean up (callback.md; reliability 204, 205).
 *
 * Invariants: a live callback is never evicted or shortened; its claim on the capacity is released exactly once; when every
 * lifetime has passed, maps and claims are empty.
 */
import type { Clock } from '../../base/clock.ts';
import { detached } from '../../base/detached.ts';
import type { RateWindow } from '../../base/rate-window.ts';
import type { Timers } from '../../base/timers.ts';
import { type Absent, EXPIRED, NOT_FOUND } from '../callbacks.ts';
import type { CallbackId } from '../identifier.ts';
import {
  LIFETIME_MS,
  RATE_WINDOW_MS,
  SWEEP_PAUSE_MS,
  TOMBSTONE_MS,
  tombstoneCountMax,
  UNKNOWN_ID_COUNT_MAX,
} from '../limits.ts';
import { type Callback, newRateWindow } from './callback.ts';
import { CapacityLedger } from './capacity-ledger.ts';
import { ExpiryMap } from './expiry-map.ts';

export interface LifetimePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Called when a callback has expired. `storing` is its last append in flight, if any. */
  readonly onExpired: (callback: Callback, storing: Promise<unknown> | undefined) => void;
}

/** The record of an expired callback: enough to answer its owner with 410. */
interface Tombstone {
  readonly tokenDigest: Uint8Array;
}

export class Lifetimes {
  readonly capacity: CapacityLedger;
  readonly #ports: LifetimePorts;
  readonly #live: ExpiryMap<Callback>;
  readonly #tombstones: ExpiryMap<Tombstone>;
  /** Rate windows of ids without a live callback. */
  readonly #unknownIds: ExpiryMap<RateWindow>;

  constructor(capacityBytes: number, ports: LifetimePorts) {
    const { clock, timers } = ports;
    this.capacity = new CapacityLedger(capacityBytes, () => this.#live.sweep());
    this.#ports = ports;
    this.#live = new ExpiryMap({
      lifetimeMs: LIFETIME_MS,
      sweepPauseMs: SWEEP_PAUSE_MS,
      clock,
      timers,
      onEnd: (callback) => this.#end(callback, 'expired'),
    });
    this.#tombstones = new ExpiryMap({
      lifetimeMs: TOMBSTONE_MS,
      sweepPauseMs: SWEEP_PAUSE_MS,
      countMax: tombstoneCountMax(capacityBytes),
      clock,
      timers,
    });
    this.#unknownIds = new ExpiryMap({
      lifetimeMs: RATE_WINDOW_MS,
      sweepPauseMs: SWEEP_PAUSE_MS,
      countMax: UNKNOWN_ID_COUNT_MAX,
      clock,
      timers,
    });
  }

  get liveCount(): number {
    return this.#live.size;
  }

  get tombstoneCount(): number {
    return this.#tombstones.size;
  }

  get unknownIdCount(): number {
    return this.#unknownIds.size;
  }

  /** Whether a live or recently expired callback has the id. */
  isTaken(id: CallbackId): boolean {
    return this.#live.peek(id) !== undefined || this.#tombstones.peek(id) !== undefined;
  }

  /** Adds a live callback whose claim is committed or restored. @param leftMs undefined = a whole lifetime */
  add(callback: Callback, leftMs?: number): void {
    this.#live.set(callback.id, callback, leftMs);
  }

  /** Adds callbacks that may end before those that live, though a tombstone says that they have expired. */
  addAmong(callbacks: readonly Callback[]): void {
    const nowMs = this.#ports.clock.monotonicMs();
    const all = [...this.#live.values(), ...callbacks].sort((a, b) => a.endsAtMs - b.endsAtMs);
    for (const { id } of callbacks) this.#tombstones.delete(id);
    // Each moves behind those before it.
    for (const callback of all) this.#live.set(callback.id, callback, callback.endsAtMs - nowMs);
    this.#live.sweep();
  }

  /** Records an expired callback; does nothing when its hour of 410 is over. */
  addTombstone(id: CallbackId, tokenDigest: Uint8Array, tombstoneMs: number): void {
    if (tombstoneMs > 0) this.#tombstones.set(id, { tokenDigest }, tombstoneMs);
  }

  /** Undoes {@link add} for a callback that could not be stored. */
  discard(callback: Callback): void {
    if (callback.state !== 'active') return;
    this.#live.delete(callback.id);
    callback.end('deleted');
    this.capacity.releaseCommitted();
  }

  /** The live callback, or undefined. */
  find(id: CallbackId): Callback | undefined {
    const callback = this.#live.peek(id);
    return callback === undefined || this.endOf(callback) === undefined ? callback : undefined;
  }

  /** How a callback has ended; undefined while it lives. Ends it when its lifetime is over. */
  endOf(callback: Callback): Absent | undefined {
    switch (callback.state) {
      case 'active':
        if (this.#ports.clock.monotonicMs() < callback.endsAtMs) return undefined;
        this.#live.delete(callback.id);
        this.#end(callback, 'expired');
        return EXPIRED;
      case 'expired':
        return EXPIRED;
      case 'deleted':
        return NOT_FOUND;
      default:
        return callback.state satisfies never;
    }
  }

  /** Why an id has no live callback. */
  absent(id: CallbackId): Absent {
    return this.#tombstones.get(id) === undefined ? NOT_FOUND : EXPIRED;
  }

  /** Digest of the read token of an expired callback, or undefined. */
  expiredDigest(id: CallbackId): Uint8Array | undefined {
    return this.#tombstones.get(id)?.tokenDigest;
  }

  /** The rate window of an id without a live callback. It stores a copy of the id: a slice would retain the request's text. */
  rateOfUnknown(id: CallbackId): RateWindow {
    const window = this.#unknownIds.get(id) ?? newRateWindow();
    this.#unknownIds.set(detached(id), window);
    return window;
  }

  /** @param callback a live one */
  delete(callback: Callback): void {
    this.#live.delete(callback.id);
    this.#end(callback, 'deleted');
  }

  /** Sets a timer for the callback's end, for a wait that lasts until then; the sweep would come too late. */
  endInTime(callback: Callback, endsInMs: number): void {
    callback.cancelEnd ??= this.#ports.timers.after(Math.ceil(endsInMs), () => {
      callback.cancelEnd = undefined;
      if (this.endOf(callback) !== undefined) return;
      this.endInTime(callback, callback.endsAtMs - this.#ports.clock.monotonicMs());
    });
  }

  /** Ends all waits as timed out. */
  drain(): void {
    for (const callback of this.#live.values()) {
      callback.waiters?.endAll({ kind: 'timed-out' });
      callback.cancelEnd?.();
    }
  }

  /** Cancels all timers; entries stay. */
  close(): void {
    this.#live.close();
    this.#tombstones.close();
    this.#unknownIds.close();
  }

  /** Ends a callback that is no longer in the map of live ones. */
  #end(callback: Callback, state: 'expired' | 'deleted'): void {
    const { id, tokenDigest, rate, storing } = callback;
    callback.end(state);
    callback.cancelEnd?.();
    this.capacity.releaseCommitted();
    // The rate belongs to the id, so it continues after the callback's end.
    if (rate !== undefined) this.#unknownIds.set(id, rate);
    if (state === 'deleted') {
      callback.waiters?.endAll(NOT_FOUND);
      return;
    }
    this.addTombstone(id, tokenDigest, callback.endsAtMs + TOMBSTONE_MS - this.#ports.clock.monotonicMs());
    callback.waiters?.endAll(EXPIRED);
    this.#ports.onExpired(callback, storing);
  }
}
