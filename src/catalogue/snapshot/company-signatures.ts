/**
 * Makes companies quick to find by part of their name or domain: an order, most active jobs first, and a signature of each, a
 * few words with one bit for every letter and every pair of letters. A name can contain a term only if its signature has all
 * bits of the term, so a scan of the words leaves few names to read. Both are in the file: nothing is built at load.
 */
import { comparedText } from '../terms.ts';
import type { Companies } from './text-codes.ts';

/** Words of one signature: one for letters, the others for pairs. A name and a domain set about a third of the pairs' bits. */
export const SIGNATURE_WORDS = 4;
const PAIR_BITS = (SIGNATURE_WORDS - 1) * 32;

/** Adds the bits of a text, which must be in compared form. */
export function addToSignature(text: string, signature: Uint32Array, start = 0): void {
  let before = -1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    signature[start]! |= 1 << (code & 31);
    if (before !== -1) {
      const pair = (before * 31 + code * 7) % PAIR_BITS;
      signature[start + 1 + (pair >>> 5)]! |= 1 << (pair & 31);
    }
    before = code;
  }
}

export interface CompanySignatures {
  /** Codes of all companies, those with the most active jobs first, equal ones ascending. */
  readonly order: Uint32Array<ArrayBuffer>;
  /** SIGNATURE_WORDS a company, in that order. */
  readonly signatures: Uint32Array<ArrayBuffer>;
}

/** @param employers the employer of each row, active rows first, newest first @param activeCount active rows */
export function companySignaturesOf(
  employers: Uint32Array,
  activeCount: number,
  { companyOfEmployer, hasDomain, keyOfCompany, keys, nameOfEmployer, names }: Companies,
): CompanySignatures {
  const companyCount = keyOfCompany.length;
  const active = new Uint32Array(companyCount);
  /** By company: the employer of its first row, whose name the answers show, plus 1; 0 = not met yet. */
  const shown = new Uint32Array(companyCount);
  for (let row = 0; row < employers.length; row++) {
    const company = companyOfEmployer[employers[row]!]!;
    if (row < activeCount) active[company]!++;
    if (shown[company] === 0) shown[company] = employers[row]! + 1;
  }
  const order = Uint32Array.from(active.keys()).sort((a, b) => active[b]! - active[a]! || a - b);
  const signatures = new Uint32Array(companyCount * SIGNATURE_WORDS);
  for (const [place, company] of order.entries()) {
    const start = place * SIGNATURE_WORDS;
    addToSignature(comparedText(names.textOf(nameOfEmployer[shown[company]! - 1]!)), signatures, start);
    if (hasDomain[company] === 1) addToSignature(keys.textOf(keyOfCompany[company]!), signatures, start);
  }
  return { order, signatures };
}
