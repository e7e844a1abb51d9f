/**
 * Merges the feeds of an import into the history by the rules of ingest/history/observation.ts. It refuses the whole feed of a
 * board when the feed has far fewer rows than usual.
 */
import { zeroCounts } from '../../base/zero-counts.ts';
import type { OperatorWord } from '../../ingest/companies/operator-words.ts';
import {
  isLatestSighting,
  isUnhealthy,
  missed,
  type Outcome,
  type Sighting,
  sighted,
  USUAL_FEEDS,
  usualRows,
} from '../../ingest/history/observation.ts';
import { fileStemOf } from '../../ingest/shapes/board.ts';
import { nativeShape } from '../../ingest/shapes/native.ts';
import type { HistoryDatabase } from './database.ts';
import type { HostStaging } from './host-staging.ts';
import type { Staging } from './staging.ts';
import { JOBS, type StoredJob, storedJobOf } from './stored-job.ts';
import type { HistoryWriter } from './writer.ts';

/** `seen`: known jobs in the feed, including changed and reopened ones. */
export const FEED_COUNTS = ['new', 'seen', 'changed', 'closed', 'reopened'] as const;
export type FeedCounts = Record<(typeof FEED_COUNTS)[number], number>;

export interface FeedOutcome extends Readonly<FeedCounts> {
  readonly shape: string;
  readonly board: string;
  /** Number of distinct jobs. */
  readonly rows: number;
  /**
   * True when the operator declared the feed complete, but the merge treated it as partial because a record names no
   * job: it was refused without an id, or has the id of another posting.
   */
  readonly hasNameless: boolean;
  /** Why the feed was refused; the numbers above are then 0. null = it was merged. */
  readonly refusal: Refusal | null;
}

export type Refusal = { readonly rowsByFile: ReadonlyMap<string, number> } & (
  | { readonly kind: 'unhealthy'; readonly usualRows: number }
  /** Its files carry different days in their names. */
  | { readonly kind: 'several days'; readonly files: readonly string[] }
);

/** A feed that the import reads. */
export interface OpenFeed {
  readonly serial: number;
  readonly shape: string;
  readonly board: string;
  /** Time of the feed, milliseconds since the epoch. */
  readonly atMs: number;
  /** Accepted rows, by file. */
  readonly rowsByFile: Map<string, number>;
  /** The days in the names of its files, each with the first file that has it. */
  readonly fileOfDay: Map<number, string>;
  /** Names of the documents, by which words of the operator may refer to them. */
  readonly fileNames: Set<string>;
  /** True when a document states that the board has no postings. */
  isSaidEmpty: boolean;
  /** True when a file of it broke off, so missing jobs may be in the unread rest. */
  isCutShort: boolean;
  /** True when a record of it names no job (`FeedOutcome.hasNameless`), so a missing job may be that record. */
  hasNameless: boolean;
}

/** A board that a feed is merged into. */
interface Target {
  readonly board: number;
  /** Name of the feed's shape. */
  readonly shape: string;
  /** Times of the board's complete feeds, this one included, ascending. */
  readonly completeMs: readonly number[];
  readonly counts: FeedCounts;
}

/** Every method throws HistoryError. */
export class FeedMerge {
  readonly #history: HistoryDatabase;
  readonly #staging: Staging;
  readonly #hosts: HostStaging;
  readonly #writer: HistoryWriter;
  /** Time of every feed of the import, milliseconds since the epoch. */
  readonly #atMs: number;
  /** Keys of the operator's words that may be a file's name. */
  readonly #wordKeys: ReadonlySet<string>;

  constructor(
    history: HistoryDatabase,
    { rows, hosts }: { readonly rows: Staging; readonly hosts: HostStaging },
    writer: HistoryWriter,
    { observedAtMs, words }: { readonly observedAtMs: number; readonly words: readonly OperatorWord[] },
  ) {
    this.#history = history;
    this.#staging = rows;
    this.#hosts = hosts;
    this.#writer = writer;
    this.#atMs = observedAtMs;
    this.#wordKeys = new Set(words.filter(({ kind }) => kind === 'board').map(({ key }) => key));
  }

  /**
   * @param isSaidComplete the operator states that the feed lists every job of its board
   * @param isForced merge it even when it has far fewer rows than usual
   * @returns undefined when the feed has no rows, because its documents broke off
   */
  merge(feed: OpenFeed, isSaidComplete: boolean, isForced: boolean): FeedOutcome | undefined {
    const atMs = this.#atMs;
    const { shape, board: token } = feed;
    const rows = this.#staging.rowCount(feed.serial);
    if (rows === 0 && !feed.isSaidEmpty) return undefined;

    const counts = zeroCounts(FEED_COUNTS);
    const board = this.#writer.boardSerial(shape, token) ?? this.#writer.addBoard(shape, token);
    const earlier = this.#history.row('SELECT rows, is_complete FROM feed WHERE board = ? AND at_ms = ?', board, atMs);
    if (isSaidComplete && !isForced && earlier === undefined) {
      const usual = usualRows(this.#rowsBefore(board));
      if (isUnhealthy(rows, usual)) {
        const refusal = { kind: 'unhealthy', usualRows: usual as number, rowsByFile: feed.rowsByFile } as const;
        return { shape, board: token, rows, ...counts, hasNameless: false, refusal };
      }
    }

    const isComplete = isSaidComplete && !feed.hasNameless;
    const wasComplete = earlier?.is_complete === 1;
    const isNewlyComplete = isComplete && !wasComplete;
    const target: Target = { board, shape, completeMs: this.#completeTimes(board, isNewlyComplete), counts };

    let added = 0;
    for (const sighting of this.#staging.sightings(feed.serial)) if (this.#mergeSighting(sighting, target)) added++;
    this.#keepRefused(feed, target);
    this.#keepCompanyFacts(feed, board, isComplete);
    const feedRows = earlier === undefined ? rows : (earlier.rows as number) + added;
    if (earlier === undefined || isNewlyComplete || feedRows !== earlier.rows) {
      this.#writer.storeFeed(board, atMs, feedRows, isComplete || wasComplete);
    }
    if (isNewlyComplete) this.#closeMissing(target);
    return { shape, board: token, rows, ...counts, hasNameless: isSaidComplete && feed.hasNameless, refusal: null };
  }

  /**
   * Merges the board's last feed once more, at the time of this merge, because the source reports its listing as
   * unchanged. Equivalent to merging the feed itself at that time, without reading it.
   * @returns undefined when the board has no earlier feed
   */
  repeat(shape: string, token: string): FeedOutcome | undefined {
    const atMs = this.#atMs;
    const board = this.#writer.boardSerial(shape, token);
    if (board === undefined) return undefined;
    const last = this.#history.row(
      'SELECT at_ms, rows, is_complete FROM feed WHERE board = ? AND at_ms < ? ORDER BY at_ms DESC LIMIT 1',
      board,
      atMs,
    );
    if (last === undefined) return undefined;
    const counts = zeroCounts(FEED_COUNTS);
    const isComplete = last.is_complete === 1;
    const target: Target = { board, shape, completeMs: this.#completeTimes(board, isComplete), counts };
    this.#repeatJobs(target, last.at_ms as number);
    this.#hosts.repeat(board, last.at_ms as number, atMs);
    this.#writer.storeFeed(board, atMs, last.rows as number, isComplete);
    if (isComplete) this.#closeMissing(target);
    return { shape, board: token, rows: last.rows as number, ...counts, hasNameless: false, refusal: null };
  }

  /** Marks the jobs present at `lastMs` as present now. If that changes only their last times, they are not written. */
  #repeatJobs({ board, completeMs, counts }: Target, lastMs: number): void {
    const atMs = this.#atMs;
    const isLatest = this.#history.row('SELECT 1 FROM feed WHERE board = ? AND at_ms > ?', board, atMs) === undefined;
    const repeat = this.#history.row('SELECT from_ms FROM repeated WHERE board = ? AND to_ms = ?', board, lastMs);
    const fromMs = repeat?.from_ms as number | undefined;
    const seenAt = (presentMs: number): void => {
      // Reads all rows first, because the loop writes to the same table.
      const rows = this.#history.rows(`${JOBS} WHERE board = ? AND present_ms = ?`, board, presentMs);
      for (const row of rows) this.#seenAgain(storedJobOf(this.#history, row), completeMs, counts);
      counts.seen += rows.length;
    };
    if (isLatest && fromMs !== undefined) {
      // The first repeat has shown that only the times of these jobs change.
      this.#writer.storeRepeat(board, fromMs, atMs);
      counts.seen += this.#jobCounts(board, fromMs).jobs;
      if (fromMs !== lastMs) seenAt(lastMs);
      return;
    }
    const { jobs, others } = this.#jobCounts(board, lastMs);
    if (!isLatest || others > 0) {
      seenAt(lastMs);
      if (fromMs !== undefined && fromMs !== lastMs) seenAt(fromMs);
      return;
    }
    this.#settleRepeats(board);
    this.#writer.storeRepeat(board, lastMs, atMs);
    counts.seen += jobs;
  }

  /**
   * Counts the jobs of a board present at `presentMs`, and `others` among them: those that a sighting now would change
   * in more than their last times (by observation.ts, for the board's latest feed).
   */
  #jobCounts(board: number, presentMs: number): { readonly jobs: number; readonly others: number } {
    const sql = `SELECT count(*) AS jobs, total(CASE
        WHEN first_observed_ms > ? THEN 1
        WHEN is_source_closed = 0 THEN closed_ms IS NOT NULL
        ELSE closed_ms IS NULL OR closed_ms > ? END) AS others
      FROM job WHERE board = ? AND present_ms = ?`;
    const row = this.#history.row(sql, this.#atMs, this.#atMs, board, presentMs)!;
    return { jobs: row.jobs as number, others: row.others as number };
  }

  /** Writes the times of earlier repeats into their jobs; by now these are only jobs that later feeds did not list. */
  #settleRepeats(board: number): void {
    const repeats = this.#history.rows('SELECT from_ms FROM repeated WHERE board = ?', board);
    for (const { from_ms: fromMs } of repeats) {
      const rows = this.#history.rows(`${JOBS} WHERE board = ? AND present_ms = ?`, board, fromMs as number);
      for (const row of rows) {
        const known = storedJobOf(this.#history, row);
        this.#writer.storeTimes(known, known);
      }
      this.#writer.removeRepeat(board, fromMs as number);
    }
  }

  /** A known job is listed again without a change. */
  #seenAgain(known: StoredJob, completeMs: readonly number[], counts: FeedCounts): void {
    const atMs = this.#atMs;
    const { job, descriptionDigest, hasOwnSkills, isSourceClosed } = known;
    const facts = { job, descriptionDigest, hasOwnSkills, isSourceClosed };
    const outcome = sighted(known, { ...facts, atMs, firstMs: atMs, lastMs: atMs, sourceClosedMs: atMs }, completeMs);
    const { next } = outcome;
    if (next.lastMs === known.lastMs && next.presentMs === known.presentMs && next.firstMs === known.firstMs) return;
    if (isOnlyLater(known, outcome)) this.#writer.storeTimes(known, next);
    else this.#writer.storeJob(outcome, known);
    count(outcome, counts);
  }

  /** Stores the hosts that the feed names, and which of its files the operator's words name. */
  #keepCompanyFacts(feed: OpenFeed, board: number, isComplete: boolean): void {
    if (this.#hosts.keep(feed.serial, board, this.#atMs, isComplete)) this.#writer.markWritten();
    for (const fileName of feed.fileNames) {
      for (const key of [fileName, fileStemOf(fileName)]) {
        if (this.#wordKeys.has(key)) this.#writer.nameFile(key, board);
      }
    }
  }

  /** Rows of the board's last complete feeds; before the first one, of its last partial ones. */
  #rowsBefore(board: number): number[] {
    const before = (condition: string): number[] => {
      const found = this.#history.rows(
        `SELECT rows FROM feed WHERE board = ? AND at_ms < ? ${condition} ORDER BY at_ms DESC LIMIT ?`,
        board,
        this.#atMs,
        USUAL_FEEDS,
      );
      return found.map(({ rows }) => rows as number);
    };
    const complete = before('AND is_complete = 1');
    return complete.length > 0 ? complete : before('');
  }

  /** Times of a board's complete feeds, ascending. @param isComplete the feed of this merge is another one */
  #completeTimes(board: number, isComplete: boolean): number[] {
    const rows = this.#history.rows('SELECT at_ms FROM feed WHERE board = ? AND is_complete = 1', board);
    const times = rows.map((row) => row.at_ms as number);
    return (isComplete ? [...times, this.#atMs] : times).sort((a, b) => a - b);
  }

  /** Merges one job of the feed. @returns true when the history did not know that the feed of this time has the job */
  #mergeSighting(found: Sighting, { board, completeMs, counts, shape }: Target): boolean {
    const row = this.#history.row(`${JOBS} WHERE id = ?`, found.job.id);
    const known = row && storedJobOf(this.#history, row);
    const outcome = sighted(known, found, completeMs);
    counts[outcome.isNew ? 'new' : 'seen']++;
    if (known === undefined) {
      this.#writer.storeJob(outcome, { board, dictionary: this.#writer.currentDictionary() });
      count(outcome, counts);
      return true;
    }
    const isLatest = isLatestSighting(known, found);
    // Without a new description, the job retains the skills of the known one.
    const isExtracted = found.descriptionDigest !== null || known.descriptionDigest === null;
    // A feed may rename its board; native records carry jobs of any board, so they do not rename it.
    const place = {
      serial: known.serial,
      board: isLatest && shape !== nativeShape.name ? board : known.board,
      dictionary: isLatest && isExtracted ? this.#writer.currentDictionary() : known.dictionary,
    };
    const isSamePlace = place.board === known.board && place.dictionary === known.dictionary;
    if (isSamePlace && isOnlyLater(known, outcome)) this.#writer.storeTimes(known, outcome.next);
    else if (
      isLatest ||
      outcome.next.presentMs !== known.presentMs ||
      outcome.next.firstMs !== known.firstMs ||
      outcome.next.closedMs !== known.closedMs
    ) {
      this.#writer.storeJob(outcome, place);
    }
    count(outcome, counts);
    return found.atMs > known.presentMs;
  }

  /** Keeps known jobs open if their records were refused, because the source still lists them. */
  #keepRefused(feed: OpenFeed, { completeMs, counts }: Target): void {
    for (const id of this.#staging.refusedIds(feed.serial)) {
      const row = this.#history.row(`${JOBS} WHERE id = ?`, id);
      if (row !== undefined) this.#seenAgain(storedJobOf(this.#history, row), completeMs, counts);
    }
  }

  /** Closes missing jobs, and moves closings that the new feed shows to be earlier. */
  #closeMissing({ board, completeMs, counts }: Target): void {
    const beforeLast = completeMs.at(-2);
    if (beforeLast === undefined) return;
    // Jobs of a repeat are present until its end, so none of them is missing.
    const repeat = this.#history.row('SELECT from_ms FROM repeated WHERE board = ? AND to_ms >= ?', board, beforeLast);
    // Reads all serials first, because the loop writes to the same table.
    const serials = this.#history.rows(
      `SELECT serial FROM job WHERE board = ? AND present_ms < ? AND present_ms IS NOT ? AND is_source_closed = 0
         AND (closed_ms IS NULL OR closed_ms > ?)`,
      board,
      beforeLast,
      (repeat?.from_ms as number | undefined) ?? null,
      this.#atMs,
    );
    for (const { serial } of serials) {
      const row = this.#history.row(`${JOBS} WHERE serial = ?`, serial as number)!;
      const known = storedJobOf(this.#history, row);
      const outcome = missed(known, completeMs);
      if (outcome.next.closedMs === known.closedMs) continue;
      this.#writer.storeJob(outcome, known);
      count(outcome, counts);
    }
  }
}

/** Whether only the last times change, as for most jobs of most feeds. */
function isOnlyLater(known: StoredJob, { log, next }: Outcome): boolean {
  return (
    log.length === 0 &&
    (next.lastMs !== known.lastMs || next.presentMs !== known.presentMs) &&
    next.firstMs === known.firstMs &&
    next.closedMs === known.closedMs &&
    next.isSourceClosed === known.isSourceClosed &&
    next.hasOwnSkills === known.hasOwnSkills &&
    next.descriptionDigest === known.descriptionDigest &&
    next.job.skills.length === known.job.skills.length &&
    next.job.skills.every((skill, i) => skill === known.job.skills[i])
  );
}

function count(outcome: Outcome, counts: FeedCounts): void {
  if (outcome.isChanged) counts.changed++;
  if (outcome.isClosed) counts.closed++;
  if (outcome.isReopened) counts.reopened++;
}
