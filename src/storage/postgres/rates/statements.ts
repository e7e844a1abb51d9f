/** The statements of shared rates. */

/**
 * $1 process, $2 serial of its sums, $3 the sums or null, $4 since when. One row: what others have shared since, as
 * lists of process, serial, time and sums, and the number of live processes. When two share at once, one may hear the
 * other only in its next share.
 */
export const SHARE = {
  name: 'share-rates',
  text: `
    WITH said AS (
      INSERT INTO paygrade.rate_sums (process, serial, at_ms, sums) SELECT $1, $2, paygrade.now_ms(), $3::json
      WHERE $3::text IS NOT NULL ON CONFLICT (process, serial) DO NOTHING
    )
    SELECT paygrade.now_ms() AS now_ms,
      (SELECT count(*) FROM paygrade.processes) AS processes,
      (SELECT coalesce(json_agg(json_build_array(process, serial, at_ms, sums) ORDER BY at_ms), '[]')
       FROM paygrade.rate_sums WHERE at_ms > $4::bigint AND process <> $1) AS heard`,
} as const;

export const FORGET = {
  name: 'forget-rates',
  text: 'DELETE FROM paygrade.rate_sums WHERE at_ms < paygrade.now_ms() - 90000',
} as const;
