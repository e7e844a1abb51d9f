/**
 * Descriptions in the history: the texts that the catalogue shows, compressed, one for each digest. An import stores
 * new ones as it reads them, and at its end removes those left without a job.
 */
import { DESCRIPTION_LENGTH_MAX, type Job } from '../../catalogue/job.ts';
import { compressed, decompressed } from '../../catalogue/packed/zstd.ts';
import type { Row } from '../sqlite/connection.ts';
import type { HistoryDatabase } from './database.ts';

/** A higher level hardly compresses a single description better, and a feed has thousands of new ones. */
const LEVEL = 3;

/** UTF-8 has at most four bytes for a code point. */
const TEXT_BYTES_MAX = DESCRIPTION_LENGTH_MAX * 4;

/** UTF-8; undefined when it is damaged. */
export const decompressedText = (text: Uint8Array): Buffer | undefined => decompressed(text, TEXT_BYTES_MAX);

export type Described = Pick<Job, 'description' | 'descriptionTruncated'>;

/** @param row of `job` joined with `description` @returns undefined when the text is damaged */
export function storedDescription({ text, is_truncated: isTruncated }: Row): Described | undefined {
  if (text === null) return { description: null, descriptionTruncated: false };
  const bytes = decompressedText(text as Uint8Array);
  return bytes && { description: bytes.toString('utf8'), descriptionTruncated: isTruncated === 1 };
}

/** Every method throws HistoryError. */
export class DescriptionStore {
  readonly #history: HistoryDatabase;

  constructor(history: HistoryDatabase) {
    this.#history = history;
    history.exec(`CREATE TEMP TABLE IF NOT EXISTS doubtful_description (digest TEXT PRIMARY KEY) WITHOUT ROWID;
      DELETE FROM doubtful_description`);
  }

  /** Stores the description of a job, unless one with its digest exists. */
  store(digest: string, { description, descriptionTruncated }: Described): void {
    if (description === null) return;
    const known = this.#history.row('SELECT 1 FROM description WHERE digest = ?', digest);
    if (known !== undefined) return;
    const bytes = Buffer.from(description);
    this.#history.run(
      'INSERT INTO description (digest, is_truncated, bytes, text) VALUES (?, ?, ?, ?)',
      ...[digest, Number(descriptionTruncated), bytes.length, compressed(bytes, LEVEL)],
    );
    this.doubt(digest);
  }

  /** Makes `removeUnused` check a description that the import may leave without a job. */
  doubt(digest: string): void {
    this.#history.run('INSERT INTO doubtful_description VALUES (?) ON CONFLICT DO NOTHING', digest);
  }

  removeUnused(): void {
    this.#history.exec(`DELETE FROM description WHERE digest IN (SELECT digest FROM doubtful_description)
      AND NOT EXISTS (SELECT 1 FROM job WHERE description_digest = description.digest)`);
  }
}
