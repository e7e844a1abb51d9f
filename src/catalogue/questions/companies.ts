/** The question for companies (decisions §8): which can be asked for, and by which domain. */
import type { CompanyDomain } from '../company-domain.ts';
import { addToSignature, SIGNATURE_WORDS } from '../snapshot/company-signatures.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { comparedText, termsOf } from '../terms.ts';

export interface FoundCompany {
  readonly name: string;
  readonly domain: CompanyDomain | null;
}

/**
 * The first place from `from` on whose signature has every bit of `wanted`; the number of companies if there is none.
 * Both arrays have SIGNATURE_WORDS (four) words a company, signed because signed words need no conversion on Node.
 */
function nextCandidate(signatures: Int32Array, wanted: Int32Array, from: number): number {
  const letters = wanted[0]! | 0;
  const first = wanted[1]! | 0;
  const second = wanted[2]! | 0;
  const third = wanted[3]! | 0;
  const { length } = signatures;
  for (let at = from * SIGNATURE_WORDS; at < length; at += SIGNATURE_WORDS) {
    if ((letters & ~signatures[at]!) !== 0) continue;
    if (((first & ~signatures[at + 1]!) | (second & ~signatures[at + 2]!) | (third & ~signatures[at + 3]!)) !== 0)
      continue;
    return at / SIGNATURE_WORDS;
  }
  return length / SIGNATURE_WORDS;
}

/**
 * The first `limit` companies whose compared name or domain contains every term of `text`, most active jobs first.
 * Cost: one pass over the signatures, and reading the names that pass (bench/companies.ts).
 */
export function companiesCalled(snapshot: Snapshot, text: string, limit: number): FoundCompany[] {
  const { companyCount, companyOrder, companySignatures } = snapshot;
  const terms = termsOf(text);
  const wanted = new Uint32Array(SIGNATURE_WORDS);
  for (const term of terms) addToSignature(term, wanted);
  const signatures = new Int32Array(companySignatures.buffer, companySignatures.byteOffset, companySignatures.length);
  const bits = new Int32Array(wanted.buffer);
  const found: FoundCompany[] = [];
  for (let place = 0; found.length < limit; place++) {
    place = nextCandidate(signatures, bits, place);
    if (place === companyCount) break;
    const company = companyOrder[place]!;
    const name = snapshot.shownNameOf(company);
    const domain = snapshot.domainOf(company);
    const compared = comparedText(name);
    if (terms.every((term) => compared.includes(term) || domain?.includes(term))) found.push({ name, domain });
  }
  return found;
}
