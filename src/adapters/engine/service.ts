/** One jobs service: the outcomes of the questions to it, and whether it can be asked. */
import { Histogram } from '../../base/histogram.ts';
import type { Exposition } from '../../base/prometheus.ts';
import { zeroCounts } from '../../base/zero-counts.ts';
import type { Connections } from './exchange.ts';
import { asksByFetch, FetchConnections } from './fetch-connections.ts';
import { HttpConnections } from './http-connections.ts';
import { isReachable } from './reach.ts';

/** Outcomes of one question to one service, as the metrics list them. */
const OUTCOMES = ['answered', 'invalid', 'late', 'lost', 'refused'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Upper bounds of the durations' buckets, milliseconds. */
const BOUNDS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000] as const;

/** What the last question to a service says about it: `late` gave no answer in time, `away` could not be reached or refused. */
export type Standing = 'well' | 'unknown' | 'late' | 'away';

/** Services of a lower rank are asked first. */
const RANKS: Readonly<Record<Standing, number>> = { well: 0, unknown: 0, late: 1, away: 2 };
export const rankOf = ({ standing }: JobsService): number => RANKS[standing];

export class JobsService {
  /** Base address without a trailing slash. */
  readonly url: string;
  readonly connections: Connections;
  standing: Standing = 'unknown';
  /** It was away or late when the gate last looked at it. */
  isOut = false;
  /** Monotonic time of the question that set `standing`. */
  askedMs = Number.NEGATIVE_INFINITY;
  readonly #counts = zeroCounts(OUTCOMES);
  readonly #durations = new Histogram(BOUNDS_MS);
  #reaching: Promise<boolean> | undefined;

  constructor(url: string, token: string) {
    this.url = url;
    this.connections = asksByFetch() ? new FetchConnections(url, token) : new HttpConnections(url, token);
  }

  /** One test at a time, however many questions wait. */
  isReachable(withinMs: number): Promise<boolean> {
    this.#reaching ??= isReachable(this.url, withinMs).finally(() => {
      this.#reaching = undefined;
    });
    return this.#reaching;
  }

  count(outcome: Outcome, durationMs: number): void {
    this.#counts[outcome]++;
    this.#durations.add(durationMs);
  }

  writeCounts(page: Exposition): void {
    for (const outcome of OUTCOMES) page.sample(this.#counts[outcome], { address: this.url, outcome });
  }

  writeDurations(page: Exposition): void {
    this.#durations.write(page, { address: this.url });
  }
}
