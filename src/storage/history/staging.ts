/**
 * The rows that an import has read so far, in temporary tables: one row for each id and feed, and the ids of refused
 * records. Each member is one savepoint, so a member that breaks off leaves no rows behind.
 */
import type { Sighting } from '../../ingest/history/observation.ts';
import type { HistoryDatabase } from './database.ts';

const TABLES = `
  CREATE TEMP TABLE IF NOT EXISTS staged (
    ordinal INTEGER NOT NULL, feed INTEGER NOT NULL, id TEXT NOT NULL, member TEXT NOT NULL, fetched_ms INTEGER,
    sighting TEXT NOT NULL, UNIQUE (feed, id)
  );
  CREATE TEMP TABLE IF NOT EXISTS refused (feed INTEGER NOT NULL, id TEXT NOT NULL, UNIQUE (feed, id));
  DELETE FROM staged;
  DELETE FROM refused;
`;

export interface StagedRow {
  /** Number of the row in the import. */
  readonly ordinal: number;
  /** Serial of the feed in the import. */
  readonly feed: number;
  /** Name of the member that it is from. */
  readonly member: string;
  /** When the member was fetched, milliseconds since the epoch; null = unknown. */
  readonly fetchedMs: number | null;
  readonly sighting: Sighting;
}

/** A row of the same member with the same id. */
export interface EarlierRow {
  readonly ordinal: number;
  /** False: it has another address, so one of the two bears the id of a posting that it is not. */
  readonly isSamePosting: boolean;
}

/** Every method throws HistoryError. */
export class Staging {
  readonly #history: HistoryDatabase;
  #hasSavepoint = false;

  constructor(history: HistoryDatabase) {
    this.#history = history;
    history.exec(TABLES);
  }

  beginMember(): void {
    this.#history.exec(`${this.#hasSavepoint ? 'RELEASE member; ' : ''}SAVEPOINT member`);
    this.#hasSavepoint = true;
  }

  /** Removes what the member added, unless a full disk has made SQLite roll back everything. */
  undoMember(): void {
    if (this.#history.isInTransaction) this.#history.exec('ROLLBACK TO member');
  }

  /** Ends the last member, before the merge. */
  endMembers(): void {
    if (this.#hasSavepoint) this.#history.exec('RELEASE member');
    this.#hasSavepoint = false;
  }

  /**
   * Adds a row. If several members of a feed have the id, the one fetched last wins, or the one read last if that is
   * unknown.
   * @returns undefined, or the row with this id when it is from the same member
   */
  add({ feed, fetchedMs, member, ordinal, sighting }: StagedRow): EarlierRow | undefined {
    const { id, sourceUrl } = sighting.job;
    const text = JSON.stringify(sighting);
    const insert = 'INSERT INTO staged VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
    if (this.#history.run(insert, ordinal, feed, id, member, fetchedMs, text) > 0) return undefined;
    const known = this.#history.row(
      'SELECT ordinal, member, fetched_ms, sighting FROM staged WHERE feed = ? AND id = ?',
      feed,
      id,
    )!;
    if (known.member === member) {
      const earlier = JSON.parse(String(known.sighting)) as Sighting;
      return { ordinal: known.ordinal as number, isSamePosting: earlier.job.sourceUrl === sourceUrl };
    }
    const isOlder = fetchedMs !== null && known.fetched_ms !== null && fetchedMs < (known.fetched_ms as number);
    if (isOlder) return undefined;
    this.#history.run(
      'UPDATE staged SET ordinal = ?, member = ?, fetched_ms = ?, sighting = ? WHERE feed = ? AND id = ?',
      ...[ordinal, member, fetchedMs, text, feed, id],
    );
    return undefined;
  }

  addRefused(feed: number, id: string): void {
    this.#history.run('INSERT INTO refused VALUES (?, ?) ON CONFLICT DO NOTHING', feed, id);
  }

  rowCount(feed: number): number {
    const counted = this.#history.row('SELECT count(*) AS rows FROM staged WHERE feed = ?', feed)!;
    return counted.rows as number;
  }

  *sightings(feed: number): Generator<Sighting, void, void> {
    for (const { sighting } of this.#history.each('SELECT sighting FROM staged WHERE feed = ?', feed)) {
      yield JSON.parse(String(sighting)) as Sighting;
    }
  }

  /** Ids of refused records that no other record of the feed has. */
  refusedIds(feed: number): string[] {
    const rows = this.#history.rows(
      'SELECT id FROM refused WHERE feed = ? AND id NOT IN (SELECT id FROM staged WHERE feed = ?)',
      feed,
      feed,
    );
    return rows.map(({ id }) => id as string);
  }
}
