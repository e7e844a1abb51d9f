/** Reading the books for an answer: while they cannot be read, as on a failing disk, the answer is 503 (decisions §4). */
import { type Refusal, refuse, STATE_UNAVAILABLE } from '../http/errors.ts';
import { BooksUnreadableError } from '../payment/books.ts';

const RETRY_AFTER_SECONDS = '5';

/** What `read` finds, or the refusal while the books cannot be read. Rejects as `read` does for anything else. */
export async function fromBooks<T>(read: () => T | Promise<T>): Promise<T | Refusal<'STATE_UNAVAILABLE'>> {
  try {
    return await read();
  } catch (failure) {
    if (!(failure instanceof BooksUnreadableError)) throw failure;
    return refuse(STATE_UNAVAILABLE, 'the books cannot be read now; try again later', {
      headers: { 'retry-after': RETRY_AFTER_SECONDS },
      detail: failure.message,
    });
  }
}
