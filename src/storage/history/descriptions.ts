/**
 * Descriptions in the history: the text that the catalogue shows, compressed, once for each digest. An import stores new ones as
 * it reads them, and at its end removes those that it left without a job.
 */
import { compressed } from '../../catalogue/packed/zstd.ts';
import type { HistoryDatabase } from './database.ts';
import type { Described } from './description-table.ts';

/** A single description compresses hardly better at a higher level, and a feed has thousands of new ones. */
const LEVEL = 3;

/** Every method throws what SQLite throws. */
export class DescriptionStore {
  readonly #history: HistoryDatabase;

  constructor(history: HistoryDatabase) {
    this.#history = history;
    history.database.exec(`CREATE TEMP TABLE IF NOT EXISTS doubtful_description (digest TEXT PRIMARY KEY) WITHOUT ROWID;
      DELETE FROM doubtful_description`);
  }

  /** Stores the description of a job that was read, unless one has the digest. */
  store(digest: string, { description, descriptionTruncated }: Described): void {
    if (description === null) return;
    const known = this.#history.row('SELECT 1 FROM description WHERE digest = ?', digest);
    if (known !== undefined) return;
    const bytes = Buffer.from(description);
    this.#history
      .statement('INSERT INTO description (digest, is_truncated, bytes, text) VALUES (?, ?, ?, ?)')
      .run(digest, Number(descriptionTruncated), bytes.length, compressed(bytes, LEVEL));
    this.doubt(digest);
  }

  /** Has `removeUnused` look at a description: the import may leave it without a job. */
  doubt(digest: string): void {
    this.#history.statement('INSERT INTO doubtful_description VALUES (?) ON CONFLICT DO NOTHING').run(digest);
  }

  removeUnused(): void {
    this.#history.database.exec(`DELETE FROM description WHERE digest IN (SELECT digest FROM doubtful_description)
      AND NOT EXISTS (SELECT 1 FROM job WHERE description_digest = description.digest)`);
  }
}
