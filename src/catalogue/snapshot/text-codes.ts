/** How the builder numbers texts for the file: by first appearance or by text, so that comparing codes compares texts. */
import { comparedText } from '../terms.ts';
import { type Employers, employerTextOf } from './employers.ts';
import { TextTable } from './text-table.ts';

/** Texts of a table with the codes that the file gives them. */
export interface Numbered {
  /** The given array, overwritten: the new code of each number, plus `first`; if `first` is 1, 0 stays 0. */
  readonly codes: Uint32Array<ArrayBuffer>;
  /** By new code: the number in the table. */
  readonly dictionary: Uint32Array;
}

/**
 * Numbers texts by their first appearance.
 * @param numbers numbers of the table plus `first`; overwritten
 */
export function codesByAppearance(table: TextTable, numbers: Uint32Array<ArrayBuffer>, first: 0 | 1): Numbered {
  const newCodes = new Uint32Array(table.size);
  const dictionary = new Uint32Array(table.size);
  let known = 0;
  for (let row = 0; row < numbers.length; row++) {
    const number = numbers[row]! - first;
    if (number < 0) continue;
    let code = newCodes[number]!;
    if (code === 0) {
      dictionary[known] = number;
      code = ++known;
      newCodes[number] = code;
    }
    numbers[row] = code - 1 + first;
  }
  return { codes: numbers, dictionary };
}

/** As `codesByAppearance`, numbering texts in code-unit order. */
export function codesByText(table: TextTable, numbers: Uint32Array<ArrayBuffer>, first: 0 | 1): Numbered {
  const dictionary = new Uint32Array(table.size);
  for (let number = 0; number < dictionary.length; number++) dictionary[number] = number;
  dictionary.sort((a, b) => table.compare(a, b));
  const newCodes = new Uint32Array(table.size);
  for (let code = 0; code < dictionary.length; code++) newCodes[dictionary[code]!] = code;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]! - first;
    if (number >= 0) numbers[i] = newCodes[number]! + first;
  }
  return { codes: numbers, dictionary };
}

/** The sections of a dictionary: its texts in the order of `dictionary`, after `blanks` empty ones. */
export function textSections(
  table: TextTable,
  dictionary: Uint32Array,
  blanks: 0 | 1,
): { offsets: Uint32Array<ArrayBuffer>; text: Uint8Array<ArrayBuffer> } {
  const offsets = new Uint32Array(dictionary.length + blanks + 1);
  let end = 0;
  for (let i = 0; i < dictionary.length; i++) {
    const number = dictionary[i]!;
    end += table.endOf(number) - table.startOf(number);
    offsets[i + blanks + 1] = end;
  }
  const text = new Uint8Array(end);
  for (let i = 0; i < dictionary.length; i++) {
    const number = dictionary[i]!;
    text.set(table.bytes.subarray(table.startOf(number), table.endOf(number)), offsets[i + blanks]!);
  }
  return { offsets, text };
}

export interface Companies {
  readonly names: TextTable;
  /** By employer: number in `names`. */
  readonly nameOfEmployer: readonly number[];
  /** By employer: where the domain is from (evidenceCodeOf). */
  readonly evidenceOfEmployer: Uint8Array<ArrayBuffer>;
  readonly keys: TextTable;
  /** By company: number in `keys`; ascending by text, a domain before a name. */
  readonly keyOfCompany: readonly number[];
  readonly companyOfEmployer: Uint32Array<ArrayBuffer>;
  readonly hasDomain: Uint8Array<ArrayBuffer>;
}

/**
 * Groups employers into companies: by domain, or by compared name without one (decisions §3).
 * @param employers texts that `employerTextOf` takes apart
 * @param dictionary numbers of `employers`, in order of the employers' codes
 */
export function companiesOf(employers: TextTable, dictionary: Uint32Array): Companies {
  const names = new TextTable();
  const keys = new TextTable();
  const nameOfEmployer: number[] = [];
  const evidenceOfEmployer: number[] = [];
  /** Twice the key's number, plus one for a key that is a name. */
  const identities: number[] = [];
  for (const number of dictionary) {
    const { domain, evidence, name } = employerTextOf(employers.textOf(number));
    nameOfEmployer.push(names.numberOf(name));
    evidenceOfEmployer.push(evidence);
    identities.push(domain === '' ? keys.numberOf(comparedText(name)) * 2 + 1 : keys.numberOf(domain) * 2);
  }
  const sorted = [...new Set(identities)].sort((a, b) => keys.compare(a >>> 1, b >>> 1) || a - b);
  const codes = new Map(sorted.map((identity, code) => [identity, code]));
  return {
    names,
    nameOfEmployer,
    evidenceOfEmployer: Uint8Array.from(evidenceOfEmployer),
    keys,
    keyOfCompany: sorted.map((identity) => identity >>> 1),
    companyOfEmployer: Uint32Array.from(identities, (identity) => codes.get(identity)!),
    hasDomain: Uint8Array.from(sorted, (identity) => 1 - (identity & 1)),
  };
}

/** The sections of the aliases, ascending by text, and the aliases left out because several companies claim them. */
export function aliasSections(
  employers: Employers,
  { hasDomain, keyOfCompany, keys }: Companies,
): {
  company: Uint32Array<ArrayBuffer>;
  offsets: Uint32Array<ArrayBuffer>;
  text: Uint8Array<ArrayBuffer>;
  disputed: readonly string[];
  /** By domain; aliases are not among them. */
  companyOfDomain: ReadonlyMap<string, number>;
} {
  const companyOf = new Map<string, number>();
  for (const [company, key] of keyOfCompany.entries()) {
    if (hasDomain[company] === 1) companyOf.set(keys.textOf(key), company);
  }
  const { domainOf, disputed } = employers.settledAliases(new Set(companyOf.keys()));
  const aliases = new TextTable();
  // Aliases are ASCII, so their order by code unit is that of `sort`.
  const sorted = [...domainOf].sort(([a], [b]) => (a < b ? -1 : 1));
  const dictionary = Uint32Array.from(sorted, ([alias]) => aliases.numberOf(alias));
  const company = Uint32Array.from(sorted, ([, domain]) => companyOf.get(domain)!);
  return { company, ...textSections(aliases, dictionary, 0), disputed, companyOfDomain: companyOf };
}
