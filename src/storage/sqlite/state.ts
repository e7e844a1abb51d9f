/**
 * Durable state in a folder (decisions §2 STATE_DIR, §4, §5; reliability E): `state.db` with its log, the marker `state.json`,
 * and `lock`, which excludes a second process.
 *
 * Its promise: with sync `full`, every acknowledged record survives a killed process, a crashed system and lost power, if the
 * disk really stores what it reports as synced. With `normal`, a record survives a killed process; a crashed system or lost
 * power may lose the commits of the last seconds, and then an authorization of these seconds may buy once more.
 *
 * The start locks the folder, checks the log, lets SQLite recover, checks pages and checksums, reads all records into
 * memory, makes a checkpoint and passes the file to the writer thread. It never changes a damaged file: the server then
 * accepts no payments, and its message names the file.
 */
import { existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { DIGEST_KEY_BYTES, keyedDigest } from '../../base/digest.ts';
import { firstLineOf } from '../../base/failure.ts';
import { isoTime } from '../../base/iso-time.ts';
import { LATE_START_MS } from '../../base/late-start.ts';
import { systemRandom } from '../../base/random.ts';
import type { LoadedCallback } from '../../callback/inbox/event-store.ts';
import { CLOCK_AHEAD_MS_MAX, TOMBSTONE_MS } from '../../callback/limits.ts';
import { WINDOW_SECONDS_MAX } from '../../payment/protocol/network.ts';
import { START_RETENTION_SECONDS } from '../../payment/reservations.ts';
import type { Commits } from '../backend.ts';
import { unusableStateDir } from '../folder-fault.ts';
import { makeFolder } from '../make-folder.ts';
import { type LoadedAccounts, NO_ACCOUNTS } from '../memory/accounts-journal.ts';
import { type LoadedLedger, NOTHING_SPENT } from '../memory/play-ledger.ts';
import { type LoadedReservations, NOTHING_LOADED } from '../memory/reservation-journal.ts';
import type { LoadedResolve } from '../memory/resolves-journal.ts';
import type { Persistence } from '../memory/stores.ts';
import { makeOwnFile } from '../own-file.ts';
import { SaleCounts } from '../sale-counts.ts';
import { StateError, StateHeldError } from '../state-error.ts';
import { SqliteBooks } from './books.ts';
import { DamagedError } from './checksum.ts';
import { isUnreadable, OtherReleaseError, StateDatabase } from './database.ts';
import { SqliteEventStore } from './event-store.ts';
import { heldFile } from './held-files.ts';
import { Journal, type JournalPorts } from './journal.ts';
import { LOCK_FILE, lockState, type StateLock } from './lock.ts';
import { isDamagedLogFile } from './log-check.ts';
import { LostStateError, MARKER_FILE, MOVED_REMEDY, movedAway, readMarker, writeMarker } from './marker.ts';
import { ReaderThread, type StateReader } from './reader-thread.ts';
import { StateRefusedError } from './refused.ts';
import { SqliteReservationJournal } from './reservation-journal.ts';
import { SqliteRetryStore } from './retry-store.ts';
import { ACCOUNTS, type AccountOperation, loadAccounts } from './tables/accounts.ts';
import { loadAnswers } from './tables/answers.ts';
import { loadCallbacks } from './tables/callbacks.ts';
import { loadCases, loadEnds, loadSpent } from './tables/payments.ts';
import { loadResolves, type OutcomeQuery, RESOLVES, type ResolveOperation } from './tables/resolves.ts';
import { freeHeldRetries } from './tables/retries.ts';
import { type BooksStart, loadBooks } from './tables/sales.ts';
import type { DatabaseOptions } from './writer-messages.ts';

export const STATE_FILE = 'state.db';

export interface StateOptions {
  /** Folder of the state; created when missing. */
  readonly stateDir: string;
  readonly sync: 'full' | 'normal';
  /** Settlements move play money. */
  readonly isPlay: boolean;
  /**
   * The operator gives up a missing or damaged state: the start renames its files, and until their windows are over the
   * server refuses authorizations that may have been used before.
   */
  readonly mayReset: boolean;
  /** How long a sale stays in the books, milliseconds. */
  readonly salesKeptMs: number;
  /** For tests and benches: see DatabaseOptions. */
  readonly commitDelayMs?: number | undefined;
}

/** An open state folder. */
export interface SqliteState {
  /** What makes the stores durable, with all records that the start loaded. */
  readonly persistence: Persistence;
  /** Why nothing can be written now; undefined = it can. */
  fault(): string | undefined;
  commits(): Commits;
  /** Opens the parts that only requests need. */
  start(): void;
  /** Notices for the operator at start, one line each. */
  readonly notices: readonly string[];
  /** undefined when the state is damaged and the server does not write to it. */
  readonly journal: Journal | undefined;
  /** Writes the queue, closes the file and releases the lock. Never rejects. */
  close(): Promise<void>;
}

/** The records that a start loads. */
export interface LoadedState {
  readonly reservations: LoadedReservations;
  readonly ledger: LoadedLedger;
  readonly callbacks: readonly LoadedCallback[];
  readonly accounts: LoadedAccounts;
  readonly resolves: readonly LoadedResolve[];
  readonly books: BooksStart;
  readonly notices: readonly string[];
}

/** Name in `meta`: see `LoadedReservations.usedBeforeSeconds`. */
export const USED_BEFORE = 'used_before_seconds';
const GENERATION = 'generation';

/** @throws StateError */
export async function openSqliteState(options: StateOptions, ports: JournalPorts): Promise<SqliteState> {
  const { stateDir } = options;
  let lock: StateLock | undefined;
  try {
    makeFolder(stateDir, 0o700);
    lock = lockState(stateDir);
  } catch (failure) {
    throw unusableStateDir(stateDir, failure);
  }
  if (lock === undefined)
    throw new StateHeldError(
      `STATE_DIR ${stateDir} is in use by another process: stop that one, give this one another folder, or let both share a database (DATABASE_URL)`,
    );
  try {
    return await openLocked(options, ports, () => lock.release());
  } catch (failure) {
    lock.release();
    throw failure instanceof StateError ? failure : unusableStateDir(stateDir, failure);
  }
}

async function openLocked(options: StateOptions, ports: JournalPorts, release: () => void): Promise<SqliteState> {
  const path = join(options.stateDir, STATE_FILE);
  let loaded: LoadedState;
  try {
    loaded = loadStateFile(path, options, ports.clock);
  } catch (failure) {
    const isLost = failure instanceof LostStateError;
    if (!isLost && !isUnreadable(failure)) throw failure;
    if (options.mayReset) {
      const aside = putAside(path, ports.clock.nowMs());
      const empty = loadStateFile(path, options, ports.clock, usedBefore(ports.clock));
      loaded = {
        ...empty,
        notices: [`started with an empty state (${firstLineOf(failure)})${aside}`, ...empty.notices],
      };
    } else if (isLost) {
      throw new StateError(`${failure.message}: ${failure.remedy}`);
    } else {
      return damagedState(path, faultOf(path, failure), ports, release);
    }
  }
  const held = [heldFile(path), heldFile(join(options.stateDir, LOCK_FILE))];
  const database: DatabaseOptions = { path, sync: options.sync, held, commitDelayMs: options.commitDelayMs };
  const journal = new Journal(database, ports);
  // A writer given by the caller need not use a file that the reader thread can open.
  const reader = ports.openWriter === undefined ? new ReaderThread(path) : readerOver(journal);
  return stateOver({ journal, reader, loaded, release }, options, ports);
}

/** Reads through the journal's writer. */
export const readerOver = (journal: Journal): StateReader => ({
  read: (query) => journal.read(query),
  close: async () => {},
});

/** An open state file. */
export interface StateParts {
  readonly journal: Journal;
  readonly reader: StateReader;
  /** The records that the start loaded. */
  readonly loaded: LoadedState;
  /** Called after the journal is closed. */
  readonly release: () => void;
}

/** The state over an open file. */
export function stateOver(
  { journal, reader, loaded, release }: StateParts,
  { isPlay, salesKeptMs }: Pick<StateOptions, 'isPlay' | 'salesKeptMs'>,
  { clock, timers }: JournalPorts,
): SqliteState {
  const { accounts, callbacks, reservations, resolves, ledger, notices } = loaded;
  const books = new SqliteBooks(journal, reader, loaded.books, salesKeptMs, { clock, timers });
  let cancelStart: (() => void) | undefined;
  return {
    persistence: {
      journal: new SqliteReservationJournal(journal, {
        isPlay,
        clock,
        onSold: ({ operation }) => books.counts.sold(operation),
      }),
      books,
      reservations,
      ledger,
      events: new SqliteEventStore(journal, clock, callbacks),
      retries: (accounts) =>
        new SqliteRetryStore({
          clock,
          read: (query) => journal.read(query),
          write: (operation) => journal.write(operation),
          accounts,
          recordsCharges: true,
        }),
      accounts: {
        journal: {
          fault: () => journal.fault(),
          write: (change) => journal.write({ table: ACCOUNTS, ...change } satisfies AccountOperation),
        },
        loaded: accounts,
      },
      resolves: {
        journal: {
          write: (change) => journal.write({ table: RESOLVES, ...change } satisfies ResolveOperation),
          async readOutcome(id) {
            const query: OutcomeQuery = { table: RESOLVES, id };
            return (await journal.read(query)) as string | undefined;
          },
        },
        loaded: resolves,
      },
    },
    fault: () => journal.fault(),
    commits: () => ({ batchCount: journal.batchCount, operationCount: journal.operationCount }),
    start() {
      cancelStart = timers.after(LATE_START_MS, () => journal.open());
    },
    notices,
    journal,
    async close() {
      cancelStart?.();
      await books.close();
      await journal.close();
      release();
    },
  };
}

/** Seconds since 1970. Every authorization that may have been used before now expires before this. */
const usedBefore = (clock: Clock): number => Math.ceil(clock.nowMs() / 1000) + WINDOW_SECONDS_MAX;

const restoredNotice = (path: string, { reservations: { usedBeforeSeconds } }: LoadedState): string =>
  `${path} was restored or copied (no ${MARKER_FILE} came with it): until ${isoTime(usedBeforeSeconds * 1000)} the server sells nothing for authorizations that may have been used before`;

/** @throws LostStateError; a failure for which isUnreadable is true; any other when the folder cannot be used */
function loadStateFile(path: string, options: StateOptions, clock: Clock, usedBeforeSeconds?: number): LoadedState {
  const { stateDir, sync, isPlay } = options;
  const marker = usedBeforeSeconds === undefined ? readMarker(stateDir) : null;
  if (marker === undefined) throw new LostStateError(`${join(stateDir, MARKER_FILE)} is damaged`);
  if (marker?.moved !== undefined) throw new LostStateError(movedAway(stateDir), MOVED_REMEDY);
  const isThere = existsSync(path) && statSync(path).size > 0;
  if (marker !== null && !isThere) throw new LostStateError(`${path} is missing`);
  if (isThere && marker?.sync !== 'normal' && isDamagedLogFile(`${path}-wal`)) {
    throw new DamagedError('its log is damaged in the middle');
  }
  makeOwnFile(path);
  const database = new StateDatabase({ path, sync: 'full' });
  try {
    if (isThere) database.check();
    const generation = database.meta(GENERATION);
    if (marker !== null && generation < marker.generation) throw new LostStateError(`${path} is an older copy`);
    // A file that came without its marker is a copy, which may not know what was sold since.
    const isCopy = usedBeforeSeconds === undefined && marker === null && generation > 0;
    const before = isCopy ? usedBefore(clock) : usedBeforeSeconds;
    if (before !== undefined) database.setMeta(USED_BEFORE, before);
    const loaded = loadState(database, isPlay, clock);
    database.setMeta(GENERATION, generation + 1);
    writeMarker(stateDir, { generation: generation + 1, sync });
    return isCopy ? { ...loaded, notices: [restoredNotice(path, loaded), ...loaded.notices] } : loaded;
  } finally {
    database.close();
  }
}

/** Loads all records and removes expired ones. @throws a failure for which isUnreadable is true */
export function loadState(database: StateDatabase, isPlay: boolean, clock: Clock): LoadedState {
  const { connection } = database;
  const nowMs = clock.nowMs();
  const ends = loadEnds(connection, Math.floor(nowMs / 1000) - START_RETENTION_SECONDS);
  const cases = loadCases(connection).map((one) => ({ ...one, isRepeatable: one.isPlay === isPlay }));
  const spent = isPlay ? loadSpent(connection) : [];
  freeHeldRetries(connection);
  const books = loadBooks(connection, () => systemRandom.bytes(DIGEST_KEY_BYTES));
  return {
    reservations: {
      ends,
      cases,
      answers: loadAnswers(connection, nowMs - CLOCK_AHEAD_MS_MAX),
      usedBeforeSeconds: database.meta(USED_BEFORE),
      lastSerial: Math.max(ends.at(-1)?.serial ?? 0, cases.at(-1)?.serial ?? 0, books.lastSerial),
    },
    ledger: { spent, used: isPlay ? ends.filter(({ kind }) => kind === 'settled').map(({ key }) => key) : [] },
    callbacks: loadCallbacks(connection, nowMs - TOMBSTONE_MS - CLOCK_AHEAD_MS_MAX),
    accounts: loadAccounts(connection, nowMs),
    resolves: loadResolves(connection, nowMs - CLOCK_AHEAD_MS_MAX),
    books,
    notices: noticesOf(cases),
  };
}

function noticesOf(cases: readonly { readonly isRepeatable: boolean }[]): string[] {
  const repeatedCount = cases.filter(({ isRepeatable }) => isRepeatable).length;
  const foreignCount = cases.length - repeatedCount;
  const notices: string[] = [];
  if (repeatedCount > 0)
    notices.push(
      `settlements of unknown outcome, which the server repeats until it knows the outcome: ${repeatedCount}`,
    );
  if (foreignCount > 0) {
    notices.push(
      `settlements of unknown outcome that began with another SETTLEMENT and stay unknown until the server runs with it again: ${foreignCount}`,
    );
  }
  return notices;
}

/** Renames the files of a lost state. @returns the end of the notice about it, or '' without files */
function putAside(path: string, nowMs: number): string {
  const suffix = `.lost-${new Date(nowMs).toISOString().replaceAll(':', '')}`;
  let said = '';
  for (const ending of ['', '-wal', '-shm']) {
    if (!existsSync(path + ending)) continue;
    renameSync(path + ending, `${path}${suffix}${ending}`);
    said = `; the old state is now ${path}${suffix}`;
  }
  return said;
}

/** Why the server does not use the file, and what the operator can do. */
function faultOf(path: string, failure: unknown): string {
  const why = firstLineOf(failure);
  return failure instanceof OtherReleaseError
    ? `${path} is of another release (${why}): the server accepts no payments; start the release that wrote it`
    : `${path} is damaged (${why}): the server accepts no payments; restore a sound copy, or discard the state with STATE_RESET=true`;
}

/** A state that this program cannot read: the server neither reads nor writes it. */
function damagedState(
  path: string,
  fault: string,
  { clock, onStateFault }: JournalPorts,
  release: () => void,
): SqliteState {
  onStateFault(fault);
  const refuse = (): Promise<never> => Promise.reject(new StateRefusedError(`${path} is damaged`));
  return {
    persistence: {
      journal: {
        fault: () => fault,
        recordIntent: refuse,
        recordUnknown: refuse,
        recordEnd: refuse,
        recordReleased: refuse,
        readAnswer: refuse,
        replaceAnswer: refuse,
        forgetAnswers: () => {},
        forget: () => {},
      },
      reservations: NOTHING_LOADED,
      ledger: NOTHING_SPENT,
      books: {
        digestOf: keyedDigest(systemRandom.bytes(DIGEST_KEY_BYTES)),
        list: refuse,
        find: refuse,
        days: refuse,
        markDelivered: () => {},
        counts: new SaleCounts(),
      },
      events: {
        create: refuse,
        append: refuse,
        read: async () => undefined,
        delete: refuse,
        expire: refuse,
        load: async () => [],
      },
      retries: (accounts) =>
        new SqliteRetryStore({ clock, read: refuse, write: refuse, accounts, recordsCharges: true }),
      accounts: { journal: { fault: () => fault, write: refuse }, loaded: { ...NO_ACCOUNTS, damage: fault } },
      resolves: { journal: { write: refuse, readOutcome: refuse }, loaded: [] },
    },
    fault: () => fault,
    commits: () => ({ batchCount: 0, operationCount: 0 }),
    start: () => {},
    notices: [fault],
    journal: undefined,
    async close() {
      release();
    },
  };
}
