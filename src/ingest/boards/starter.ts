/**
 * The starter list: the boards of data/companies.csv, made by hand. A token tells where its board is, except for Workday, whose
 * tenants have separate hosts and several careers sites: data/workday-sites.csv has the sites known from postings of 2026.
 */
import { CompanyList, type ListedCompany } from '../companies/company-list.ts';
import { ownerOf } from '../shapes/board.ts';
import { boardOfAddress, type NamedBoard } from './address-rules.ts';
import type { Board } from './board.ts';
import { parseBoardFile } from './board-file.ts';

export interface StarterList {
  readonly boards: readonly Board[];
  /** Boards of the list whose address is unknown (Workday). */
  readonly withoutSite: number;
}

function boardAt(address: string): NamedBoard | undefined {
  const verdict = boardOfAddress(address);
  return verdict.kind === 'board' ? verdict : undefined;
}

/** @param sites the text of a list of boards by their addresses @throws Error when it is unsound: it is part of the program */
export function starterOf(companies: readonly ListedCompany[], sites: string): StarterList {
  const list = new CompanyList(companies);
  const ofSites = parseBoardFile(sites).boards.map(({ address }): Board => {
    const board = boardAt(address);
    const company = board && list.ofBoard({ shape: board.shape, board: board.token });
    if (board === undefined || company === undefined) throw new Error(`no board of the list of companies: ${address}`);
    const { shape, token } = board;
    return { shape, token, address: board.address, company: company.name, domain: company.domain };
  });
  const placed = new Set(ofSites.map(({ shape, token }) => `${shape}:${ownerOf(token)}`));
  const boards: Board[] = [];
  let withoutSite = 0;
  for (const { board: listed, name, domain } of companies) {
    if (listed === null || placed.has(listed)) continue;
    const board = boardAt(listed);
    if (board === undefined) withoutSite++;
    else boards.push({ shape: board.shape, token: board.token, address: board.address, company: name, domain });
  }
  return { boards: [...boards, ...ofSites], withoutSite };
}
