/** How the builder numbers texts for the file: by first appearance or by text, so that comparing codes compares texts. */
import { comparedText } from '../terms.ts';
import { TextTable } from './text-table.ts';

/** Texts of a table with the codes that the file gives them. */
export interface Numbered {
  /** The array that was handed in, overwritten: the new code of each number, plus `first`; where `first` is 1, 0 stays 0. */
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
  readonly keys: TextTable;
  /** By company: number in `keys`; ascending by text, a domain before a name. */
  readonly keyOfCompany: readonly number[];
  readonly companyOfEmployer: Uint32Array<ArrayBuffer>;
  readonly hasDomain: Uint8Array<ArrayBuffer>;
}

/**
 * Groups employers into companies: by domain, or by compared name where there is none (decisions §3).
 * @param employers texts of domain (empty where there is none), line feed, recorded name
 * @param dictionary numbers of `employers`, in order of the employers' codes
 */
export function companiesOf(employers: TextTable, dictionary: Uint32Array): Companies {
  const names = new TextTable();
  const keys = new TextTable();
  const nameOfEmployer: number[] = [];
  /** Twice the key's number, plus one for a key that is a name. */
  const identities: number[] = [];
  for (const number of dictionary) {
    const text = employers.textOf(number);
    const split = text.indexOf('\n');
    const name = text.slice(split + 1);
    nameOfEmployer.push(names.numberOf(name));
    identities.push(split > 0 ? keys.numberOf(text.slice(0, split)) * 2 : keys.numberOf(comparedText(name)) * 2 + 1);
  }
  const sorted = [...new Set(identities)].sort((a, b) => keys.compare(a >>> 1, b >>> 1) || a - b);
  const codes = new Map(sorted.map((identity, code) => [identity, code]));
  return {
    names,
    nameOfEmployer,
    keys,
    keyOfCompany: sorted.map((identity) => identity >>> 1),
    companyOfEmployer: Uint32Array.from(identities, (identity) => codes.get(identity)!),
    hasDomain: Uint8Array.from(sorted, (identity) => 1 - (identity & 1)),
  };
}
