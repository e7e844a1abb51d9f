/**
 * An address as the URL Standard reads it, on both runtimes. Node keeps a label that begins with `xn--` and is no Punycode of a
 * valid one, which the standard refuses (URL Standard, domain to ASCII), as Bun does.
 */
import { domainToUnicode } from 'node:url';

const PUNYCODE_LABEL = /(?:^|\.)xn--/;

/** `domainToUnicode` leaves exactly such labels as they are. */
const hasInvalidLabel = (host: string): boolean =>
  PUNYCODE_LABEL.test(host) && PUNYCODE_LABEL.test(domainToUnicode(host));

/** @returns null for a text that is no address */
export function parseUrl(text: string, base?: URL): URL | null {
  const url = URL.parse(text, base);
  return url === null || hasInvalidLabel(url.hostname) ? null : url;
}
