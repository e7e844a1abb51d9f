/**
 * The jobs of a history as a build takes them: a whole description is not read, only named, and the build reads those that it
 * packs (`storedTextsOf`).
 */
import type { Job } from '../../catalogue/job.ts';
import type { StoredDescription } from '../../catalogue/packed/description-build.ts';
import type { StoredTexts } from '../../catalogue/packed/distinct-texts.ts';
import { type HistoryDatabase, HistoryError, historyErrorOf, type Row } from './database.ts';
import { decompressedText, storedDescription } from './description-table.ts';
import { shownTimes } from './shown-times.ts';

export interface JobToBuild {
  readonly job: Job;
  /** Serial of its board. */
  readonly board: number;
  /** Its description, where that is kept whole; otherwise the job has it. */
  readonly stored: StoredDescription | undefined;
}

/** Of a description that is cut short the digest is that of the whole text, so its text is read. */
const JOBS = `SELECT job.*, CASE WHEN is_truncated = 1 THEN text END AS text, is_truncated, bytes FROM job
  LEFT JOIN description ON description.digest = job.description_digest ORDER BY job.serial`;

const unreadable = (history: HistoryDatabase, id: unknown): HistoryError =>
  new HistoryError(`${history.path} is damaged: the description of job ${JSON.stringify(id)} is unreadable`);

/** In the order in which they were stored. @throws HistoryError */
export function* jobsToBuild(history: HistoryDatabase): Generator<JobToBuild, void, void> {
  try {
    for (const row of history.statement(JOBS).iterate() as Iterable<Row>) {
      const { board, job, descriptionDigest, firstMs, lastMs, closedMs } = history.storedJobOf(row);
      const description = storedDescription(row);
      if (description === undefined) throw unreadable(history, job.id);
      const isStored = row.is_truncated === 0;
      const stored = isStored ? { key: descriptionDigest!, byteLength: row.bytes as number } : undefined;
      yield { job: { ...job, ...description, ...shownTimes(firstMs, lastMs, closedMs) }, board, stored };
    }
  } catch (failure) {
    throw historyErrorOf(failure, history.path);
  }
}

/** `read` throws HistoryError when a text is missing or damaged. */
export function storedTextsOf(history: HistoryDatabase): StoredTexts {
  return {
    read(key) {
      let row: Row | undefined;
      try {
        row = history.statement('SELECT text FROM description WHERE digest = ?').get(key) as Row | undefined;
      } catch (failure) {
        throw historyErrorOf(failure, history.path);
      }
      const bytes = row && decompressedText(row.text as Uint8Array);
      if (bytes !== undefined) return bytes;
      const job = history.statement('SELECT id FROM job WHERE description_digest = ?').get(key) as Row | undefined;
      throw unreadable(history, job?.id);
    },
  };
}
