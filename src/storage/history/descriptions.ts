/**
 * Descriptions in the history: the text that the catalogue shows, compressed, once for each digest. An import stores new ones as
 * it reads them, and at its end removes those that it left without a job.
 */
import { DESCRIPTION_LENGTH_MAX, type Job } from '../../catalogue/job.ts';
import { compressed, decompressed } from '../../catalogue/packed/zstd.ts';
import type { HistoryDatabase, Row } from './database.ts';

export const DESCRIPTION_TABLE = `
  CREATE TABLE description (
    serial INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, is_truncated INTEGER NOT NULL, text BLOB NOT NULL
  );
`;

/** A single description compresses hardly better at a higher level, and a feed has thousands of new ones. */
const LEVEL = 3;

/** UTF-8 has at most four bytes for a code point. */
const TEXT_BYTES_MAX = DESCRIPTION_LENGTH_MAX * 4;

type Described = Pick<Job, 'description' | 'descriptionTruncated'>;

/** @param row of `job` joined with `description` @returns undefined when the text is damaged */
export function storedDescription({ text, is_truncated: isTruncated }: Row): Described | undefined {
  if (text === null) return { description: null, descriptionTruncated: false };
  const bytes = decompressed(text as Uint8Array, TEXT_BYTES_MAX);
  return bytes && { description: bytes.toString('utf8'), descriptionTruncated: isTruncated === 1 };
}

/** Every method throws what SQLite throws. */
export class DescriptionStore {
  readonly #history: HistoryDatabase;

  constructor(history: HistoryDatabase) {
    this.#history = history;
    history.database.exec('CREATE TEMP TABLE doubtful_description (digest TEXT PRIMARY KEY) WITHOUT ROWID');
  }

  /** Stores the description of a job that was read, unless one has the digest. */
  store(digest: string, { description, descriptionTruncated }: Described): void {
    if (description === null) return;
    const known = this.#history.statement('SELECT 1 FROM description WHERE digest = ?').get(digest);
    if (known !== undefined) return;
    this.#history
      .statement('INSERT INTO description (digest, is_truncated, text) VALUES (?, ?, ?)')
      .run(digest, Number(descriptionTruncated), compressed(Buffer.from(description), LEVEL));
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
