/** Writes boards, dictionaries, feeds, jobs and their events to the history. */
import type { LogEntry, Outcome } from '../../ingest/history/observation.ts';
import type { HistoryDatabase } from './database.ts';
import type { DescriptionStore } from './descriptions.ts';
import { checksumOfJob, type StoredJob } from './stored-job.ts';

/** In the order in which `storeJob` gives the values. */
const JOB_COLUMNS = `id board title company company_domain location department remote_status employment_type source_url
  skills has_own_skills dictionary description_digest first_observed_ms last_observed_ms present_ms is_source_closed
  closed_ms checksum change`.split(/\s+/);
/** After more transactions than this a build reads every job; a watch of a thousand boards makes a thousand a round. */
const CHANGES_KEPT = 100_000;

const NO_CHANGE = { field: null, before: null, after: null };
const INSERT_JOB = `INSERT INTO job (${JOB_COLUMNS.join(', ')}) VALUES (${JOB_COLUMNS.map(() => '?').join(', ')})`;
const UPDATE_JOB = `UPDATE job SET ${JOB_COLUMNS.map((name) => `${name} = ?`).join(', ')} WHERE serial = ?`;

/** Events of the import, in the order in which they were found; `recordEvents` moves them. */
const LOGGED = `CREATE TEMP TABLE IF NOT EXISTS logged (
  serial INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, kind TEXT NOT NULL, job INTEGER NOT NULL, field TEXT, before TEXT,
  after TEXT
); DELETE FROM logged`;

/** The last entry about a job's being open, for a reader who sorts the log by time; those of this import come last. */
const LAST_STANDING = `SELECT at_ms, kind FROM (
    SELECT at_ms, kind, 0 AS is_new, serial FROM event WHERE job = ?
    UNION ALL SELECT at_ms, kind, 1, serial FROM logged WHERE job = ?
  ) WHERE kind <> 'changed' ORDER BY at_ms DESC, is_new DESC, serial DESC LIMIT 1`;

/** Every method throws HistoryError. */
export class HistoryWriter {
  readonly #history: HistoryDatabase;
  readonly #skillsVersion: string;
  readonly #descriptions: DescriptionStore;
  /** Serial of the current dictionary; 0 = not looked up yet. */
  #dictionary = 0;
  /** 0 = no number assigned yet. */
  #change = 0;
  #hasWritten = false;

  constructor(history: HistoryDatabase, skillsVersion: string, descriptions: DescriptionStore) {
    this.#history = history;
    this.#skillsVersion = skillsVersion;
    this.#descriptions = descriptions;
    history.exec(LOGGED);
  }

  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  /** Notes that something other than rows was written, so that the import is committed. */
  markWritten(): void {
    this.#hasWritten = true;
  }

  /** Records that the board came from a file whose name is the key of a word. */
  nameFile(key: string, board: number): void {
    const insert = 'INSERT INTO word_file VALUES (?, ?) ON CONFLICT DO NOTHING';
    if (this.#history.run(insert, key, board) > 0) this.#hasWritten = true;
  }

  boardSerial(shape: string, token: string): number | undefined {
    const row = this.#history.row('SELECT serial FROM board WHERE shape = ? AND token = ?', shape, token);
    return row?.serial as number | undefined;
  }

  /** The serial of a new board. */
  addBoard(shape: string, token: string): number {
    return this.#write('INSERT INTO board (shape, token) VALUES (?, ?)', shape, token);
  }

  /** The serial of the dictionary that this import extracts skills with. */
  currentDictionary(): number {
    if (this.#dictionary !== 0) return this.#dictionary;
    const row = this.#history.row('SELECT serial FROM dictionary WHERE version = ?', this.#skillsVersion);
    this.#dictionary =
      (row?.serial as number | undefined) ??
      this.#write('INSERT INTO dictionary (version) VALUES (?)', this.#skillsVersion);
    return this.#dictionary;
  }

  /**
   * The number of this transaction among those that changed jobs. Its token proves to a build that this is the
   * catalogue that it read before, perhaps in a later state.
   */
  currentChange(): number {
    if (this.#change !== 0) return this.#change;
    this.#change = this.#write('INSERT INTO change (token) VALUES (randomblob(16))');
    this.#history.run('DELETE FROM change WHERE serial <= ?', this.#change - CHANGES_KEPT);
    return this.#change;
  }

  storeFeed(board: number, atMs: number, rows: number, isComplete: boolean): void {
    this.#write(
      'INSERT OR REPLACE INTO feed (board, at_ms, rows, is_complete) VALUES (?, ?, ?, ?)',
      board,
      atMs,
      rows,
      Number(isComplete),
    );
  }

  /** Writes a job and its events. @param place without a serial, the job is new */
  storeJob(
    { next, log }: Outcome,
    place: Pick<StoredJob, 'board' | 'dictionary'> & { readonly serial?: number },
  ): void {
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
      this.currentChange(),
    ];
    let { serial } = place;
    if (serial === undefined) serial = this.#write(INSERT_JOB, ...values);
    else {
      this.#doubtReplaced(serial, next.descriptionDigest);
      this.#write(UPDATE_JOB, ...values, serial);
    }
    for (const entry of log) this.#log(serial, entry);
    if (next.closedMs === null && log.some(({ kind }) => kind === 'reopened')) this.#withdrawSuperseded(serial);
  }

  /** Writes the times of a job in which nothing else has changed, as for most jobs of most feeds. */
  storeTimes(known: StoredJob, { lastMs, presentMs }: Pick<StoredJob, 'lastMs' | 'presentMs'>): void {
    const checksum = checksumOfJob({ ...known, lastMs, presentMs });
    const update = 'UPDATE job SET last_observed_ms = ?, present_ms = ?, checksum = ?, change = ? WHERE serial = ?';
    this.#write(update, lastMs, presentMs, checksum, this.currentChange(), known.serial);
  }

  /**
   * Records that the jobs present at `fromMs` were present again at `toMs`, and nothing else changed.
   * @param board serial
   */
  storeRepeat(board: number, fromMs: number, toMs: number): void {
    this.currentChange();
    this.#write('INSERT OR REPLACE INTO repeated (board, from_ms, to_ms) VALUES (?, ?, ?)', board, fromMs, toMs);
  }

  /** Removes a repeat whose times have been written into the jobs themselves. */
  removeRepeat(board: number, fromMs: number): void {
    this.currentChange();
    this.#write('DELETE FROM repeated WHERE board = ? AND from_ms = ?', board, fromMs);
  }

  /** Records the events of the import: by time of observation, then by the job's id, then as they were found (siblings §4). */
  recordEvents(): void {
    this.#history.exec(`INSERT INTO event (at_ms, kind, job, field, before, after)
      SELECT at_ms, kind, job, field, before, after FROM logged JOIN job ON job.serial = logged.job
      ORDER BY at_ms, id, logged.serial`);
  }

  /** The description that an update replaces may be left without a job. */
  #doubtReplaced(job: number, next: string | null): void {
    const replaced = this.#history.row(
      'SELECT description_digest AS digest FROM job WHERE serial = ? AND description_digest IS NOT ?',
      job,
      next,
    );
    if (typeof replaced?.digest === 'string') this.#descriptions.doubt(replaced.digest);
  }

  /**
   * A closing that moved to an earlier time left its first entry in the log. Once the job is open, that entry is wrong too,
   * and without a reopening at its time a history by time would end with it.
   */
  #withdrawSuperseded(job: number): void {
    const last = this.#history.row(LAST_STANDING, job, job);
    if (last?.kind === 'closed') this.#log(job, { kind: 'reopened', atMs: last.at_ms as number });
  }

  #log(job: number, entry: LogEntry): void {
    const { field, before, after } = entry.kind === 'changed' ? entry : NO_CHANGE;
    const insert = 'INSERT INTO logged (at_ms, kind, job, field, before, after) VALUES (?, ?, ?, ?, ?, ?)';
    this.#write(insert, entry.atMs, entry.kind, job, field, before, after);
  }

  #write(sql: string, ...values: (string | number | null)[]): number {
    this.#hasWritten = true;
    return this.#history.insert(sql, ...values);
  }
}
