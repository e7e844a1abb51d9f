/**
 * One import into the history of a catalogue. It stages the rows as it reads them (staging.ts), and after the last file
 * merges feed by feed (merge.ts). Memory holds only the names and counts of the boards.
 */
import { sha256Base64Url } from '../../base/digest.ts';
import { DAY_MS } from '../../base/durations.ts';
import { zeroCounts } from '../../base/zero-counts.ts';
import type { Job } from '../../catalogue/job.ts';
import { employerKeyOf } from '../../ingest/companies/employer.ts';
import { namedHosts } from '../../ingest/companies/named-hosts.ts';
import type { OperatorWord } from '../../ingest/companies/operator-words.ts';
import type { Sighting } from '../../ingest/history/observation.ts';
import { timeInNameOf } from '../../ingest/input/input.ts';
import type { JobSink, JobSource, SourceDocument } from '../../ingest/job-sink.ts';
import { nativeShape } from '../../ingest/shapes/native.ts';
import type { Shape } from '../../ingest/shapes/shape.ts';
import { storedWords, storeWords } from './company-tables.ts';
import type { HistoryDatabase } from './database.ts';
import { DescriptionStore } from './descriptions.ts';
import { HostStaging } from './host-staging.ts';
import { FEED_COUNTS, FeedMerge, type FeedOutcome, type OpenFeed } from './merge.ts';
import { Staging } from './staging.ts';
import { BoardSpellings, storedBoard } from './stored-board.ts';
import { HistoryWriter } from './writer.ts';

/** 96 bits of a text's digest: enough to distinguish the texts of one job. */
function digestOf(text: string): string {
  return sha256Base64Url(text).slice(0, 16);
}

export interface ImportSettings {
  /** Whether files of different days are different feeds of their board; otherwise a feed of several days is refused. */
  readonly mayHaveDays: boolean;
  readonly skillsVersion: string;
  /** Called for an empty listing whose board the catalogue does not have; `board` is null when the listing names none. */
  readonly onUnknownEmpty?: (shape: Shape, board: string | null, document: SourceDocument) => void;
}

/**
 * Nothing is permanent before `commit`: closing the history without it leaves the file unchanged. Every method throws
 * HistoryError when the history fails.
 */
export class HistoryImport implements JobSink {
  readonly #history: HistoryDatabase;
  readonly #settings: ImportSettings;
  readonly #staging: Staging;
  readonly #hosts: HostStaging;
  readonly #descriptions: DescriptionStore;
  readonly #spellings: BoardSpellings;
  readonly #writer: HistoryWriter;
  readonly #feeds = new Map<string, OpenFeed>();
  /** Accepted rows of the current member, by feed. */
  readonly #ofMember = new Map<OpenFeed, number>();
  /** Feeds to the day that only the current member has. */
  readonly #daysOfMember = new Map<OpenFeed, number>();
  #memberFile = '';
  /** When the current member was fetched. */
  #atMs = 0;
  /** True when a refused record of the current member names no board. */
  #hasBoardless = false;
  #rowCount = 0;
  /** A word whose key is the name of a feed's file applies to that feed's board. */
  #words: readonly OperatorWord[] = [];
  /** The last description with its digest, because each is needed twice. */
  #digested: { readonly text: string; readonly digest: string } | undefined;

  /** When the board's last feed was, milliseconds since the epoch; null: it had none. @throws HistoryError */
  static lastFeedMs(history: HistoryDatabase, shape: string, board: string): number | null {
    const serial = storedBoard(history, shape, board)?.serial ?? null;
    return history.row('SELECT max(at_ms) AS at_ms FROM feed WHERE board = ?', serial)!.at_ms as number | null;
  }

  constructor(history: HistoryDatabase, settings: ImportSettings) {
    this.#history = history;
    this.#settings = settings;
    this.#spellings = new BoardSpellings(history);
    this.#descriptions = new DescriptionStore(history);
    this.#writer = new HistoryWriter(history, settings.skillsVersion, this.#descriptions);
    this.#staging = new Staging(history);
    this.#hosts = new HostStaging(history);
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  tokenOf(shape: string, board: string): string {
    return this.#spellings.of(shape, board);
  }

  /** Adds words of the operator to those that the catalogue remembers. @returns all of them */
  rememberWords(words: readonly OperatorWord[]): readonly OperatorWord[] {
    if (storeWords(this.#history, words)) this.#writer.markWritten();
    this.#words = storedWords(this.#history);
    return this.#words;
  }

  begin(observedAtMs: number): void {
    this.#settleBoardless();
    this.#atMs = observedAtMs;
    this.#ofMember.clear();
    this.#daysOfMember.clear();
    this.#staging.beginMember();
  }

  undo(): void {
    for (const [feed, rows] of this.#ofMember) {
      feed.isCutShort = true;
      feed.rowsByFile.set(this.#memberFile, (feed.rowsByFile.get(this.#memberFile) ?? 0) - rows);
    }
    for (const [feed, day] of this.#daysOfMember) feed.fileOfDay.delete(day);
    this.#ofMember.clear();
    this.#daysOfMember.clear();
    this.#staging.undoMember();
  }

  breakOff(file: string): void {
    for (const feed of this.#feeds.values()) if (feed.rowsByFile.has(file)) feed.isCutShort = true;
  }

  /**
   * Returns the stored skills of an unchanged job: most records of a daily feed are unchanged, and extraction is expensive.
   */
  knownSkills(id: string, title: string, description: string): readonly string[] | undefined {
    const row = this.#history.row(
      'SELECT title, description_digest, skills, has_own_skills, version FROM job, dictionary WHERE id = ? AND dictionary.serial = job.dictionary',
      id,
    );
    if (row === undefined || row.title !== title || row.has_own_skills === 1) return undefined;
    if (row.version !== this.#settings.skillsVersion || row.description_digest !== this.#digestOf(description)) {
      return undefined;
    }
    return JSON.parse(row.skills as string) as string[];
  }

  add(job: Job, source: JobSource): number | undefined {
    const { shape, document, descriptionText } = source;
    const observedAtMs = this.#atMs;
    const feed = this.#feedOf(shape.name, source.board);
    const member = document.member.name;
    const { firstObservedMs, lastObservedMs, status, closedAtMs, description, descriptionTruncated, ...rest } = job;
    const { companyDomainEvidence, companyAliases, ...facts } = rest;
    const digest = descriptionText === null ? null : this.#digestOf(descriptionText);
    // The times of a native record are the operator's own observations; those of other sources are their publisher's.
    const isOwn = shape === nativeShape;
    const sighting: Sighting = {
      job: facts,
      descriptionDigest: digest,
      hasOwnSkills: source.hasOwnSkills,
      isSourceClosed: status === 'closed',
      atMs: observedAtMs,
      firstMs: isOwn ? firstObservedMs : observedAtMs,
      lastMs: isOwn ? lastObservedMs : observedAtMs,
      sourceClosedMs: isOwn ? (closedAtMs ?? lastObservedMs) : observedAtMs,
    };
    if (digest !== null) this.#descriptions.store(digest, { description, descriptionTruncated });
    const row = {
      ordinal: this.#rowCount,
      feed: feed.serial,
      member,
      fetchedMs: fetchedAtOf(document),
      sighting,
    };
    const earlier = this.#staging.add(row);
    if (earlier !== undefined) {
      if (!earlier.isSamePosting) feed.hasNameless = true;
      return earlier.ordinal;
    }
    this.#addHosts(feed, job, source);
    this.#rowCount++;
    // Native records state their own times, whatever day their file carries.
    const day = isOwn ? null : dayInNameOf(document);
    if (day !== null && !feed.fileOfDay.has(day)) {
      feed.fileOfDay.set(day, member);
      this.#daysOfMember.set(feed, day);
    }
    this.#memberFile = document.member.archive ?? member;
    feed.rowsByFile.set(this.#memberFile, (feed.rowsByFile.get(this.#memberFile) ?? 0) + 1);
    this.#ofMember.set(feed, (this.#ofMember.get(feed) ?? 0) + 1);
    return undefined;
  }

  #addHosts(feed: OpenFeed, job: Job, source: JobSource): void {
    const { sites, links } = namedHosts(job, source);
    const company = employerKeyOf(feed.shape, job.company);
    for (const host of sites) this.#hosts.add(feed.serial, company, 'site', host);
    for (const host of links) this.#hosts.add(feed.serial, company, 'link', host);
    const { fileName } = source.document.member;
    if (fileName !== null) feed.fileNames.add(fileName);
  }

  addEmpty(shape: Shape, token: string | null, document: SourceDocument): void {
    const board = token === null ? null : this.tokenOf(shape.name, token);
    // An empty listing of an unknown board has nothing to record.
    if (board === null || this.#writer.boardSerial(shape.name, board) === undefined) {
      this.#settings.onUnknownEmpty?.(shape, board, document);
      return;
    }
    this.#feedOf(shape.name, board).isSaidEmpty = true;
  }

  addRefused(shape: Shape, board: string | undefined, id: string | undefined): void {
    if (board === undefined) {
      this.#hasBoardless = true;
      return;
    }
    const feed = this.#feedOf(shape.name, board);
    if (id === undefined) feed.hasNameless = true;
    else this.#staging.addRefused(feed.serial, id);
  }

  /** Merges the staged rows, feed after feed. @param onFeed receives the outcome of each feed */
  merge(isComplete: boolean, isForced: boolean, onFeed: (outcome: FeedOutcome) => void): void {
    this.#settleBoardless();
    this.#staging.endMembers();
    const feeds = [...this.#feeds.values()].sort(
      (a, b) => a.atMs - b.atMs || order(a.shape, b.shape) || order(a.board, b.board),
    );
    for (const feed of feeds) {
      const { shape, board, rowsByFile } = feed;
      if (feed.fileOfDay.size > 1 && !this.#settings.mayHaveDays) {
        const rows = [...rowsByFile.values()].reduce((sum, count) => sum + count, 0);
        const refusal = { kind: 'several days', files: [...feed.fileOfDay.values()], rowsByFile } as const;
        onFeed({ shape, board, rows, ...zeroCounts(FEED_COUNTS), hasNameless: false, refusal });
        continue;
      }
      const outcome = this.#mergeAt(feed.atMs).merge(feed, isComplete && !feed.isCutShort, isForced);
      if (outcome !== undefined) onFeed(outcome);
    }
  }

  /**
   * Records that at `atMs` the board lists exactly what its last feed had. @returns undefined without an earlier feed
   */
  repeatLast(shape: string, board: string, atMs: number): FeedOutcome | undefined {
    return this.#mergeAt(atMs).repeat(shape, this.tokenOf(shape, board));
  }

  /** Notes that something else was written into the history, so that `commit` does not discard it. */
  markWritten(): void {
    this.#writer.markWritten();
  }

  /** Commits the import; it is on disk when this returns. */
  commit(): void {
    // An import without changes leaves every byte of the file unchanged.
    if (!this.#writer.hasWritten) {
      this.#history.exec('ROLLBACK');
      return;
    }
    this.#writer.recordEvents();
    this.#descriptions.removeUnused();
    this.#history.commit();
  }

  /** Counts a refused record without a board against every board of its document, because it may belong to any. */
  #settleBoardless(): void {
    if (this.#hasBoardless) for (const feed of this.#ofMember.keys()) feed.hasNameless = true;
    this.#hasBoardless = false;
  }

  #mergeAt(observedAtMs: number): FeedMerge {
    const staged = { rows: this.#staging, hosts: this.#hosts };
    return new FeedMerge(this.#history, staged, this.#writer, { observedAtMs, words: this.#words });
  }

  #digestOf(description: string): string {
    if (this.#digested?.text !== description) this.#digested = { text: description, digest: digestOf(description) };
    return this.#digested.digest;
  }

  #feedOf(shape: string, board: string): OpenFeed {
    const key = `${shape}\n${board}\n${this.#atMs}`;
    const known = this.#feeds.get(key);
    if (known) return known;
    const feed = {
      serial: this.#feeds.size,
      shape,
      board,
      atMs: this.#atMs,
      rowsByFile: new Map(),
      fileOfDay: new Map(),
      fileNames: new Set<string>(),
      isSaidEmpty: false,
      isCutShort: false,
      hasNameless: false,
    };
    this.#feeds.set(key, feed);
    return feed;
  }
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The day in the name of a document or of its archive, as a time in UTC; null for none. */
function dayInNameOf({ member }: SourceDocument): number | null {
  const timeMs = timeInNameOf(member);
  return timeMs === null ? null : Math.floor(timeMs / DAY_MS) * DAY_MS;
}

/** When a document was fetched: by its own statement, else by its name or its archive's name; null if none has it. */
function fetchedAtOf({ member, fetchedAtMs }: SourceDocument): number | null {
  return fetchedAtMs ?? timeInNameOf(member);
}
