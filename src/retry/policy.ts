/**
 * When a job is tried again (siblings §6): `initial * 2^(n-1)` or `initial` after attempt n, at most `max_delay`; with jitter,
 * a uniform draw from half of that to all of it. `Retry-After` stretches the pause up to `max_delay` and never shortens it.
 */

export const BACKOFFS = ['exponential', 'fixed'] as const;

export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly backoff: (typeof BACKOFFS)[number];
  readonly initialDelaySeconds: number;
  readonly maxDelaySeconds: number;
  readonly jitter: boolean;
  readonly attemptTimeoutSeconds: number;
  readonly retryStatuses: readonly number[];
  readonly respectRetryAfter: boolean;
}

/** Defaults of the members that a request leaves out. */
export const DEFAULT_POLICY: RetryPolicy = {
  maxAttempts: 5,
  backoff: 'exponential',
  initialDelaySeconds: 5,
  maxDelaySeconds: 3600,
  jitter: true,
  attemptTimeoutSeconds: 15,
  retryStatuses: [408, 425, 429, 500, 502, 503, 504],
  respectRetryAfter: true,
};

/**
 * The pause after an attempt, whole milliseconds.
 * @param number of the attempt, from 1
 * @param retryAfterSeconds what its answer asked for, or null
 * @param draw uniform from 0 (included) to 1 (excluded)
 */
export function pauseMs(policy: RetryPolicy, number: number, retryAfterSeconds: number | null, draw: number): number {
  const { backoff, initialDelaySeconds, maxDelaySeconds, jitter, respectRetryAfter } = policy;
  const grown = backoff === 'fixed' ? initialDelaySeconds : initialDelaySeconds * 2 ** (number - 1);
  const wholeMs = Math.min(grown, maxDelaySeconds) * 1000;
  const ownMs = jitter ? Math.round(wholeMs * (0.5 + draw / 2)) : wholeMs;
  if (retryAfterSeconds === null || !respectRetryAfter) return ownMs;
  return Math.max(ownMs, Math.min(retryAfterSeconds, maxDelaySeconds) * 1000);
}
