/** What the failures of statements mean, by SQLSTATE and by the codes of sockets, never by the text of a message. */
import { errorCodeOf, firstLineOf } from '../../base/failure.ts';
import { OutageError } from '../../base/outage.ts';
import { StateError } from '../state-error.ts';

/** A statement ended with an error of the database; it changed nothing. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  /** SQLSTATE. */
  readonly code: string;

  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The database cannot be reached, or has cancelled the statement, or no connection was free: it changed nothing. */
export class DatabaseAwayError extends OutageError {
  override readonly name = 'DatabaseAwayError';
}

/** All connections were at work for as long as a statement waits for one. */
export class PoolBusyError extends Error {
  override readonly name = 'PoolBusyError';
}

/** The connection was lost, or the answer did not come, after the statement was sent: it may have been carried out. */
export class InDoubtError extends OutageError {
  override readonly name = 'InDoubtError';
}

/**
 * `again`: changed nothing, and may succeed at once when it is repeated.
 * `cancelled`: changed nothing, because of a timeout, a lock, an administrator or the lack of a connection; others may succeed.
 * `away`: changed nothing, and the database cannot be written now (starting, stopping, a stand-by, no connection left).
 * `lost`: may have been carried out.
 * `refused`: an error of the statement or its values.
 */
export type FailureKind = 'again' | 'cancelled' | 'away' | 'lost' | 'refused';

/** Serialization failure, deadlock. */
const AGAIN: ReadonlySet<string> = new Set(['40001', '40P01']);
/** Statement cancelled; lock not available in time. */
const CANCELLED: ReadonlySet<string> = new Set(['57014', '55P03']);
/**
 * Cannot connect now, cannot execute in a read-only transaction (a stand-by after a failover), an error of the server's disk; and
 * class 53, no memory, disk or connection left.
 */
const AWAY: ReadonlySet<string> = new Set(['57P03', '25006', '58030']);
/** Administrator's shutdown, crash, database dropped: a commit may have been on its way. */
const LOST: ReadonlySet<string> = new Set(['57P01', '57P02', '57P04', '40003']);

const SQLSTATE = /^[0-9A-Z]{5}$/;

const sqlStateOf = (failure: unknown): string | undefined => {
  const code = errorCodeOf(failure);
  // Codes of sockets are longer or shorter, or have five letters and stand on `errno` errors (EPIPE).
  const isOfServer =
    code !== undefined && SQLSTATE.test(code) && !code.startsWith('E') && 'severity' in (failure as object);
  return isOfServer ? code : undefined;
};

/**
 * Where a statement failed. `connecting`: there was no connection. `uncommitted`: in a transaction whose commit was not sent.
 * `sent`: it was on its way, and commits itself.
 */
export type Stage = 'connecting' | 'uncommitted' | 'sent';

export function failureKindOf(failure: unknown, stage: Stage): FailureKind {
  if (stage === 'connecting') return failure instanceof PoolBusyError ? 'cancelled' : 'away';
  const lost = stage === 'sent' ? 'lost' : 'away';
  const state = sqlStateOf(failure);
  if (state === undefined || LOST.has(state) || state.startsWith('08')) return lost;
  if (AGAIN.has(state)) return 'again';
  if (CANCELLED.has(state)) return 'cancelled';
  return AWAY.has(state) || state.startsWith('53') ? 'away' : 'refused';
}

/** The failure as callers see it. */
export function errorOf(failure: unknown, kind: FailureKind): Error {
  const line = firstLineOf(failure);
  switch (kind) {
    case 'again':
    case 'refused':
      return new StatementError(line, sqlStateOf(failure) ?? '', { cause: failure });
    case 'cancelled':
    case 'away':
      return new DatabaseAwayError(line, { cause: failure });
    case 'lost':
      return new InDoubtError(line, { cause: failure });
    default:
      return kind satisfies never;
  }
}

/** True for a failure of a statement that changed nothing. */
export const changedNothing = (failure: unknown): boolean =>
  failure instanceof StatementError || failure instanceof DatabaseAwayError;

/** SQLSTATE: insufficient privilege. */
const DENIED = '42501';

/** A right that the database's user lacks is for the operator to grant, and no bug: one line. Other failures stay as they are. */
export const deniedOr = (failure: unknown, shown: string): unknown =>
  failure instanceof StatementError && failure.code === DENIED
    ? new StateError(`the database ${shown} cannot be used: ${failure.message}`)
    : failure;
