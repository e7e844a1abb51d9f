/** Stores the operator's words in a catalogue, in one transaction. */
import { printable } from '../../base/printable.ts';
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import { boardNameOf, type Employer } from '../../ingest/companies/employer.ts';
import { type OperatorWord, OperatorWords } from '../../ingest/companies/operator-words.ts';
import { operatorWordsIn, StoredEmployers, storeWords, watchedBoardsIn } from '../../storage/history/company-tables.ts';
import { HistoryDatabase } from '../../storage/history/database.ts';
import { withHistory } from '../with-history.ts';

export interface StatedWords {
  /** The new words that apply to no employer. */
  readonly unfitting: readonly OperatorWord[];
  /** Employers to which the new words apply. */
  readonly employers: readonly Employer[];
}

/** An employer that keeps another domain than a new word gives it, because one that was stated before counts first. */
export interface Overruled {
  readonly employer: Employer;
  readonly domain: CompanyDomain;
  readonly given: CompanyDomain;
}

export const overruledLine = ({ employer, domain, given }: Overruled): string =>
  `${printable(boardNameOf(employer), 80)} keeps ${domain}, which was stated before and counts first: ` +
  `\`companies set ${printable(boardNameOf(employer))} ${given}\` changes that\n`;

function overruledOf(employers: readonly Employer[], spoken: OperatorWords, stored: OperatorWords): Overruled[] {
  return employers.flatMap((employer) => {
    const given = spoken.wordOf(employer)?.domain;
    const domain = stored.wordOf(employer)?.domain;
    return !given || !domain || given === domain ? [] : [{ employer, domain, given }];
  });
}

/**
 * @param allowed called before anything is stored; throws to store nothing
 * @throws CommandError when the catalogue cannot be used
 */
export function stateWords(
  folder: string,
  words: readonly OperatorWord[],
  allowed: (stated: StatedWords) => void = () => {},
): Promise<StatedWords & { readonly overruled: readonly Overruled[] }> {
  const open = (): HistoryDatabase => {
    // Opens it for reading first, to report a missing catalogue: opening for writing would create one.
    HistoryDatabase.openForReading(folder).close();
    return HistoryDatabase.openForSettings(folder);
  };
  return withHistory(open, (history) => {
    const { all } = new StoredEmployers(history);
    const spoken = new OperatorWords(words);
    const stated: StatedWords = {
      unfitting: spoken.unfitting([...all, ...watchedBoardsIn(history)]),
      employers: all.filter((employer) => spoken.wordOf(employer) !== undefined),
    };
    allowed(stated);
    const hasChanged = storeWords(history, words);
    const overruled = overruledOf(stated.employers, spoken, operatorWordsIn(history));
    if (hasChanged) history.commit();
    return { ...stated, overruled };
  });
}
