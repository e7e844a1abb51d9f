/** Stores the operator's words in a catalogue, in one transaction. */
import type { Employer } from '../../ingest/companies/employer.ts';
import { type OperatorWord, OperatorWords } from '../../ingest/companies/operator-words.ts';
import { StoredEmployers, storeWords } from '../../storage/history/company-tables.ts';
import { HistoryDatabase } from '../../storage/history/database.ts';
import { withHistory } from '../with-history.ts';

export interface StatedWords {
  /** The new words that apply to no employer. */
  readonly unfitting: readonly OperatorWord[];
  /** Employers to which the new words apply. */
  readonly employers: readonly Employer[];
}

/**
 * @param allowed called before anything is stored; throws to store nothing
 * @throws CommandError when the catalogue cannot be used
 */
export function stateWords(
  folder: string,
  words: readonly OperatorWord[],
  allowed: (stated: StatedWords) => void = () => {},
): Promise<StatedWords> {
  const open = (): HistoryDatabase => {
    // Opens it for reading first, to report a missing catalogue: opening for writing would create one.
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
