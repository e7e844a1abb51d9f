/**
 * Progress on a terminal: one line, redrawn at most ten times a second. A pipe receives nothing, so logs hold only results and
 * error messages.
 */
import type { Clock } from '../base/clock.ts';
import { grouped } from '../base/grouped.ts';
import type { Output } from './io.ts';

const DRAW_INTERVAL_MS = 100;
const BAR_CELLS = 24;

export interface ProgressState {
  /** Rows so far. */
  readonly rows: number;
  /** Work done, and in total; both in the same unit. `total` is null when unknown. */
  readonly done: number;
  readonly total: number | null;
}

/** Rows and rate; with a known total also a bar, the percentage and the time left. */
export function progressLine(state: ProgressState, elapsedMs: number): string {
  const seconds = elapsedMs / 1000;
  const parts = [`${grouped(state.rows)} rows`];
  if (seconds >= 1) parts.push(`${grouped(Math.round(state.rows / seconds))}/s`);
  if (state.total !== null && state.total > 0) {
    const share = Math.min(1, state.done / state.total);
    const filled = Math.floor(share * BAR_CELLS);
    parts.unshift(`[${'#'.repeat(filled)}${'.'.repeat(BAR_CELLS - filled)}] ${Math.floor(share * 100)}%`);
    if (seconds >= 1 && share > 0) parts.push(`${durationOf((elapsedMs * (1 - share)) / share)} left`);
  }
  return parts.join('  ');
}

function durationOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export class Progress {
  readonly #output: Output;
  readonly #clock: Clock;
  readonly #startMs: number;
  #drawnMs: number;
  #drawn = false;

  constructor(output: Output, clock: Clock) {
    this.#output = output;
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
    this.#drawnMs = this.#startMs;
  }

  /** Cheap enough to call for every row. */
  show(state: ProgressState): void {
    this.showLine((elapsedMs) => progressLine(state, elapsedMs));
  }

  /** Shows any line. Calls `lineOf` only when it draws, and cuts the line to the width of the terminal. */
  showLine(lineOf: (elapsedMs: number) => string): void {
    if (!this.#output.isTerminal) return;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#drawnMs < DRAW_INTERVAL_MS) return;
    this.#drawnMs = nowMs;
    this.#drawn = true;
    const line = lineOf(nowMs - this.#startMs).slice(0, Math.max(0, this.#output.columns - 1));
    this.#output.clearLine();
    this.#output.write(line);
  }

  /** Writes lines in place of the progress. */
  say(text: string): void {
    this.clear();
    this.#output.write(text);
  }

  /** Clears the line. Call it before writing anything else to the terminal. */
  clear(): void {
    if (this.#drawn) this.#output.clearLine();
    this.#drawn = false;
  }
}
