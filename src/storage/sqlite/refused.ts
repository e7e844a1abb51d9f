/** Why the state refuses a record or a query: an outage, or a bug of ours. */
import { OutageError } from '../../base/outage.ts';
import { DamagedError } from './checksum.ts';
import { resultCodeOf } from './result-code.ts';

/** The state did not write the operation, of which certainly nothing is stored, or it did not answer the query. */
export class StateRefusedError extends OutageError {
  override readonly name = 'StateRefusedError';
}

/** The database would never accept the operation or answer the query: a bug of ours. Nothing of it is stored. */
export class RequestRefusedError extends Error {
  override readonly name = 'RequestRefusedError';
}

/**
 * Result codes that mean a fault of one operation or query and not of the disk: SQLITE_ERROR, TOOBIG, CONSTRAINT, MISMATCH,
 * MISUSE, RANGE, or no result code. The database omits such an operation and commits the others of its batch.
 */
const OF_THE_REQUEST: ReadonlySet<number | undefined> = new Set([1, 18, 19, 20, 21, 25, undefined]);

export const isOfTheRequest = (failure: unknown): boolean => OF_THE_REQUEST.has(resultCodeOf(failure));

/** False for a failure of the file: the disk, or a damaged record that the request met. */
export const isBug = (failure: unknown): boolean => isOfTheRequest(failure) && !(failure instanceof DamagedError);
