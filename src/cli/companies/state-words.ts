/** Keeps the operator's words in a catalogue, in one transaction. */
import type { Employer } from '../../ingest/companies/employer.ts';
import { type OperatorWord, OperatorWords } from '../../ingest/companies/operator-words.ts';
import { StoredEmployers, storeWords } from '../../storage/history/company-tables.ts';
import { HistoryDatabase } from '../../storage/history/database.ts';
import { withHistory } from '../with-history.ts';

export interface StatedWords {
  /** Of the new words, those that hold for no employer. */
  readonly unfitting: readonly OperatorWord[];
  /** Employers that the new words hold for. */
  readonly employers: readonly Employer[];
}

/**
 * @param allowed asked before anything is kept; throws to keep nothing
 * @throws CommandError when the catalogue cannot be used
 */
export function stateWords(
  folder: string,
  words: readonly OperatorWord[],
  allowed: (stated: StatedWords) => void = () => {},
): StatedWords {
  const open = (): HistoryDatabase => {
    // Reading first says that there is no catalogue; opening to write would make one.
    HistoryDatabase.openForReading(folder).close();
    return HistoryDatabase.openForSettings(folder);
  };
  return withHistory(open, (history) => {
    const { all } = new StoredEmployers(history);
    const spoken = new OperatorWords(words);
    const stated: StatedWords = {
      unfitting: spoken.unfitting(all),
      employers: all.filter((employer) => spoken.wordOf(employer) !== undefined),
    };
    allowed(stated);
    if (storeWords(history, words)) history.commit();
    return stated;
  });
}
