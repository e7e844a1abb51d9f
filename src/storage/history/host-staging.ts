/**
 * Hosts that the postings of an import name, counted by feed and employer in a temporary table beside the staged rows
 * (staging.ts), so that a member that breaks off leaves none behind. `keep` merges the counts of a feed into the history.
 */
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import type { HistoryDatabase } from './database.ts';

const TABLE = `
  CREATE TEMP TABLE IF NOT EXISTS staged_host (
    feed INTEGER NOT NULL, company TEXT NOT NULL, kind TEXT NOT NULL, host TEXT NOT NULL, rows INTEGER NOT NULL,
    UNIQUE (feed, kind, company, host)
  );
  DELETE FROM staged_host;
`;

/** Most hosts of one kind stored for an employer, those with the most postings first: a company has few of its own. */
const HOSTS_MAX = 32;

/** Every method throws HistoryError. */
export class HostStaging {
  readonly #history: HistoryDatabase;

  constructor(history: HistoryDatabase) {
    this.#history = history;
    history.exec(TABLE);
  }

  /** @param company the employer's key on its board */
  add(feed: number, company: string, kind: 'site' | 'link', host: CompanyDomain): void {
    this.#history.run(
      'INSERT INTO staged_host VALUES (?, ?, ?, ?, 1) ON CONFLICT (feed, kind, company, host) DO UPDATE SET rows = rows + 1',
      ...[feed, company, kind, host],
    );
  }

  /** An unchanged feed names the same hosts as before. */
  repeat(board: number, beforeMs: number, atMs: number): void {
    this.#history.run('UPDATE host SET at_ms = ? WHERE board = ? AND at_ms = ?', atMs, board, beforeMs);
  }

  /**
   * Stores the hosts of a feed. A complete feed replaces those of earlier ones: a site that the company no longer uses
   * stops counting. A feed without any host of a kind (a list without descriptions) says nothing about that kind.
   * @returns whether anything changed
   */
  keep(feed: number, board: number, atMs: number, isComplete: boolean): boolean {
    let changes = 0;
    const run = (sql: string, ...values: (string | number)[]): void => {
      changes += this.#history.run(sql, ...values);
    };
    if (isComplete) {
      run(
        `DELETE FROM host WHERE board = ? AND at_ms < ?
         AND kind IN (SELECT DISTINCT kind FROM staged_host WHERE feed = ?)`,
        board,
        atMs,
        feed,
      );
    }
    run(
      `INSERT INTO host (board, company, kind, host, rows, at_ms)
       SELECT ?, company, kind, host, rows, ? FROM (
         SELECT *, row_number() OVER (PARTITION BY kind, company ORDER BY rows DESC, host) AS place
         FROM staged_host WHERE feed = ?
       ) WHERE place <= ${HOSTS_MAX}
       ON CONFLICT (board, kind, company, host) DO UPDATE
       SET rows = max(rows, excluded.rows), at_ms = max(at_ms, excluded.at_ms)
       WHERE excluded.rows > rows OR excluded.at_ms > at_ms`,
      board,
      atMs,
      feed,
    );
    if (changes === 0) return false;
    run(
      `DELETE FROM host WHERE board = ? AND (kind, company, host) IN (
         SELECT kind, company, host FROM (
           SELECT *, row_number() OVER (PARTITION BY kind, company ORDER BY at_ms DESC, rows DESC, host) AS place
           FROM host WHERE board = ?
         ) WHERE place > ${HOSTS_MAX})`,
      board,
      board,
    );
    return true;
  }
}
