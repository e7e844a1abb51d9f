/**
 * The `company` rule of decisions §3: a lower-cased ASCII host name of at least two labels, no IP address, no trailing
 * dot, at most 253 characters.
 */
import type { Brand } from '../base/brand.ts';

export type CompanyDomain = Brand<string, 'CompanyDomain'>;

/** Longest domain name in text form (RFC 1035 §2.3.4, without the root dot). */
export const COMPANY_DOMAIN_LENGTH_MAX = 253;

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})+$`);
const ASCII = /^[!-~]+$/;
/** A host whose last label is a number is an IPv4 address to every URL parser (WHATWG URL §3.5, "ends in a number"). */
const ENDS_IN_NUMBER = /\.(?:[0-9]+|0x[0-9a-f]*)$/;

/**
 * The pattern of published schemas for a domain, in any case. The last label begins with a letter, as every top-level domain
 * does: to exclude numbers alone would take lookahead, which some validators lack.
 */
export const COMPANY_DOMAIN_PATTERN =
  '^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$';

/** @returns the domain in lower case, or `undefined` when the text is not one */
export function parseCompanyDomain(text: string): CompanyDomain | undefined {
  // ASCII first, then lower case: U+212A (the Kelvin sign) becomes a plain `k` in lower case.
  if (text.length > COMPANY_DOMAIN_LENGTH_MAX || !ASCII.test(text)) return undefined;
  const lower = text.toLowerCase();
  if (!DOMAIN.test(lower) || ENDS_IN_NUMBER.test(lower)) return undefined;
  return lower as CompanyDomain;
}
