/** The CSV file of `companies import`: `company` (a name, or `shape:token`), `domain`, `aliases` (separated by blanks). */
import { type CompanyDomain, parseCompanyDomain } from '../../catalogue/company-domain.ts';
import { csvFileRows, OPEN_QUOTE, type RefusedLine, SEMICOLONS } from '../input/csv-rows.ts';
import { NAME_LENGTH_MAX } from '../native.ts';
import { SHAPES } from '../shapes/shapes.ts';
import { identityOf, nameKeyOf, type OperatorWord } from './operator-words.ts';

const COLUMNS = ['company', 'domain', 'aliases'] as const;

export interface CompanyFile {
  readonly words: readonly OperatorWord[];
  readonly refused: readonly RefusedLine[];
}

const BOARD = new RegExp(`^(?:${SHAPES.map(({ name }) => name).join('|')}):.`);

/** A word about `shape:token`, or about every company of that name. */
export function wordOfCompany(company: string, domain: CompanyDomain, aliases: readonly CompanyDomain[]): OperatorWord {
  const text = company.trim();
  const key = BOARD.test(text)
    ? ({ kind: 'board', key: text } as const)
    : ({ kind: 'name', key: nameKeyOf(text) } as const);
  return { ...key, name: null, domain, url: null, aliases };
}

interface Places {
  readonly company: number;
  readonly domain: number;
  /** -1: the file has none. */
  readonly aliases: number;
}

function wordOf(row: readonly string[], places: Places): OperatorWord | Omit<RefusedLine, 'line'> {
  const company = row[places.company]?.trim() ?? '';
  if (company === '') return { field: 'company', reason: 'is blank' };
  if (company.length > NAME_LENGTH_MAX)
    return { field: 'company', reason: `is longer than ${NAME_LENGTH_MAX} characters` };
  if (nameKeyOf(company) === '') return { field: 'company', reason: 'is blank' };
  const domain = parseCompanyDomain(row[places.domain]?.trim() ?? '');
  if (domain === undefined) return { field: 'domain', reason: 'must be a domain name such as example.com' };
  const aliases: CompanyDomain[] = [];
  for (const text of (row[places.aliases] ?? '').split(/\s+/).filter((part) => part !== '')) {
    const alias = parseCompanyDomain(text);
    if (alias === undefined)
      return { field: 'aliases', reason: 'must be domain names such as example.com, separated by blanks' };
    if (alias !== domain) aliases.push(alias);
  }
  return wordOfCompany(company, domain, [...new Set(aliases)]);
}

/** Reads the text of a file. A company that two lines name with different domains is refused. */
export function parseCompanyFile(text: string): CompanyFile {
  const {
    rows: [header, ...rows],
    isOpen,
  } = csvFileRows(text);
  const names = (header ?? []).map((name) => name.trim().toLowerCase());
  const missing = COLUMNS.slice(0, 2).filter((name) => !names.includes(name));
  if (missing.length > 0) {
    const reason = names[0]?.split(';').includes(missing[0] ?? '')
      ? SEMICOLONS
      : `must name the columns company and domain: ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`;
    return { words: [], refused: [{ line: 1, field: 'the header', reason }] };
  }
  const places = {
    company: names.indexOf('company'),
    domain: names.indexOf('domain'),
    aliases: names.indexOf('aliases'),
  };
  const words = new Map<string, OperatorWord>();
  const refused: RefusedLine[] = [];
  for (const [index, row] of rows.entries()) {
    if (row.every((field) => field.trim() === '')) continue;
    const line = index + 2;
    const word = wordOf(row, places);
    if ('field' in word) {
      refused.push({ line, ...word });
      continue;
    }
    const key = identityOf(word);
    const earlier = words.get(key);
    if (earlier !== undefined && earlier.domain !== word.domain) {
      refused.push({ line, field: 'domain', reason: `differs from that of an earlier line, ${earlier.domain}` });
    } else words.set(key, word);
  }
  if (isOpen) refused.push({ line: rows.length + 2, field: 'the record', reason: OPEN_QUOTE });
  return { words: [...words.values()], refused };
}
