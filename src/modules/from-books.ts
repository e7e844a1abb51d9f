/**
 * Reading the books, or what is on record of an authorization, for an answer: while they cannot be read, as on a failing disk or
 * without the database, the answer is 503 (decisions §4).
 */
import { type Refusal, stateUnavailable } from '../http/errors.ts';
import { BooksUnreadableError } from '../payment/books.ts';
import { RecordsUnreadableError } from '../payment/reservations.ts';

/** What `read` finds, or the refusal while the books cannot be read. Rejects as `read` does for anything else. */
export async function fromBooks<T>(read: () => T | Promise<T>): Promise<T | Refusal<'STATE_UNAVAILABLE'>> {
  try {
    return await read();
  } catch (failure) {
    if (!(failure instanceof BooksUnreadableError) && !(failure instanceof RecordsUnreadableError)) throw failure;
    return stateUnavailable('the books cannot be read now; try again later', failure.message);
  }
}
