/** Time that only a test moves: wall and monotonic clock, and timers that fire in order as it passes. */
import type { Clock } from '../../src/base/clock.ts';
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
  /** True: timers never fire, as if the event loop had lost them. */
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

  /** Lets pass what the machine's clock is ahead, for payments that are signed by that clock. */
  catchUp(): void {
    this.pass(Math.max(0, Date.now() - this.nowMs()));
  }

  /** Advances both clocks; due timers fire at their own time, in order. */
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

/** Runs everything that waits only for promises. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
