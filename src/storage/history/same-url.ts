/** Jobs of a catalogue that share their address. */
import { type HistoryDatabase, historyErrorOf, type Row } from './database.ts';

const OLDER_ONES = `
  SELECT id FROM (
    SELECT id, row_number() OVER (PARTITION BY source_url ORDER BY last_observed_ms DESC, serial DESC) AS place
    FROM job WHERE closed_ms IS NULL AND last_observed_ms >= ?
  ) WHERE place > 1`;

/**
 * Ids of active jobs with the address of another active one that was observed later (or stored later, where both were observed
 * at one time).
 * @param sinceMs only jobs last observed from then on
 * @throws HistoryError
 */
export function sameUrlIds(history: HistoryDatabase, sinceMs: number): ReadonlySet<string> {
  try {
    const ids = new Set<string>();
    for (const { id } of history.statement(OLDER_ONES).iterate(sinceMs) as Iterable<Row>) ids.add(id as string);
    return ids;
  } catch (failure) {
    throw historyErrorOf(failure, history.path);
  }
}
