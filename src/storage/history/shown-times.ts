/** The times of a job as the catalogue shows it. */
import type { Job } from '../../catalogue/job.ts';

/**
 * Caps the last observation at the closing: a source may still list a job that it reports as closed, and a native
 * record may have been observed after the feed that closed it.
 */
export function shownTimes(
  firstMs: number,
  lastMs: number,
  closedMs: number | null,
): Pick<Job, 'firstObservedMs' | 'lastObservedMs' | 'status' | 'closedAtMs'> {
  if (closedMs === null) {
    return { firstObservedMs: firstMs, lastObservedMs: lastMs, status: 'active', closedAtMs: null };
  }
  const lastObservedMs = Math.max(firstMs, Math.min(lastMs, closedMs));
  return {
    firstObservedMs: firstMs,
    lastObservedMs,
    status: 'closed',
    closedAtMs: Math.max(closedMs, lastObservedMs),
  };
}
