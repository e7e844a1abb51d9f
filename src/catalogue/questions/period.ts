/** The observation period (specification, "What the service does"): seven days of UTC that end with the answer. */
import { DAY_MS } from '../../base/durations.ts';

const OBSERVATION_PERIOD_DAYS = 7;

/** Milliseconds since the epoch; both ends belong to the period. */
export interface ObservationPeriod {
  readonly startMs: number;
  readonly endMs: number;
}

export function observationPeriodEndingAt(nowMs: number): ObservationPeriod {
  return { startMs: nowMs - OBSERVATION_PERIOD_DAYS * DAY_MS, endMs: nowMs };
}
