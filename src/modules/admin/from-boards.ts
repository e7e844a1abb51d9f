/** Reads the list of watched boards for an answer: while an import writes it, or its folder is missing, the answer is 503. */
import { BoardsUnavailableError } from '../../catalogue/watched-boards.ts';
import { type Refusal, stateUnavailable } from '../../http/errors.ts';

/** The result of `ask`, or the refusal while the list cannot be read. Rethrows anything else that `ask` throws. */
export function fromBoards<T>(ask: () => T): T | Refusal<'STATE_UNAVAILABLE'> {
  try {
    return ask();
  } catch (failure) {
    if (!(failure instanceof BoardsUnavailableError)) throw failure;
    return stateUnavailable('the catalogue of CATALOGUE cannot be used now; try again later', failure.message);
  }
}
