/**
 * One import into the history of a catalogue. Rows are put aside in a temporary table as they are read, one of each id and
 * board; when all files are through, each board's feed is judged whole and merged by the rules of ingest/observation.ts.
 * Nothing is kept in memory but the boards' names and counts.
 */
import { createHash } from 'node:crypto';
import type { Job } from '../../catalogue/job.ts';
import {
  isUnhealthy,
  type LogEntry,
  missed,
  type Outcome,
  type Sighting,
  sighted,
  USUAL_FEEDS,
  usualRows,
} from '../../ingest/history/observation.ts';
import { dateInName } from '../../ingest/input/date-time.ts';
import type { JobSink, JobSource, SourceDocument } from '../../ingest/job-sink.ts';
import { nativeShape } from '../../ingest/shapes/native.ts';
import type { Shape } from '../../ingest/shapes/shape.ts';
import { checksumOfJob, type HistoryDatabase, historyErrorOf, type Row, type StoredJob } from './database.ts';

const STAGING = `
  CREATE TEMP TABLE staged (
    ordinal INTEGER NOT NULL, feed INTEGER NOT NULL, id TEXT NOT NULL, member TEXT NOT NULL, fetched_ms INTEGER,
    sighting TEXT NOT NULL, UNIQUE (feed, id)
  );
  CREATE TEMP TABLE refused (feed INTEGER NOT NULL, id TEXT NOT NULL, UNIQUE (feed, id))
`;

const JOB_COLUMNS = [
  'id',
  'board',
  'title',
  'company',
  'company_domain',
  'location',
  'department',
  'remote_status',
  'employment_type',
  'source_url',
  'skills',
  'has_own_skills',
  'dictionary',
  'description_digest',
  'first_observed_ms',
  'last_observed_ms',
  'present_ms',
  'is_source_closed',
  'closed_ms',
  'checksum',
];
const INSERT_JOB = `INSERT INTO job (${JOB_COLUMNS.join(', ')}) VALUES (${JOB_COLUMNS.map(() => '?').join(', ')})`;
const UPDATE_JOB = `UPDATE job SET ${JOB_COLUMNS.map((name) => `${name} = ?`).join(', ')} WHERE serial = ?`;

export interface FeedOutcome {
  readonly shape: string;
  readonly board: string;
  /** Distinct jobs. */
  readonly rows: number;
  readonly new: number;
  /** Known ones that were found again, changed and reopened ones among them. */
  readonly seen: number;
  readonly changed: number;
  readonly closed: number;
  readonly reopened: number;
  /** It was said to be complete, and taken for partial since a refused record names no job. */
  readonly hasNameless: boolean;
  /** Why it was refused; the numbers above are then 0. null: it was merged. */
  readonly refusal: { readonly usualRows: number; readonly rowsByFile: ReadonlyMap<string, number> } | null;
}

interface OpenFeed {
  readonly serial: number;
  readonly shape: string;
  readonly board: string;
  /** Rows taken, by file. */
  readonly rowsByFile: Map<string, number>;
  /** A document said that the board has nothing. */
  isSaidEmpty: boolean;
  /** A document of it broke off, so that what is missing may stand in the rest. */
  isCutShort: boolean;
  /** A record of it was refused that names no job, so that what is missing may be what it stands for. */
  hasNameless: boolean;
}

type Counts = { -readonly [Name in 'new' | 'seen' | 'changed' | 'closed' | 'reopened']: number };

/** 96 bits name a text: two different ones of one job are never taken for the same. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

export interface ImportSettings {
  /** Time of every feed of this import, milliseconds since the epoch. */
  readonly observedAtMs: number;
  readonly skillsVersion: string;
  /** Told of an empty listing whose board the catalogue does not have; null: it does not say which. */
  readonly onUnknownEmpty?: (shape: Shape, board: string | null, document: SourceDocument) => void;
}

/**
 * Nothing of it is kept before `commit`: a history that is closed without it is as it was. Every method throws HistoryError
 * when the catalogue fails.
 */
export class HistoryImport implements JobSink {
  readonly #history: HistoryDatabase;
  readonly #settings: ImportSettings;
  readonly #feeds = new Map<string, OpenFeed>();
  /** Rows taken of the member that is being read, by feed. */
  readonly #ofMember = new Map<OpenFeed, number>();
  #memberFile = '';
  /** A refused record of the member that is being read names no board. */
  #hasBoardless = false;
  #hasSavepoint = false;
  #rowCount = 0;
  #dictionary = 0;
  /** The description that was looked at last: it is asked for twice. */
  #digested: { readonly text: string; readonly digest: string } | undefined;
  #hasWritten = false;

  constructor(history: HistoryDatabase, settings: ImportSettings) {
    this.#history = history;
    this.#settings = settings;
    this.#guarded(() => history.database.exec(STAGING));
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  begin(): void {
    this.#settleBoardless();
    this.#ofMember.clear();
    this.#guarded(() => this.#history.database.exec(`${this.#hasSavepoint ? 'RELEASE member; ' : ''}SAVEPOINT member`));
    this.#hasSavepoint = true;
  }

  undo(): void {
    for (const [feed, rows] of this.#ofMember) {
      feed.isCutShort = true;
      feed.rowsByFile.set(this.#memberFile, (feed.rowsByFile.get(this.#memberFile) ?? 0) - rows);
    }
    this.#ofMember.clear();
    this.#guarded(() => this.#history.database.exec('ROLLBACK TO member'));
  }

  /** A daily feed is mostly yesterday's, and extraction is the dearest part of reading it. */
  knownSkills(id: string, title: string, description: string): readonly string[] | undefined {
    const row = this.#guarded(() =>
      this.#history
        .statement(
          'SELECT title, description_digest, skills, has_own_skills, version FROM job, dictionary WHERE id = ? AND dictionary.serial = job.dictionary',
        )
        .get(id),
    ) as Row | undefined;
    if (row === undefined || row.title !== title || row.has_own_skills === 1) return undefined;
    if (row.version !== this.#settings.skillsVersion || row.description_digest !== this.#digestOf(description)) {
      return undefined;
    }
    return JSON.parse(row.skills as string) as string[];
  }

  add(job: Job, source: JobSource): number | undefined {
    const { shape, document, description } = source;
    const { observedAtMs } = this.#settings;
    const feed = this.#feedOf(shape.name, source.board);
    const member = document.member.name;
    const { firstObservedMs, lastObservedMs, status, ...facts } = job;
    // A native record is an observation of the operator's own; other sources' times are their publisher's.
    const isOwn = shape === nativeShape;
    const sighting: Sighting = {
      job: facts,
      descriptionDigest: description === null || description.trim() === '' ? null : this.#digestOf(description.trim()),
      hasOwnSkills: source.hasOwnSkills,
      isSourceClosed: status === 'closed',
      atMs: observedAtMs,
      firstMs: isOwn ? firstObservedMs : observedAtMs,
      lastMs: isOwn ? lastObservedMs : observedAtMs,
    };
    const fetchedMs = fetchedAtOf(document);
    const earlier = this.#guarded(() => {
      const text = JSON.stringify(sighting);
      const inserted = this.#history
        .statement('INSERT INTO staged VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING')
        .run(this.#rowCount, feed.serial, job.id, member, fetchedMs, text);
      if (Number(inserted.changes) > 0) return undefined;
      const there = this.#history
        .statement('SELECT ordinal, member, fetched_ms FROM staged WHERE feed = ? AND id = ?')
        .get(feed.serial, job.id) as Row;
      if (there.member === member) return there.ordinal as number;
      // Several documents of one board: the one that was fetched last holds, or, where that is not said, the one named last.
      const isOlder = fetchedMs !== null && there.fetched_ms !== null && fetchedMs < (there.fetched_ms as number);
      if (isOlder) return undefined;
      this.#history
        .statement('UPDATE staged SET ordinal = ?, member = ?, fetched_ms = ?, sighting = ? WHERE feed = ? AND id = ?')
        .run(this.#rowCount, member, fetchedMs, text, feed.serial, job.id);
      return undefined;
    });
    if (earlier !== undefined) return earlier;
    this.#rowCount++;
    this.#memberFile = document.member.archive ?? member;
    feed.rowsByFile.set(this.#memberFile, (feed.rowsByFile.get(this.#memberFile) ?? 0) + 1);
    this.#ofMember.set(feed, (this.#ofMember.get(feed) ?? 0) + 1);
    return undefined;
  }

  addEmpty(shape: Shape, board: string | null, document: SourceDocument): void {
    // A board that nothing is known of, and that has nothing, leaves nothing to remember.
    if (board === null || this.#guarded(() => this.#boardSerial(shape.name, board)) === undefined) {
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
    else {
      this.#guarded(() =>
        this.#history.statement('INSERT INTO refused VALUES (?, ?) ON CONFLICT DO NOTHING').run(feed.serial, id),
      );
    }
  }

  /** A record that names no board may be of any of its document. */
  #settleBoardless(): void {
    if (this.#hasBoardless) for (const feed of this.#ofMember.keys()) feed.hasNameless = true;
    this.#hasBoardless = false;
  }

  /** Merges what was read, feed after feed. `onFeed` is told the outcome of each. */
  merge(isComplete: boolean, isForced: boolean, onFeed: (outcome: FeedOutcome) => void): void {
    const { database } = this.#history;
    this.#settleBoardless();
    if (this.#hasSavepoint) this.#guarded(() => database.exec('RELEASE member'));
    this.#hasSavepoint = false;
    const feeds = [...this.#feeds.values()].sort((a, b) => order(a.shape, b.shape) || order(a.board, b.board));
    for (const feed of feeds) {
      const outcome = this.#guarded(() => this.#merged(feed, isComplete && !feed.isCutShort, isForced));
      if (outcome !== undefined) onFeed(outcome);
    }
  }

  /** What was merged is on disk when this returns. */
  commit(): void {
    // An import that changed nothing leaves the file as it is, to the byte.
    this.#guarded(() => this.#history.database.exec(this.#hasWritten ? 'COMMIT' : 'ROLLBACK'));
  }

  #guarded<Result>(act: () => Result): Result {
    try {
      return act();
    } catch (failure) {
      throw historyErrorOf(failure, this.#history.path);
    }
  }

  #digestOf(description: string): string {
    if (this.#digested?.text !== description) this.#digested = { text: description, digest: digestOf(description) };
    return this.#digested.digest;
  }

  #write(sql: string, ...values: (string | number | null)[]): number {
    this.#hasWritten = true;
    return Number(this.#history.statement(sql).run(...values).lastInsertRowid);
  }

  #feedOf(shape: string, board: string): OpenFeed {
    const key = `${shape}\n${board}`;
    const known = this.#feeds.get(key);
    if (known) return known;
    const feed = {
      serial: this.#feeds.size,
      shape,
      board,
      rowsByFile: new Map(),
      isSaidEmpty: false,
      isCutShort: false,
      hasNameless: false,
    };
    this.#feeds.set(key, feed);
    return feed;
  }

  #boardSerial(shape: string, token: string): number | undefined {
    const row = this.#history.statement('SELECT serial FROM board WHERE shape = ? AND token = ?').get(shape, token);
    return (row as Row | undefined)?.serial as number | undefined;
  }

  /** undefined: nothing came in of it, since its documents broke off. */
  #merged(feed: OpenFeed, isSaidComplete: boolean, isForced: boolean): FeedOutcome | undefined {
    const history = this.#history;
    const atMs = this.#settings.observedAtMs;
    const { shape, board: token } = feed;
    const counted = history.statement('SELECT count(*) AS rows FROM staged WHERE feed = ?').get(feed.serial) as Row;
    const rows = counted.rows as number;
    if (rows === 0 && !feed.isSaidEmpty) return undefined;

    const counts: Counts = { new: 0, seen: 0, changed: 0, closed: 0, reopened: 0 };
    const board =
      this.#boardSerial(shape, token) ?? this.#write('INSERT INTO board (shape, token) VALUES (?, ?)', shape, token);
    const there = history
      .statement('SELECT rows, is_complete FROM feed WHERE board = ? AND at_ms = ?')
      .get(board, atMs) as Row | undefined;
    if (isSaidComplete && !isForced && there === undefined) {
      const usual = usualRows(this.#rowsBefore(board, atMs));
      if (isUnhealthy(rows, usual)) {
        const refusal = { usualRows: usual as number, rowsByFile: feed.rowsByFile };
        return { shape, board: token, rows, ...counts, hasNameless: false, refusal };
      }
    }

    const isComplete = isSaidComplete && !feed.hasNameless;
    const completeMs = this.#completeTimes(board);
    const wasComplete = there?.is_complete === 1;
    const isNewlyComplete = isComplete && !wasComplete;
    if (isNewlyComplete) completeMs.push(atMs);
    completeMs.sort((a, b) => a - b);

    let added = 0;
    for (const { sighting } of history.statement('SELECT sighting FROM staged WHERE feed = ?').iterate(feed.serial)) {
      if (this.#sighted(JSON.parse(String(sighting)) as Sighting, board, shape, completeMs, counts)) added++;
    }
    this.#listed(feed, completeMs, counts);
    const feedRows = there === undefined ? rows : (there.rows as number) + added;
    if (there === undefined || isNewlyComplete || feedRows !== there.rows) {
      this.#write(
        'INSERT OR REPLACE INTO feed (board, at_ms, rows, is_complete) VALUES (?, ?, ?, ?)',
        board,
        atMs,
        feedRows,
        Number(isComplete || wasComplete),
      );
    }
    if (isNewlyComplete) this.#missed(board, atMs, completeMs, counts);
    return { shape, board: token, rows, ...counts, hasNameless: isSaidComplete && feed.hasNameless, refusal: null };
  }

  /** Of the board's last complete feeds; before the first one, of its last partial ones. */
  #rowsBefore(board: number, atMs: number): number[] {
    const before = (condition: string): number[] => {
      const found = this.#history
        .statement(`SELECT rows FROM feed WHERE board = ? AND at_ms < ? ${condition} ORDER BY at_ms DESC LIMIT ?`)
        .all(board, atMs, USUAL_FEEDS) as Row[];
      return found.map(({ rows }) => rows as number);
    };
    const complete = before('AND is_complete = 1');
    return complete.length > 0 ? complete : before('');
  }

  #completeTimes(board: number): number[] {
    const rows = this.#history
      .statement('SELECT at_ms FROM feed WHERE board = ? AND is_complete = 1')
      .all(board) as Row[];
    return rows.map((row) => row.at_ms as number);
  }

  /** true: the feed of this time was not known to have it. */
  #sighted(found: Sighting, board: number, shape: string, completeMs: readonly number[], counts: Counts): boolean {
    const row = this.#history.statement('SELECT * FROM job WHERE id = ?').get(found.job.id) as Row | undefined;
    const known = row && this.#history.storedJobOf(row);
    const outcome = sighted(known, found, completeMs);
    counts[outcome.isNew ? 'new' : 'seen']++;
    if (known === undefined) {
      this.#store(outcome, { board, dictionary: this.#currentDictionary() });
      count(outcome, counts);
      return true;
    }
    const isLatest = found.lastMs > known.lastMs;
    // Otherwise the skills of a description that is not given this time are kept.
    const isExtracted = found.descriptionDigest !== null || known.descriptionDigest === null;
    // Its list may be called otherwise now; native records are a way to carry jobs of any list.
    const place = {
      serial: known.serial,
      board: isLatest && shape !== nativeShape.name ? board : known.board,
      dictionary: isLatest && isExtracted ? this.#currentDictionary() : known.dictionary,
    };
    if (isLatest || outcome.next.presentMs !== known.presentMs || outcome.next.firstMs !== known.firstMs) {
      this.#store(outcome, place);
    }
    count(outcome, counts);
    return found.atMs > known.presentMs;
  }

  /** Known jobs whose records were refused are there all the same; what is known of them holds. */
  #listed(feed: OpenFeed, completeMs: readonly number[], counts: Counts): void {
    const atMs = this.#settings.observedAtMs;
    const ids = this.#history
      .statement('SELECT id FROM refused WHERE feed = ? AND id NOT IN (SELECT id FROM staged WHERE feed = ?)')
      .all(feed.serial, feed.serial) as Row[];
    for (const { id } of ids) {
      const row = this.#history.statement('SELECT * FROM job WHERE id = ?').get(id as string) as Row | undefined;
      if (row === undefined) continue;
      const known = this.#history.storedJobOf(row);
      const { job, descriptionDigest, hasOwnSkills, isSourceClosed } = known;
      const facts = { job, descriptionDigest, hasOwnSkills, isSourceClosed };
      const outcome = sighted(known, { ...facts, atMs, firstMs: atMs, lastMs: atMs }, completeMs);
      const { next } = outcome;
      if (next.lastMs === known.lastMs && next.presentMs === known.presentMs && next.firstMs === known.firstMs)
        continue;
      this.#store(outcome, known);
      count(outcome, counts);
    }
  }

  /** Closes what is missing, and moves closings that the new feed makes earlier. */
  #missed(board: number, atMs: number, completeMs: readonly number[], counts: Counts): void {
    const beforeLast = completeMs.at(-2);
    if (beforeLast === undefined) return;
    // Numbers first, all at once: the loop writes to what this reads.
    const serials = this.#history
      .statement(
        `SELECT serial FROM job WHERE board = ? AND present_ms < ? AND is_source_closed = 0
         AND (closed_ms IS NULL OR closed_ms > ?)`,
      )
      .all(board, beforeLast, atMs) as Row[];
    for (const { serial } of serials) {
      const row = this.#history.statement('SELECT * FROM job WHERE serial = ?').get(serial as number) as Row;
      const known = this.#history.storedJobOf(row);
      const outcome = missed(known, completeMs);
      if (outcome.next.closedMs === known.closedMs) continue;
      this.#store(outcome, known);
      count(outcome, counts);
    }
  }

  #currentDictionary(): number {
    if (this.#dictionary !== 0) return this.#dictionary;
    const { skillsVersion } = this.#settings;
    const row = this.#history.statement('SELECT serial FROM dictionary WHERE version = ?').get(skillsVersion) as
      | Row
      | undefined;
    this.#dictionary =
      (row?.serial as number | undefined) ?? this.#write('INSERT INTO dictionary (version) VALUES (?)', skillsVersion);
    return this.#dictionary;
  }

  #store({ next, log }: Outcome, place: Pick<StoredJob, 'board' | 'dictionary'> & { readonly serial?: number }): void {
    const { board, dictionary } = place;
    const { job } = next;
    const values = [
      job.id,
      board,
      job.title,
      job.company,
      job.companyDomain,
      job.location,
      job.department,
      job.remoteStatus,
      job.employmentType,
      job.sourceUrl,
      JSON.stringify(job.skills),
      Number(next.hasOwnSkills),
      dictionary,
      next.descriptionDigest,
      next.firstMs,
      next.lastMs,
      next.presentMs,
      Number(next.isSourceClosed),
      next.closedMs,
      checksumOfJob({ ...next, board, dictionary }),
    ];
    let { serial } = place;
    if (serial === undefined) serial = this.#write(INSERT_JOB, ...values);
    else this.#write(UPDATE_JOB, ...values, serial);
    for (const entry of log) this.#log(serial, entry);
  }

  #log(job: number, entry: LogEntry): void {
    const insert = 'INSERT INTO event (at_ms, kind, job, field, before, after) VALUES (?, ?, ?, ?, ?, ?)';
    switch (entry.kind) {
      case 'changed':
        this.#write(insert, entry.atMs, entry.kind, job, entry.field, entry.before, entry.after);
        return;
      case 'opened':
      case 'closed':
      case 'reopened':
        this.#write(insert, entry.atMs, entry.kind, job, null, null, null);
        return;
      case 'opening moved': {
        const moved = this.#history
          .statement("UPDATE event SET at_ms = ? WHERE job = ? AND kind = 'opened'")
          .run(entry.atMs, job);
        if (Number(moved.changes) === 0) this.#write(insert, entry.atMs, 'opened', job, null, null, null);
        return;
      }
      case 'closing moved':
        if (entry.atMs === null) {
          this.#write("DELETE FROM event WHERE job = ? AND kind = 'closed' AND at_ms = ?", job, entry.fromMs);
        } else {
          this.#write(
            "UPDATE event SET at_ms = ? WHERE job = ? AND kind = 'closed' AND at_ms = ?",
            entry.atMs,
            job,
            entry.fromMs,
          );
        }
        return;
      default:
        entry satisfies never;
    }
  }
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function count(outcome: Outcome, counts: Counts): void {
  if (outcome.isChanged) counts.changed++;
  if (outcome.isClosed) counts.closed++;
  if (outcome.isReopened) counts.reopened++;
}

/** When a document was fetched, as it says inside, or as its name or that of its archive does; null where none does. */
function fetchedAtOf({ member, fetchedAtMs }: SourceDocument): number | null {
  return fetchedAtMs ?? dateInName(member.fileName ?? '') ?? dateInName(member.archive ?? '');
}
