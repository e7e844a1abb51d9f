/**
 * The jobs of a history for a build: a whole description is only named, and the build reads those that it packs
 * (`storedTextsOf`). A build with an earlier snapshot reads only what was written since.
 */
import type { Job } from '../../catalogue/job.ts';
import { keyOfDigest, type StoredTexts } from '../../catalogue/packed/distinct-texts.ts';
import type { StoredDescription } from '../../catalogue/packed/item-texts.ts';
import type { Row } from '../sqlite/connection.ts';
import { type HistoryDatabase, HistoryError } from './database.ts';
import { decompressedText, storedDescription } from './descriptions.ts';
import { shownTimes } from './shown-times.ts';
import { JOBS, storedJobOf } from './stored-job.ts';

export interface JobToBuild {
  readonly job: Job;
  readonly serial: number;
  /** Serial of its board. */
  readonly board: number;
  /** Time of the latest feed that had it, by its row, so not counting repeats. */
  readonly presentMs: number;
  /** Its description, if that is stored whole; otherwise the job has it. */
  readonly stored: StoredDescription | undefined;
}

/** A state of the catalogue: its last change. */
export interface ChangeMark {
  readonly serial: number;
  /** As hex. */
  readonly token: string;
}

/** For a truncated description the digest is that of the whole text, so its text is read. */
const DESCRIBED = `SELECT job.*, CASE WHEN is_truncated = 1 THEN text END AS text, is_truncated, bytes FROM (${JOBS}) AS job
  LEFT JOIN description ON description.digest = job.description_digest`;

const unreadable = (history: HistoryDatabase, id: unknown): HistoryError =>
  new HistoryError(`${history.path} is damaged: the description of job ${JSON.stringify(id)} is unreadable`);

function jobToBuildOf(history: HistoryDatabase, row: Row): JobToBuild {
  const { board, job, serial, descriptionDigest, firstMs, lastMs, closedMs } = storedJobOf(history, row);
  const description = storedDescription(row);
  if (description === undefined) throw unreadable(history, job.id);
  const isStored = row.is_truncated === 0;
  const stored = isStored ? { key: descriptionDigest!, byteLength: row.bytes as number } : undefined;
  const presentMs = row.present_ms as number;
  return {
    job: { ...job, ...description, ...shownTimes(firstMs, lastMs, closedMs) },
    serial,
    board,
    presentMs,
    stored,
  };
}

/** In the order in which they were stored. @throws HistoryError */
export function* jobsToBuild(history: HistoryDatabase): Generator<JobToBuild, void, void> {
  for (const row of history.each(`${DESCRIBED} ORDER BY job.serial`)) yield jobToBuildOf(history, row);
}

/** Some of them. @throws HistoryError */
export function* jobsOf(history: HistoryDatabase, serials: Iterable<number>): Generator<JobToBuild, void, void> {
  const sql = `${DESCRIBED} WHERE job.serial = ?`;
  for (const serial of serials) yield jobToBuildOf(history, history.row(sql, serial)!);
}

/** @returns undefined when nothing was written yet @throws HistoryError */
export function lastChange(history: HistoryDatabase): ChangeMark | undefined {
  const sql = 'SELECT serial, hex(token) AS token FROM change ORDER BY serial DESC LIMIT 1';
  return history.row(sql) as ChangeMark | undefined;
}

/**
 * Serials of the jobs that were written after a state of the catalogue.
 * @returns undefined when the catalogue was never in that state, or only long ago @throws HistoryError
 */
export function writtenSince(history: HistoryDatabase, { serial, token }: ChangeMark): Uint32Array | undefined {
  const known = history.row('SELECT hex(token) AS token FROM change WHERE serial = ?', serial);
  if (known?.token !== token) return undefined;
  const rows = history.rows('SELECT serial FROM job WHERE change > ?', serial);
  return Uint32Array.from(rows, (row) => row.serial as number);
}

/** Until when the jobs of a feed were present, thanks to its repeats: by board, then by the feed's time. */
export type Repeats = ReadonlyMap<number, ReadonlyMap<number, number>>;

/** @throws HistoryError */
export function repeatsIn(history: HistoryDatabase): Repeats {
  const repeats = new Map<number, Map<number, number>>();
  const rows = history.rows('SELECT board, from_ms, to_ms FROM repeated');
  for (const row of rows) {
    const board = row.board as number;
    const ofBoard = repeats.get(board) ?? new Map<number, number>();
    repeats.set(board, ofBoard.set(row.from_ms as number, row.to_ms as number));
  }
  return repeats;
}

/** Versions of the skill dictionaries that the jobs' skills were extracted with, newest first. @throws HistoryError */
export function skillVersionsIn(history: HistoryDatabase): string[] {
  const rows = history.rows(`SELECT version FROM dictionary WHERE EXISTS (
      SELECT 1 FROM job WHERE has_own_skills = 0 AND job.dictionary = dictionary.serial
    ) ORDER BY serial DESC`);
  return rows.map(({ version }) => String(version));
}

/** Number of rows of all feeds together. @throws HistoryError */
export const feedRowsIn = (history: HistoryDatabase): number =>
  Number(history.row('SELECT total(rows) AS rows FROM feed')!.rows);

/** `read` throws HistoryError when a text is missing or damaged. */
export function storedTextsOf(history: HistoryDatabase): StoredTexts {
  return {
    read(digest) {
      const key = keyOfDigest(digest);
      const row = history.row('SELECT text FROM description WHERE digest = ?', key);
      const bytes = row && decompressedText(row.text as Uint8Array);
      if (bytes !== undefined) return bytes;
      const job = history.row('SELECT id FROM job WHERE description_digest = ?', key);
      throw unreadable(history, job?.id);
    },
  };
}
