/** The CSV file of `boards import` and `up --boards`: `address` (or `board`, `url`), optional `company`, `domain`. */
import { type CompanyDomain, parseCompanyDomain } from '../../catalogue/company-domain.ts';
import { csvFileRows, OPEN_QUOTE, type RefusedLine, SEMICOLONS } from '../input/csv-rows.ts';
import { NAME_LENGTH_MAX } from '../native.ts';

/** What an operator says about one board. */
export interface StatedBoard {
  /** As given: any address of the board, or `shape:token`. */
  readonly address: string;
  readonly company: string | null;
  readonly domain: CompanyDomain | null;
}

export interface BoardFile {
  readonly boards: readonly StatedBoard[];
  readonly refused: readonly RefusedLine[];
}

const ADDRESS_COLUMNS = ['address', 'board', 'url'];

/** Reads the text of a file. A file of one column without a header is a list of addresses. */
export function parseBoardFile(text: string): BoardFile {
  const { rows, isOpen } = csvFileRows(text);
  const header = (rows[0] ?? []).map((name) => name.trim().toLowerCase());
  const hasHeader = ADDRESS_COLUMNS.some((name) => header.includes(name));
  // Each line would look like one address.
  const hasSemicolons = ADDRESS_COLUMNS.some((name) => header[0]?.split(';').includes(name));
  if (!hasHeader && hasSemicolons) {
    return { boards: [], refused: [{ line: 1, field: 'the header', reason: SEMICOLONS }] };
  }
  if (!hasHeader && header.length > 1) {
    const reason = `must name a column ${ADDRESS_COLUMNS.join(' or ')}; company and domain are read beside it`;
    return { boards: [], refused: [{ line: 1, field: 'the header', reason }] };
  }
  const places = {
    address: hasHeader ? header.findIndex((name) => ADDRESS_COLUMNS.includes(name)) : 0,
    company: header.indexOf('company'),
    domain: header.indexOf('domain'),
  };
  const boards = new Map<string, StatedBoard>();
  const refused: RefusedLine[] = [];
  for (const [index, row] of rows.entries()) {
    if ((hasHeader && index === 0) || row.every((field) => field.trim() === '')) continue;
    const field = (place: number): string => row[place]?.trim() ?? '';
    const line = index + 1;
    const address = field(places.address);
    const company = field(places.company) || null;
    const domain = field(places.domain) === '' ? null : parseCompanyDomain(field(places.domain));
    if (address === '') refused.push({ line, field: 'address', reason: 'is blank' });
    else if (address.startsWith('#')) continue;
    else if (domain === undefined) {
      refused.push({ line, field: 'domain', reason: 'must be a domain name such as example.com' });
    } else if (company !== null && company.length > NAME_LENGTH_MAX) {
      refused.push({ line, field: 'company', reason: `is longer than ${NAME_LENGTH_MAX} characters` });
    } else if (!boards.has(address)) boards.set(address, { address, company, domain });
  }
  if (isOpen) refused.push({ line: rows.length + 1, field: 'the record', reason: OPEN_QUOTE });
  if (text.trim() === '') refused.push({ line: 1, field: 'address', reason: 'is missing: the file is empty' });
  return { boards: [...boards.values()], refused };
}
