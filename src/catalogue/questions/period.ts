/** The observation period (specification, "What the service does"): seven days of UTC that end with the answer. */

const OBSERVATION_PERIOD_DAYS = 7;

const DAY_MS = 86_400_000;

/** Milliseconds since the epoch; both ends belong to the period. */
export interface ObservationPeriod {
  readonly startMs: number;
  readonly endMs: number;
}

export function observationPeriodEndingAt(nowMs: number): ObservationPeriod {
  return { startMs: nowMs - OBSERVATION_PERIOD_DAYS * DAY_MS, endMs: nowMs };
}
