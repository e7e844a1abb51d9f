/**
 * When a watched board is fetched next (pure): as often as it changes, judging by its last visits, and with growing
 * pauses after failures.
 *
 * Changes of a board are modelled as a Poisson process. A visit tells only whether anything changed since the visit
 * before it, so the rate is the maximum likelihood estimate for such observations at unequal gaps (Cho and
 * Garcia-Molina, "Estimating frequency
 * of change", ACM TOIT 3(3), 2003): the root of  sum over changed g / (exp(rate g) - 1) = sum over unchanged g.
 * Half a changed and half an unchanged visit after PRIOR_GAP_MS are the prior for an unknown board. Older visits count
 * less, so that the schedule follows a board that falls asleep or wakes up within days.
 */
import { HOUR_MS, MINUTE_MS } from '../../base/durations.ts';

/** A fetch of a board that listed it completely. */
export interface Visit {
  readonly atMs: number;
  /** Any job is new, changed, closed or reopened. */
  readonly isChanged: boolean;
}

/** Shortest and longest time between two visits of a board. */
export interface VisitBounds {
  readonly minMs: number;
  readonly maxMs: number;
}

/** Visits that count: given the fading below, more would change nothing noticeable. */
export const VISITS_KEPT = 24;

/** An unknown board counts as one that changes a few times a day. */
const PRIOR_GAP_MS = 6 * HOUR_MS;
const PRIOR_WEIGHT = 0.5;
/** Weight of a visit relative to the next one. */
const FADING = 0.85;
/** Time between two visits as a share of the mean time between two changes: half finds changes early. */
const SHARE_OF_MEAN = 0.5;
/** Visits that fall due together drift apart by up to this share of their gap. */
const SPREAD = 0.1;
/** Bounds of the search for the mean time between changes: far below and above all bounds of visits. */
const MEAN_MIN_MS = MINUTE_MS;
const MEAN_MAX_MS = 10_000 * HOUR_MS;
const HALVINGS = 50;

/** First pause after a failure; it doubles with each further one. */
export const FAILURE_PAUSE_MS = 5 * MINUTE_MS;
/** `Retry-After` beyond this counts as this. */
export const RETRY_AFTER_MAX_MS = 7 * 24 * HOUR_MS;

/**
 * Mean time between two changes, milliseconds.
 * @param visits oldest first
 */
function meanChangeMs(visits: readonly Visit[]): number {
  const changed = [{ gapMs: PRIOR_GAP_MS, weight: PRIOR_WEIGHT }];
  let unchangedMs = PRIOR_GAP_MS * PRIOR_WEIGHT;
  const kept = visits.slice(-VISITS_KEPT);
  for (let i = 1; i < kept.length; i++) {
    const { atMs, isChanged } = kept[i]!;
    const gapMs = atMs - kept[i - 1]!.atMs;
    if (!(gapMs > 0)) continue;
    const weight = FADING ** (kept.length - 1 - i);
    if (isChanged) changed.push({ gapMs, weight });
    else unchangedMs += weight * gapMs;
  }
  // The left side falls as the rate grows, so it meets the right side once.
  let low = 1 / MEAN_MAX_MS;
  let high = 1 / MEAN_MIN_MS;
  for (let halving = 0; halving < HALVINGS; halving++) {
    const rate = Math.sqrt(low * high);
    let sum = 0;
    for (const { gapMs, weight } of changed) sum += (weight * gapMs) / Math.expm1(rate * gapMs);
    if (sum > unchangedMs) low = rate;
    else high = rate;
  }
  return 1 / high;
}

/**
 * When to visit the board again after a visit at `nowMs`.
 * @param visits oldest first, the last one at `nowMs`
 * @param draw evenly from 0 (included) to 1 (excluded)
 */
export function nextVisitMs(
  visits: readonly Visit[],
  { minMs, maxMs }: VisitBounds,
  nowMs: number,
  draw: number,
): number {
  const gapMs = Math.min(maxMs, Math.max(minMs, meanChangeMs(visits) * SHARE_OF_MEAN));
  return nowMs + Math.round(Math.max(minMs, gapMs * (1 - SPREAD * draw)));
}

/**
 * When to try again after the `failures`th failure in a row: after five minutes, doubled each time up to the longest
 * gap, less a random part of up to half. `Retry-After` is obeyed in full.
 * @param retryAfterMs what the answer asked for; null = nothing
 */
export function nextTryMs(
  failures: number,
  { maxMs }: VisitBounds,
  nowMs: number,
  { draw, retryAfterMs }: { readonly draw: number; readonly retryAfterMs: number | null },
): number {
  const grownMs = Math.min(maxMs, FAILURE_PAUSE_MS * 2 ** Math.min(failures - 1, 30));
  const ownMs = Math.round(grownMs * (0.5 + draw / 2));
  return nowMs + Math.max(ownMs, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS));
}

/** Failed requests for the description of a job. */
export interface DetailTries {
  /** At least 1. */
  readonly tries: number;
  /** Time of the last one, milliseconds since the epoch. */
  readonly triedMs: number;
}

/** First pause after a description did not come; it doubles with each further try. */
const DETAIL_PAUSE_MS = HOUR_MS / 2;
/** Longest such pause. */
export const DETAIL_PAUSE_MS_MAX = 7 * 24 * HOUR_MS;

/** When a missing description may be requested again. */
export const nextDetailMs = ({ tries, triedMs }: DetailTries): number =>
  triedMs + Math.min(DETAIL_PAUSE_MS_MAX, DETAIL_PAUSE_MS * 2 ** Math.min(tries - 1, 30));

/** Longest pause for a failing host: it is tried at least hourly. */
const HOST_PAUSE_MS_MAX = HOUR_MS;

/**
 * When a failing host is tried again: after five minutes, doubled with each further pause up to an hour, less a random
 * part of up to half. `Retry-After` is obeyed in full.
 * @param times pauses in a row, at least 1
 */
export const nextHostTryMs = (
  times: number,
  nowMs: number,
  retry: { readonly draw: number; readonly retryAfterMs: number | null },
): number => nextTryMs(times, { minMs: 0, maxMs: HOST_PAUSE_MS_MAX }, nowMs, retry);
