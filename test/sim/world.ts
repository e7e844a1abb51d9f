/**
 * The world of one run: time that nobody but the run moves, what is going to happen and when, a trace of what happened and
 * the first invariant that broke. Events of one moment happen in an order that the seed decides.
 */
import { crc32 } from 'node:zlib';
import { Chance } from '../support/chance.ts';

/** Milliseconds since 1970 that a right clock shows when a run begins. */
export const BEGIN_WALL_MS = Date.UTC(2026, 10, 21, 12);
/** Trace lines that are kept for the report of a failure. */
const KEPT_LINES = 60;

interface Happening {
  readonly atMs: number;
  readonly tie: number;
  run: (() => void) | undefined;
}

export interface Violation {
  readonly invariant: string;
  readonly detail: string;
  readonly step: number;
  readonly atMs: number;
}

/** Everything that waits for promises alone has run when this resolves. */
const drained = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class World {
  readonly chance: Chance;
  /** True time, milliseconds from the beginning; never steps. */
  nowMs = 0;
  stepCount = 0;
  violation: Violation | undefined;
  afterStep = (): void => {};
  readonly counts = new Map<string, number>();
  readonly lines: string[] = [];
  #hash = 0;
  readonly #onLine: ((line: string) => void) | undefined;
  /** Binary heap, earliest first. */
  readonly #heap: Happening[] = [];

  /** @param onLine takes every line of the trace */
  constructor(seed: number, onLine?: (line: string) => void) {
    this.chance = new Chance(seed);
    this.#onLine = onLine;
  }

  /** True time as a wall clock that is right: the chain's, and the clients'. */
  get wallMs(): number {
    return BEGIN_WALL_MS + this.nowMs;
  }

  /** Sum over the whole trace so far: equal seeds give equal sums. */
  get traceHash(): string {
    return `${this.stepCount}-${(this.#hash >>> 0).toString(16).padStart(8, '0')}`;
  }

  /** One line of the trace. */
  note(text: string): void {
    const line = `${this.nowMs.toFixed(3)} #${this.stepCount} ${text}`;
    this.#hash = crc32(line, this.#hash);
    if (this.#onLine !== undefined) this.#onLine(line);
    this.lines.push(line);
    if (this.lines.length > 2 * KEPT_LINES) this.lines.splice(0, KEPT_LINES);
  }

  count(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by);
  }

  /** What an invariant guards against could happen now: one that never meets its situation proves nothing. */
  met(invariant: string, by = 1): void {
    if (by > 0) this.count(`met: ${invariant}`, by);
  }

  /** Judges an invariant in the situation that it is for. */
  judge(invariant: string, isKept: boolean, detail: () => string): void {
    this.met(invariant);
    if (!isKept) this.fail(invariant, detail());
  }

  /** An invariant is broken; the run ends after this step. Only the first one counts. Never throws: the caller may be anybody. */
  fail(invariant: string, detail: string): void {
    if (this.violation !== undefined) return;
    this.violation = { invariant, detail, step: this.stepCount, atMs: this.nowMs };
    this.note(`BROKEN ${invariant}: ${detail}`);
  }

  /** @returns cancels */
  after(delayMs: number, run: () => void): () => void {
    const one: Happening = { atMs: this.nowMs + Math.max(0, delayMs), tie: this.chance.next(), run };
    this.#push(one);
    return () => {
      one.run = undefined;
    };
  }

  /** When something happens next, or undefined. */
  #nextAtMs(): number | undefined {
    while (this.#heap.length > 0 && this.#heap[0]?.run === undefined) this.#pop();
    return this.#heap[0]?.atMs;
  }

  /** Steps until then, or until an invariant breaks. */
  async passUntil(atMs: number): Promise<void> {
    for (;;) {
      if (this.violation !== undefined) return;
      const nextMs = this.#nextAtMs();
      if (nextMs === undefined || nextMs > atMs) break;
      await this.#step();
    }
    this.nowMs = Math.max(this.nowMs, atMs);
  }

  /** Steps until it is so; false when it takes longer, or an invariant breaks. */
  async until(isSo: () => boolean, withinMs: number): Promise<boolean> {
    const endMs = this.nowMs + withinMs;
    while (!isSo()) {
      if (this.violation !== undefined) return false;
      const nextMs = this.#nextAtMs();
      if (nextMs === undefined || nextMs > endMs) return false;
      await this.#step();
    }
    return true;
  }

  /** The next happening, and all that follows from it without time passing. */
  async #step(): Promise<void> {
    const one = this.#pop();
    this.nowMs = Math.max(this.nowMs, one.atMs);
    this.stepCount++;
    one.run?.();
    await drained();
    this.afterStep();
  }

  #isBefore(one: Happening, other: Happening): boolean {
    return one.atMs < other.atMs || (one.atMs === other.atMs && one.tie < other.tie);
  }

  #push(one: Happening): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(one);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.#isBefore(one, heap[above]!)) break;
      heap[at] = heap[above]!;
      at = above;
    }
    heap[at] = one;
  }

  #pop(): Happening {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && this.#isBefore(heap[below + 1]!, heap[below]!)) below++;
      if (!this.#isBefore(heap[below]!, last)) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = last;
    return first;
  }
}
