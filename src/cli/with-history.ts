/** The history of a catalogue, for one command. */
import { type HistoryDatabase, HistoryError } from '../storage/history/database.ts';
import { commandErrorOf } from './command.ts';

/** Closes it afterwards. @throws CommandError for a fault of the history */
export async function withHistory<Result>(
  open: () => HistoryDatabase,
  act: (history: HistoryDatabase) => Result | Promise<Result>,
): Promise<Result> {
  let history: HistoryDatabase | undefined;
  try {
    history = open();
    return await act(history);
  } catch (error) {
    throw commandErrorOf(error, HistoryError);
  } finally {
    history?.close();
  }
}
