/** Time that only a test moves: wall and monotonic clock, and timers that fire in order as it passes. */
import type { Clock } from '../../src/base/clock.ts';
import type { Random } from '../../src/base/random.ts';
import type { Timers } from '../../src/base/timers.ts';

interface Pending {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

export class ManualTime implements Clock, Timers {
  #monotonicMs = 1_000;
  #wallMs: number;
  #order = 0;
  readonly #pending = new Set<Pending>();
  /** True: timers never fire, as if the loop had forgotten them. */
  areTimersStopped = false;

  constructor(wallMs: number = Date.UTC(2026, 7, 1, 12, 0, 0)) {
    this.#wallMs = wallMs;
  }

  nowMs(): number {
    return Math.floor(this.#wallMs);
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  after(delayMs: number, run: () => void): () => void {
    const pending: Pending = { atMs: this.#monotonicMs + Math.max(0, delayMs), order: this.#order++, run };
    this.#pending.add(pending);
    return () => {
      this.#pending.delete(pending);
    };
  }

  /** Steps the wall clock alone. */
  stepWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  /** Lets time pass on both clocks; timers that fall due fire at their own moment, in order. */
  pass(byMs: number): void {
    const endMs = this.#monotonicMs + byMs;
    while (!this.areTimersStopped) {
      let next: Pending | undefined;
      for (const pending of this.#pending) {
        if (pending.atMs > endMs) continue;
        if (
          next === undefined ||
          pending.atMs < next.atMs ||
          (pending.atMs === next.atMs && pending.order < next.order)
        )
          next = pending;
      }
      if (next === undefined) break;
      this.#pending.delete(next);
      this.#moveTo(Math.max(next.atMs, this.#monotonicMs));
      next.run();
    }
    this.#moveTo(endMs);
  }

  #moveTo(monotonicMs: number): void {
    this.#wallMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }
}

/** Bytes from a seed (mulberry32): the same in every run, and nothing to keep secrets with. */
export class SeededRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 <= value < below. */
  below(below: number): number {
    return Math.floor((this.#next() / 4_294_967_296) * below);
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.#next() >>> 24);
  }

  uuid(): string {
    const hex = [...this.bytes(16)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
}

/** Lets everything run that waits for promises alone. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
