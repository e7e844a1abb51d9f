/**
 * Addresses of clients, read by one parser wherever they come from: a socket, or the header of a trusted proxy. Shares, rates
 * and limits count networks; the log shows addresses.
 *
 * Accepted: IPv4, with or without a port; IPv6 of every spelling of RFC 4291 §2.2, with or without a zone (RFC 4007 §11),
 * alone or in brackets with or without a port. Leading zeros are ignored. An IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2) is
 * its IPv4 address. Nothing else is an address: not a host name, `unknown` or `_name` (RFC 7239 §6), or an empty text.
 *
 * Cost: one pass without a regular expression; an IPv4 address in plain spelling is returned unchanged.
 */
import { groupAt, ipv4Of, mappedIpv4, readGroups } from './ip-address.ts';

export interface ClientAddress {
  /** Without port, zone and brackets, in lower case. */
  readonly address: string;
  /**
   * What counts as one client: an IPv4 address, or the /64 of an IPv6 address, because a host that has one address of a /64
   * can use all of them (RFC 4291 §2.5.1).
   */
  readonly network: string;
}

/** 45 for the longest IPv6 address, 6 for a port, 2 brackets, and the zone, which is the name of an interface. */
const TEXT_LENGTH_MAX = 100;
const OCTET_COUNT = 4;
const OCTET_DIGITS_MAX = 3;
const PORT_DIGITS_MAX = 5;

const COLON = 0x3a;
const ZERO = 0x30;

const hexAt = (index: number): string => groupAt(index).toString(16);

const ipv4Text = (bits: number): string =>
  `${bits >>> 24}.${(bits >>> 16) & 0xff}.${(bits >>> 8) & 0xff}.${bits & 0xff}`;

function ipv4Address(bits: number): ClientAddress {
  const address = ipv4Text(bits);
  return { address, network: address };
}

function parseIpv6(text: string, start: number, end: number): ClientAddress | undefined {
  const zone = text.indexOf('%', start);
  const last = zone < 0 || zone > end ? end : zone;
  if (last === start || !readGroups(text, start, last)) return undefined;
  const mapped = mappedIpv4();
  if (mapped >= 0) return ipv4Address(mapped);
  const network = `${hexAt(0)}:${hexAt(1)}:${hexAt(2)}:${hexAt(3)}::/64`;
  return { address: text.slice(start, last).toLowerCase(), network };
}

/** Whether the text is digits of a port, from `start` to its end. */
function isPort(text: string, start: number): boolean {
  const digitCount = text.length - start;
  if (digitCount < 1 || digitCount > PORT_DIGITS_MAX) return false;
  for (let i = start; i < text.length; i++) {
    const digit = text.charCodeAt(i) - ZERO;
    if (digit < 0 || digit > 9) return false;
  }
  return true;
}

/** Whether an IPv4 address is already spelled as shown: without leading zeros. */
const isPlain = (text: string, bits: number): boolean => text.length === ipv4Length(bits);

const octetLength = (octet: number): number => (octet < 10 ? 1 : octet < 100 ? 2 : OCTET_DIGITS_MAX);
const ipv4Length = (bits: number): number =>
  octetLength(bits >>> 24) +
  octetLength((bits >>> 16) & 0xff) +
  octetLength((bits >>> 8) & 0xff) +
  octetLength(bits & 0xff) +
  (OCTET_COUNT - 1);

/** Parses the address of a client; undefined for any other text. */
export function parseClientAddress(text: string): ClientAddress | undefined {
  const { length } = text;
  if (length === 0 || length > TEXT_LENGTH_MAX) return undefined;
  if (text.startsWith('[')) {
    const close = text.indexOf(']');
    if (close < 0) return undefined;
    const isEnded = close === length - 1 || (text.charCodeAt(close + 1) === COLON && isPort(text, close + 2));
    return isEnded ? parseIpv6(text, 1, close) : undefined;
  }
  const colon = text.indexOf(':');
  if (colon >= 0 && text.indexOf(':', colon + 1) >= 0) return parseIpv6(text, 0, length);
  if (colon >= 0 && !isPort(text, colon + 1)) return undefined;
  const bits = ipv4Of(text, 0, colon < 0 ? length : colon);
  if (bits < 0) return undefined;
  return isPlain(text, bits) ? { address: text, network: text } : ipv4Address(bits);
}

/**
 * The network of a client address, for callers that need no more.
 * @param address text of another form, such as the empty text of an unknown client, is returned unchanged; text that a client
 *   can choose must go through {@link parseClientAddress} instead
 */
export function clientNetworkOf(address: string): string {
  return parseClientAddress(address)?.network ?? address;
}
