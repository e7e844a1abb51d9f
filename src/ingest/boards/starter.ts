/** The starter list: the boards of data/companies.csv, made by hand, as far as their token tells where they are. */
import type { ListedCompany } from '../companies/company-list.ts';
import { boardOfAddress } from './address-rules.ts';
import type { Board } from './board.ts';

export interface StarterList {
  readonly boards: readonly Board[];
  /** Boards of the list whose token does not tell their host (Workday). */
  readonly withoutHost: number;
}

export function starterOf(companies: readonly ListedCompany[]): StarterList {
  const boards: Board[] = [];
  let withoutHost = 0;
  for (const { board, name, domain } of companies) {
    if (board === null) continue;
    const verdict = boardOfAddress(board);
    if (verdict.kind !== 'board') withoutHost++;
    else boards.push({ shape: verdict.shape, token: verdict.token, address: verdict.address, company: name, domain });
  }
  return { boards, withoutHost };
}
