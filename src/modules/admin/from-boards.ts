/** Asking the list of watched boards for an answer: while an import writes, or its folder is away, the answer is 503. */
import { BoardsUnavailableError } from '../../catalogue/watched-boards.ts';
import { type Refusal, stateUnavailable } from '../../http/errors.ts';

/** What `ask` finds, or the refusal while the list cannot be asked. Throws what else `ask` throws. */
export function fromBoards<T>(ask: () => T): T | Refusal<'STATE_UNAVAILABLE'> {
  try {
    return ask();
  } catch (failure) {
    if (!(failure instanceof BoardsUnavailableError)) throw failure;
    return stateUnavailable('the catalogue of CATALOGUE cannot be used now; try again later', failure.message);
  }
}
