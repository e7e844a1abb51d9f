/** What the failures of statements mean, by SQLSTATE and by the codes of sockets, never by the text of a message. */
import { errorCodeOf, firstLineOf } from '../../base/failure.ts';
import { OutageError } from '../../base/outage.ts';
import { StateError } from '../state-error.ts';

/** The database answered a statement with an error; it changed nothing. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  /** SQLSTATE. */
  readonly code: string;

  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * The database cannot be reached or cancelled the statement, or no connection was free: the statement changed nothing.
 */
export class DatabaseAwayError extends OutageError {
  override readonly name: string = 'DatabaseAwayError';
}

/** Deadlocks or serialization failures ended the statement each time that it was repeated. */
export class ContentionError extends DatabaseAwayError {
  override readonly name = 'ContentionError';
}

/**
 * What the statement needs of the schema is missing or closed to its role (wholeness.ts): an operator's mistake, or a dump that is
 * being read in. The statement changed nothing.
 */
export class LackError extends DatabaseAwayError {
  override readonly name = 'LackError';
}

/** All connections stayed busy for as long as a statement waits for one. */
export class PoolBusyError extends Error {
  override readonly name = 'PoolBusyError';
}

/** The connection was lost, or the answer did not come, after the statement was sent: it may have been carried out. */
export class InDoubtError extends OutageError {
  override readonly name = 'InDoubtError';
}

/**
 * `again`: changed nothing, and may succeed at once when it is repeated. `cancelled`: changed nothing, because of a
 * timeout, a lock, an administrator, no free connection or no memory for parallel workers; others may succeed. `away`: changed
 * nothing, and the database cannot be written now (starting, stopping, a stand-by, no connection left). `lost`: may have been
 * carried out. `refused`: an error of the statement or its values. `lacking`: it names what is not there or is closed to the role,
 * which is a bug unless that is missing for a while. `full`: changed nothing, because the disk is full; statements that need less
 * may succeed.
 */
export type FailureKind = 'again' | 'cancelled' | 'away' | 'lost' | 'refused' | 'lacking' | 'full';

const DISK_FULL = '53100';
/** File of the server's source that makes memory for parallel workers. A small /dev/shm is a full disk to it. */
const SHARED_MEMORY_FILE = 'dsm_impl.c';
/** SQLSTATE: a limit of the server's configuration was exceeded. */
const TOO_MUCH = '53400';
/** Serialization failure, deadlock. */
const AGAIN: ReadonlySet<string> = new Set(['40001', '40P01']);
/** Statement cancelled; lock not available in time; more than the configuration allows one. */
const CANCELLED: ReadonlySet<string> = new Set(['57014', '55P03', TOO_MUCH]);
/** Insufficient privilege; no such table, schema, constraint for ON CONFLICT, function, or column. */
const LACKING: ReadonlySet<string> = new Set(['42501', '42P01', '3F000', '42P10', '42883', '42703']);
/** Of these, what a command or a start also meets that comes while a dump is being read in. */
const REPLACED: ReadonlySet<string> = new Set(['42P01', '3F000', '42P10', '42883']);
/** SQLSTATE: the transaction is read-only (a stand-by after a failover, or a setting). */
const READ_ONLY = '25006';
/**
 * Cannot connect now; read-only transaction; disk error, missing or damaged file on the server.
 * Class 53 (no memory or connection left) counts too.
 */
const AWAY: ReadonlySet<string> = new Set(['57P03', READ_ONLY, '58030', '58P01', 'XX001']);
/**
 * Shutdown by an administrator, crash, database dropped, session ended for its time: a commit may have been in flight.
 */
const LOST: ReadonlySet<string> = new Set(['57P01', '57P02', '57P04', '57P05', '25P03', '25P04', '40003']);

const SQLSTATE = /^[0-9A-Z]{5}$/;

const sqlStateOf = (failure: unknown): string | undefined => {
  const code = errorCodeOf(failure);
  // Codes of socket errors are longer or shorter than SQLSTATEs, or have five letters and come with `errno` (EPIPE).
  const isOfServer =
    code !== undefined && SQLSTATE.test(code) && !code.startsWith('E') && 'severity' in (failure as object);
  return isOfServer ? code : undefined;
};

export const isTooMuch = (failure: unknown): boolean => sqlStateOf(failure) === TOO_MUCH;

export const isReadOnly = (failure: unknown): boolean => sqlStateOf(failure) === READ_ONLY;

/**
 * Where a statement failed. `connecting`: there was no connection. `uncommitted`: in a transaction whose commit was not
 * sent. `sent`: a statement that commits by itself was sent.
 */
export type Stage = 'connecting' | 'uncommitted' | 'sent';

export function failureKindOf(failure: unknown, stage: Stage): FailureKind {
  if (stage === 'connecting') return failure instanceof PoolBusyError ? 'cancelled' : 'away';
  const lost = stage === 'sent' ? 'lost' : 'away';
  const state = sqlStateOf(failure);
  if (state === undefined || LOST.has(state) || state.startsWith('08')) return lost;
  if (AGAIN.has(state)) return 'again';
  if (CANCELLED.has(state)) return 'cancelled';
  if (LACKING.has(state)) return 'lacking';
  if (state === DISK_FULL) return (failure as { file?: unknown }).file === SHARED_MEMORY_FILE ? 'cancelled' : 'full';
  return AWAY.has(state) || state.startsWith('53') ? 'away' : 'refused';
}

/**
 * What a `lacking` failure means to who does not know what the schema should have: a command, or a start. @see Wholeness
 */
export const unjudgedKindOf = (failure: StatementError): FailureKind =>
  REPLACED.has(failure.code) ? 'cancelled' : 'refused';

/** The error that callers get for a failure. */
export function errorOf(failure: unknown, kind: FailureKind): Error {
  const line = firstLineOf(failure);
  switch (kind) {
    case 'again':
      return new ContentionError(line, { cause: failure });
    case 'refused':
    case 'lacking':
      return new StatementError(line, sqlStateOf(failure) ?? '', { cause: failure });
    case 'cancelled':
    case 'away':
    case 'full':
      return new DatabaseAwayError(line, { cause: failure });
    case 'lost':
      return new InDoubtError(line, { cause: failure });
    default:
      return kind satisfies never;
  }
}

/** A failed attempt: what it means, and the error for the caller. */
export class AttemptError extends Error {
  readonly kind: FailureKind;
  readonly error: Error;

  constructor(kind: FailureKind, error: Error) {
    super(error.message);
    this.kind = kind;
    this.error = error;
  }
}

/** True when the failed statement certainly changed nothing. */
export const changedNothing = (failure: unknown): boolean =>
  failure instanceof StatementError || failure instanceof ContentionError || failure instanceof DatabaseAwayError;

/** SQLSTATE. */
const UNIQUE_VIOLATION = '23505';

export const isUniqueViolation = (failure: unknown): boolean =>
  failure instanceof StatementError && failure.code === UNIQUE_VIOLATION;

/**
 * What a start or a command finds missing or closed is for the operator to make again or to grant, so it becomes one line. Other
 * failures pass unchanged.
 */
export const lackOr = (failure: unknown, shown: string): unknown =>
  failure instanceof StatementError && LACKING.has(failure.code)
    ? new StateError(`the database ${shown} cannot be used: ${failure.message}`, { cause: failure })
    : failure;
