/** Jobs of a catalogue that share their address. */
import type { HistoryDatabase } from './database.ts';
import { JOBS } from './stored-job.ts';

const OLDER_ONES = `
  WITH open AS (
    SELECT serial, source_url, max(last_observed_ms, coalesce(repeated_ms, 0)) AS last_ms FROM (${JOBS})
    WHERE closed_ms IS NULL
  ), placed AS (
    SELECT serial, row_number() OVER (PARTITION BY source_url ORDER BY last_ms DESC, serial DESC) AS place
    FROM open WHERE last_ms >= ?
  ) SELECT serial FROM placed WHERE place > 1`;

/**
 * Serials of active jobs with the address of another active job that was observed later (or stored later, if both were
 * observed at the same time).
 * @param sinceMs only jobs last observed from then on
 * @throws HistoryError
 */
export function sameUrlJobs(history: HistoryDatabase, sinceMs: number): ReadonlySet<number> {
  const serials = new Set<number>();
  for (const { serial } of history.each(OLDER_ONES, sinceMs)) serials.add(serial as number);
  return serials;
}
