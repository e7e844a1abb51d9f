/**
 * The list of well-known boards that ships with the package, data/companies.csv: `board` (`shape:token`, blank for a
 * company known only by its name), `name`, `domain`. Made by hand; a line is there because its domain is certain.
 */
import { type CompanyDomain, parseCompanyDomain } from '../../catalogue/company-domain.ts';
import { comparedText } from '../../catalogue/terms.ts';
import { csvRows } from '../input/csv-rows.ts';
import { readPackageText } from '../package-data.ts';
import { ownerOf } from '../shapes/board.ts';
import { boardNameOf, type Employer, hasToken } from './employer.ts';

export interface ListedCompany {
  /** `shape:token` in lower case; null: known by its name alone. */
  readonly board: string | null;
  readonly name: string;
  readonly domain: CompanyDomain;
}

const COLUMNS = ['board', 'name', 'domain'];

/** The lines of a list. @throws Error when a line is unsound: the list is part of the program */
export function parseCompanyList(text: string): ListedCompany[] {
  const [header, ...rows] = csvRows(text, ',', '\n', true).rows.filter((row) => row.length > 1);
  if (header?.join() !== COLUMNS.join()) throw new Error(`the list of companies must have the columns ${COLUMNS}`);
  return rows.map(([board, name, domain]) => {
    const parsed = parseCompanyDomain(domain ?? '');
    if (parsed === undefined || !name || !(board === '' || /^[a-z]+:[^:\s]+$/.test(board ?? ''))) {
      throw new Error(`the list of companies has a bad line: ${board},${name},${domain}`);
    }
    return { board: board === '' ? null : board!.toLowerCase(), name, domain: parsed };
  });
}

export class CompanyList {
  readonly #byBoard = new Map<string, ListedCompany>();
  /** null: companies of several domains have the name. */
  readonly #byName = new Map<string, CompanyDomain | null>();

  constructor(companies: Iterable<ListedCompany>) {
    for (const company of companies) {
      const { board, name, domain } = company;
      if (board !== null) this.#byBoard.set(board, company);
      const key = comparedText(name);
      const known = this.#byName.get(key);
      this.#byName.set(key, known === undefined || known === domain ? domain : null);
    }
  }

  /** Whether the list has one of the names for several domains, so that the name alone tells nothing. */
  isAmbiguous(names: readonly string[]): boolean {
    return names.some((name) => this.#byName.get(name) === null);
  }

  /** The company of a board, by its token. */
  ofBoard(board: Pick<Employer, 'shape' | 'board'>): ListedCompany | undefined {
    return (
      this.#byBoard.get(boardNameOf(board).toLowerCase()) ??
      this.#byBoard.get(`${board.shape}:${ownerOf(board.board)}`.toLowerCase())
    );
  }

  /** By the board's token; by name only for boards without one, and when the list has that name for one domain. */
  domainOf(employer: Pick<Employer, 'shape' | 'board' | 'names'>): CompanyDomain | undefined {
    if (hasToken(employer.shape)) return this.ofBoard(employer)?.domain;
    const found = new Set(employer.names.map((name) => this.#byName.get(name)));
    return found.size === 1 ? ([...found][0] ?? undefined) : undefined;
  }
}

let loaded: CompanyList | undefined;

/** The list of the package, read once. */
export function loadCompanyList(): CompanyList {
  loaded ??= new CompanyList(parseCompanyList(readPackageText('companies.csv')));
  return loaded;
}
