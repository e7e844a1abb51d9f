/**
 * The directory of a catalogue (decisions §8): its employers, with the identities that every build gives to their jobs.
 */
import { loadCompanyList } from '../../ingest/companies/company-list.ts';
import type { Employer } from '../../ingest/companies/employer.ts';
import type { OperatorWord } from '../../ingest/companies/operator-words.ts';
import { type Identity, resolveEmployers } from '../../ingest/companies/resolve.ts';
import { operatorWordsIn, StoredEmployers, watchedBoardsIn } from './company-tables.ts';
import type { HistoryDatabase } from './database.ts';

export interface CompanyDirectory {
  readonly employers: readonly Employer[];
  /** In the order of the employers. */
  readonly identities: readonly Identity[];
  /** Words of the operator that apply to no employer, and to no watched board. */
  readonly unfitting: readonly OperatorWord[];
}

/** The part of the directory that a build uses. */
export interface BuildDirectory extends Pick<CompanyDirectory, 'unfitting'> {
  /** The identity of a job by the serial of its board and its recorded company. */
  identityOf(board: number, company: string): Identity;
}

/** One pass over the jobs; memory grows with the employers. @throws HistoryError */
export function companyDirectoryOf(history: HistoryDatabase): CompanyDirectory {
  const { all } = new StoredEmployers(history);
  const words = operatorWordsIn(history);
  const identities = resolveEmployers(all, { words, list: loadCompanyList() });
  return { employers: all, identities, unfitting: words.unfitting([...all, ...watchedBoardsIn(history)]) };
}

/** As `companyDirectoryOf`, in a twentieth of its time. */
export function buildDirectoryOf(history: HistoryDatabase): BuildDirectory {
  const stored = new StoredEmployers(history, true);
  const words = operatorWordsIn(history);
  const identities = resolveEmployers(stored.all, { words, list: loadCompanyList() });
  return {
    unfitting: words.unfitting([...stored.all, ...watchedBoardsIn(history)]),
    identityOf: (board, company) => identities[stored.placeOf(board, company)]!,
  };
}
