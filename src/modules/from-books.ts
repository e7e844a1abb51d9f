/**
 * Reads the books, or the record of an authorization, for an answer: while they cannot be read, as on a failing disk or
 * without the database, the answer is 503 (decisions §4).
 */
import type { MaybePromise } from '../base/maybe-promise.ts';
import { type Refusal, stateUnavailable } from '../http/errors.ts';
import { BooksUnreadableError } from '../payment/books.ts';
import { RecordsUnreadableError } from '../payment/reservations.ts';

function unreadable(failure: unknown): Refusal<'STATE_UNAVAILABLE'> {
  if (!(failure instanceof BooksUnreadableError) && !(failure instanceof RecordsUnreadableError)) throw failure;
  return stateUnavailable('the books cannot be read now; try again later', failure.message);
}

/** The result of `read`, or the refusal while the books cannot be read. Passes on anything else that `read` throws. */
export function fromBooks<T>(read: () => MaybePromise<T>): MaybePromise<T | Refusal<'STATE_UNAVAILABLE'>> {
  try {
    const found = read();
    return found instanceof Promise ? found.catch(unreadable) : found;
  } catch (failure) {
    return unreadable(failure);
  }
}
