/** One jobs service: what became of the questions to it, and whether it can be asked. */
import type { Exposition } from '../../base/prometheus.ts';
import type { Connections } from './exchange.ts';
import { asksByFetch, FetchConnections } from './fetch-connections.ts';
import { HttpConnections } from './http-connections.ts';
import { isReachable } from './reach.ts';

/** What one question to one service came to, as the metrics list them. */
export const OUTCOMES = ['answered', 'invalid', 'late', 'lost', 'refused'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Upper bounds of the histogram, seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;

/**
 * What the last question to a service says about it: `late` gave no answer in time, `away` could not be reached or refused.
 * In the order in which services are asked.
 */
const STANDINGS = ['well', 'unknown', 'late', 'away'] as const;
export type Standing = (typeof STANDINGS)[number];
export const rankOf = ({ standing }: JobsService): number => Math.max(1, STANDINGS.indexOf(standing));

export class JobsService {
  /** Base address without a trailing slash. */
  readonly url: string;
  readonly connections: Connections;
  standing: Standing = 'unknown';
  readonly #counts: Record<Outcome, number> = { answered: 0, invalid: 0, late: 0, lost: 0, refused: 0 };
  /** Questions by the first bucket that holds them; the last entry is above all bounds. */
  readonly #byBucket: number[] = new Array(BUCKETS.length + 1).fill(0);
  #seconds = 0;
  #reaching: Promise<boolean> | undefined;

  constructor(url: string, token: string) {
    this.url = url;
    this.connections = asksByFetch() ? new FetchConnections(url, token) : new HttpConnections(url, token);
  }

  /** One try at a time, whatever the number of questions that wait. */
  isReachable(withinMs: number): Promise<boolean> {
    this.#reaching ??= isReachable(this.url, withinMs).finally(() => {
      this.#reaching = undefined;
    });
    return this.#reaching;
  }

  count(outcome: Outcome, ms: number): void {
    this.#counts[outcome]++;
    const seconds = ms / 1000;
    this.#seconds += seconds;
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
    this.#byBucket[bucket < 0 ? BUCKETS.length : bucket]!++;
  }

  writeCounts(page: Exposition): void {
    for (const outcome of OUTCOMES) page.sample(this.#counts[outcome], { address: this.url, outcome });
  }

  writeDurations(page: Exposition): void {
    let count = 0;
    for (const [i, bound] of BUCKETS.entries()) {
      count += this.#byBucket[i]!;
      page.sample(count, { address: this.url, le: String(bound) }, '_bucket');
    }
    count += this.#byBucket[BUCKETS.length]!;
    page.sample(count, { address: this.url, le: '+Inf' }, '_bucket');
    page.sample(this.#seconds, { address: this.url }, '_sum').sample(count, { address: this.url }, '_count');
  }
}
