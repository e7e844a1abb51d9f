/**
 * Descriptions in the history: the texts that the catalogue shows, compressed, one for each digest. An import stores
 * new ones as it reads them, and at its end removes those left without a job.
 */
import { compressed } from '../../catalogue/packed/zstd.ts';
import type { HistoryDatabase } from './database.ts';
import type { Described } from './description-table.ts';

/** A higher level hardly compresses a single description better, and a feed has thousands of new ones. */
const LEVEL = 3;

/** Every method throws what SQLite throws. */
export class DescriptionStore {
  readonly #history: HistoryDatabase;

  constructor(history: HistoryDatabase) {
    this.#history = history;
    history.database.exec(`CREATE TEMP TABLE IF NOT EXISTS doubtful_description (digest TEXT PRIMARY KEY) WITHOUT ROWID;
      DELETE FROM doubtful_description`);
  }

  /** Stores the description of a job, unless one with its digest exists. */
  store(digest: string, { description, descriptionTruncated }: Described): void {
    if (description === null) return;
    const known = this.#history.row('SELECT 1 FROM description WHERE digest = ?', digest);
    if (known !== undefined) return;
    const bytes = Buffer.from(description);
    this.#history
      .prepared('INSERT INTO description (digest, is_truncated, bytes, text) VALUES (?, ?, ?, ?)')
      .run(digest, Number(descriptionTruncated), bytes.length, compressed(bytes, LEVEL));
    this.doubt(digest);
  }

  /** Makes `removeUnused` check a description that the import may leave without a job. */
  doubt(digest: string): void {
    this.#history.run('INSERT INTO doubtful_description VALUES (?) ON CONFLICT DO NOTHING', digest);
  }

  removeUnused(): void {
    this.#history.database.exec(`DELETE FROM description WHERE digest IN (SELECT digest FROM doubtful_description)
      AND NOT EXISTS (SELECT 1 FROM job WHERE description_digest = description.digest)`);
  }
}
