/**
 * An address as the URL Standard parses it, on both runtimes. Node accepts a label that begins with `xn--` but is not the
 * Punycode of a valid label; the standard (domain to ASCII) and Bun refuse it.
 */
import { domainToUnicode } from 'node:url';

const PUNYCODE_LABEL = /(?:^|\.)xn--/;

/** Texts whose host may get such a label: the parser decodes `%`, drops tabs and line breaks, and maps non-ASCII characters. */
const MAY_HAVE_PUNYCODE = /--|[%\t\n\r]|[^\u0000-\u007f]/;

/** `domainToUnicode` leaves exactly such labels unchanged. */
const hasInvalidLabel = (host: string): boolean =>
  PUNYCODE_LABEL.test(host) && PUNYCODE_LABEL.test(domainToUnicode(host));

/** @returns null for a text that is not an address */
export function parseUrl(text: string, base?: URL): URL | null {
  const url = URL.parse(text, base);
  return url === null || hasInvalidLabel(url.hostname) ? null : url;
}

/** Whether {@link parseUrl} would return an address; cheaper for most texts. */
export const isUrl = (text: string): boolean =>
  MAY_HAVE_PUNYCODE.test(text) ? parseUrl(text) !== null : URL.canParse(text);

/** Beyond scheme and host: characters that a URI has only percent-encoded, and a `%` that begins no such encoding. */
const NOT_IN_URI = /%(?![\dA-Fa-f]{2})|[^\w!#$%&'()*+,\-./:;=?@~]/gu;
const MAY_BE_NO_URI = new RegExp(`${NOT_IN_URI.source}|#.*#`, 'u');
const percentEncoded = (text: string): string => encodeURIComponent(text.toWellFormed());
const AUTHORITY = /^[^:]*:\/\/[^/?#]*/;

/**
 * An http or https address as a URI (RFC 3986): as it stands if it is one, otherwise with its host in ASCII and with what a
 * URI may not hold percent-encoded as UTF-8. Servers take both for the same.
 * @param address what {@link isUrl} accepts, without backslashes, tabs and line breaks, and without blanks at its ends
 */
export function uriOf(address: string): string {
  if (!MAY_BE_NO_URI.test(address)) return address;
  const [given] = AUTHORITY.exec(address) as RegExpExecArray;
  const authority = /[^\w!$&'()*+,\-./:;=@[\]~]/.test(given) ? AUTHORITY.exec(new URL(address).href)![0] : given;
  const [rest, ...fragments] = address.slice(given.length).replace(NOT_IN_URI, percentEncoded).split('#');
  return `${authority}${rest}${fragments.length === 0 ? '' : `#${fragments.join('%23')}`}`;
}

/** The port of an address, or the one that its scheme implies. */
export const portOf = ({ protocol, port }: URL): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);

/** Host and port; IPv6 in brackets, a name without the trailing dot of a fully qualified one. */
export const hostPortOf = (url: URL): string => `${url.hostname.replace(/\.$/, '')}:${portOf(url)}`;
