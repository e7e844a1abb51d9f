/**
 * IP addresses as numbers. IPv4 in four decimal octets, IPv6 in every spelling of RFC 4291 §2.2 without a zone and without
 * brackets. Spellings of IPv4 that only `URL` knows (hex, octal, fewer parts) are not accepted.
 */

/** All bits of an address, 32 for IPv4 or 128 for IPv6, the first bit highest. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

const GROUP_COUNT = 8;
const GROUP_DIGITS_MAX = 4;
const OCTET_COUNT = 4;
const OCTET_DIGITS_MAX = 3;

/** All ones in an IPv4-mapped address, zeros before it, the IPv4 address behind it. */
const MAPPED_GROUP = 5;

/** RFC 1122 §3.2.1.3, RFC 4291 §2.5.3. */
const LOOPBACK_OCTET = 127;
const LOOPBACK_GROUPS = [0, 0, 0, 0, 0, 0, 0, 1];

const DOT = 0x2e;
const COLON = 0x3a;
const ZERO = 0x30;

/** Scratch: the groups of 16 bits that {@link readGroups} read. */
const groups = new Uint16Array(GROUP_COUNT);

/** A group that {@link readGroups} read last. */
export const groupAt = (index: number): number => groups[index] as number; // index < GROUP_COUNT

/** Value of a hex digit, or -1. */
function hexDigitOf(code: number): number {
  const digit = code - ZERO;
  if (digit >= 0 && digit <= 9) return digit;
  const letter = (code | 0x20) - 0x61;
  return letter >= 0 && letter <= 5 ? letter + 10 : -1;
}

/** The 32 bits of an IPv4 address in decimal octets, or -1. */
export function ipv4Of(text: string, start: number, end: number): number {
  let bits = 0;
  let octet = 0;
  let octetCount = 0;
  let digitCount = 0;
  for (let i = start; i <= end; i++) {
    const code = i === end ? DOT : text.charCodeAt(i);
    if (code === DOT) {
      if (digitCount === 0 || octetCount === OCTET_COUNT) return -1;
      bits = bits * 256 + octet;
      octet = 0;
      octetCount++;
      digitCount = 0;
      continue;
    }
    const digit = code - ZERO;
    if (digit < 0 || digit > 9 || digitCount === OCTET_DIGITS_MAX) return -1;
    octet = octet * 10 + digit;
    digitCount++;
    if (octet > 255) return -1;
  }
  return octetCount === OCTET_COUNT ? bits : -1;
}

/** Moves the groups behind `::` to the end and fills the gap with zeros. @returns false when there is nothing to fill */
function expand(gap: number, count: number): boolean {
  if (gap < 0) return count === GROUP_COUNT;
  if (count === GROUP_COUNT) return false;
  groups.copyWithin(GROUP_COUNT - (count - gap), gap, count);
  groups.fill(0, gap, GROUP_COUNT - (count - gap));
  return true;
}

/** Reads an IPv6 address without a zone into {@link groups}. */
export function readGroups(text: string, start: number, end: number): boolean {
  let count = 0;
  let gap = -1;
  let i = start;
  if (text.startsWith('::', start)) {
    gap = 0;
    i += 2;
  }
  while (i < end) {
    if (count === GROUP_COUNT) return false;
    let group = 0;
    let at = i;
    for (let digit = 0; at < end; at++) {
      digit = hexDigitOf(text.charCodeAt(at));
      if (digit < 0) break;
      if (at - i === GROUP_DIGITS_MAX) return false;
      group = group * 16 + digit;
    }
    if (at === i) return false;
    if (at < end && text.charCodeAt(at) === DOT) {
      // An IPv4 address takes the last two groups.
      const bits = count > GROUP_COUNT - 2 ? -1 : ipv4Of(text, i, end);
      if (bits < 0) return false;
      groups[count++] = bits >>> 16;
      groups[count++] = bits & 0xffff;
      break;
    }
    groups[count++] = group;
    if (at === end) break;
    if (text.charCodeAt(at) !== COLON || at + 1 === end) return false;
    i = at + 1;
    if (text.charCodeAt(i) === COLON) {
      if (gap >= 0) return false;
      gap = count;
      i++;
    }
  }
  return expand(gap, count);
}

/** The IPv4 address that the groups of {@link readGroups} map (RFC 4291 §2.5.5.2), or -1. */
export function mappedIpv4(): number {
  for (let i = 0; i < MAPPED_GROUP; i++) if (groups[i] !== 0) return -1;
  return groups[MAPPED_GROUP] === 0xffff ? ((groupAt(MAPPED_GROUP + 1) << 16) | groupAt(MAPPED_GROUP + 2)) >>> 0 : -1;
}

/** Parses an address; undefined for any other text. Cost: one pass. */
export function parseIp(text: string): IpAddress | undefined {
  if (!text.includes(':')) {
    const bits = ipv4Of(text, 0, text.length);
    return bits < 0 ? undefined : { family: 4, bits: BigInt(bits) };
  }
  if (!readGroups(text, 0, text.length)) return undefined;
  let bits = 0n;
  for (const group of groups) bits = (bits << 16n) | BigInt(group);
  return { family: 6, bits };
}

/** The host of a URL as sockets and resolvers take it: IPv6 without brackets. */
export const bareHostOf = (hostname: string): string => (hostname.startsWith('[') ? hostname.slice(1, -1) : hostname);

/** The address that a host of a `URL` spells out; undefined for a name. */
export const literalOf = (hostname: string): IpAddress | undefined => parseIp(bareHostOf(hostname));

/** Whether an address is loopback: 127.0.0.0/8, also as IPv4-mapped IPv6, or ::1. A name is not. Cost: one pass. */
export function isLoopback(address: string): boolean {
  const { length } = address;
  if (!address.includes(':')) return ipv4Of(address, 0, length) >>> 24 === LOOPBACK_OCTET;
  if (!readGroups(address, 0, length)) return false;
  const mapped = mappedIpv4();
  return mapped < 0 ? groups.every((group, i) => group === LOOPBACK_GROUPS[i]) : mapped >>> 24 === LOOPBACK_OCTET;
}

/** Whether a host, in a setting or a `URL`, is `localhost` or a loopback address. */
export const isLoopbackHost = (host: string): boolean =>
  host.toLowerCase() === 'localhost' || isLoopback(bareHostOf(host));

/** The addresses that share their first `length` bits with `bits`. */
export interface IpRange extends IpAddress {
  readonly length: number;
}

const bitCountOf = ({ family }: IpAddress): number => (family === 4 ? 32 : 128);

/** Parses `10.0.0.0/8` or `fc00::/7`; undefined for other text, and when a bit beyond the prefix is set. */
export function parseIpRange(text: string): IpRange | undefined {
  const [, address = '', digits = ''] = /^([^/]+)\/(0|[1-9][0-9]{0,2})$/.exec(text) ?? [];
  const ip = parseIp(address);
  const length = Number(digits);
  if (ip === undefined || length > bitCountOf(ip)) return undefined;
  const rest = BigInt(bitCountOf(ip) - length);
  return (ip.bits >> rest) << rest === ip.bits ? { ...ip, length } : undefined;
}

export function isInRange(ip: IpAddress, range: IpRange): boolean {
  if (ip.family !== range.family) return false;
  const rest = BigInt(bitCountOf(ip) - range.length);
  return ip.bits >> rest === range.bits >> rest;
}
