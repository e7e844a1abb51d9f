/** The history of a catalogue, for one command. */
import { type HistoryDatabase, HistoryError } from '../storage/history/database.ts';
import { commandErrorOf } from './command.ts';

/**
 * Closes it afterwards. @param act must finish before it returns, not later in a promise @throws CommandError for a
 * fault of the history
 */
export function withHistory<Result>(open: () => HistoryDatabase, act: (history: HistoryDatabase) => Result): Result {
  let history: HistoryDatabase | undefined;
  try {
    history = open();
    return act(history);
  } catch (error) {
    throw commandErrorOf(error, HistoryError);
  } finally {
    history?.close();
  }
}
