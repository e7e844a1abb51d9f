/**
 * The addresses that are not public (siblings §5): every row of the IANA IPv4 and IPv6 Special-Purpose Address Registries, the
 * blocks of the IANA IPv4 and IPv6 Address Space registries that are not unicast or not allocated, and 168.63.129.16. A
 * narrower range is listed before the range that contains it, so that a refusal names the narrowest. Rows that the registries
 * call globally reachable (anycast services of the network itself) are refused too: no customer has a server there.
 */
import { type IpAddress, type IpRange, isInRange, parseIpRange } from '../base/ip-address.ts';

export interface RangeRule {
  /** As parsed by {@link parseIpRange}; the rule's name. */
  readonly cidr: string;
  readonly what: string;
  /** The document that reserves the range. */
  readonly source: string;
}

/** An IPv6 address that stands for IPv4 addresses: it is public when all of them are. */
export interface EmbeddingRule extends RangeRule {
  /** The embedded IPv4 addresses, 32 bits each. */
  readonly embedded: (bits: bigint) => readonly bigint[];
}

export interface AddressRules {
  readonly ranges: readonly RangeRule[];
  readonly embeddings: readonly EmbeddingRule[];
}

const range = (cidr: string, what: string, source: string): RangeRule => ({ cidr, what, source });

const IPV4: readonly RangeRule[] = [
  range('0.0.0.0/8', 'this network', 'RFC 791 §3.2, RFC 1122 §3.2.1.3'),
  range('10.0.0.0/8', 'private', 'RFC 1918'),
  range('100.64.0.0/10', 'shared address space of carriers', 'RFC 6598'),
  range('127.0.0.0/8', 'loopback', 'RFC 1122 §3.2.1.3'),
  range('168.63.129.16/32', 'platform services of Azure', 'Microsoft: What is IP address 168.63.129.16?'),
  range('169.254.0.0/16', 'link-local', 'RFC 3927'),
  range('172.16.0.0/12', 'private', 'RFC 1918'),
  range('192.0.0.0/29', 'IPv4 service continuity prefix', 'RFC 7335'),
  range('192.0.0.8/32', 'IPv4 dummy address', 'RFC 7600'),
  range('192.0.0.9/32', 'Port Control Protocol anycast', 'RFC 7723'),
  range('192.0.0.10/32', 'TURN anycast', 'RFC 8155'),
  range('192.0.0.170/31', 'NAT64/DNS64 discovery', 'RFC 8880, RFC 7050 §2.2'),
  range('192.0.0.0/24', 'IETF protocol assignments', 'RFC 6890 §2.1'),
  range('192.0.2.0/24', 'documentation', 'RFC 5737'),
  range('192.31.196.0/24', 'AS112', 'RFC 7535'),
  range('192.52.193.0/24', 'multicast tunnels (AMT)', 'RFC 7450'),
  range('192.88.99.2/32', '6a44 relay anycast', 'RFC 6751'),
  range('192.88.99.0/24', '6to4 relay anycast', 'RFC 7526'),
  range('192.168.0.0/16', 'private', 'RFC 1918'),
  range('192.175.48.0/24', 'AS112', 'RFC 7534'),
  range('198.18.0.0/15', 'benchmarking', 'RFC 2544'),
  range('198.51.100.0/24', 'documentation', 'RFC 5737'),
  range('203.0.113.0/24', 'documentation', 'RFC 5737'),
  range('224.0.0.0/4', 'multicast', 'RFC 5771'),
  range('255.255.255.255/32', 'limited broadcast', 'RFC 8190, RFC 919 §7'),
  range('240.0.0.0/4', 'reserved', 'RFC 1112 §4'),
];

/** Outside 2000::/3 nothing is global unicast (IANA IPv6 Address Space). */
const UNALLOCATED: readonly RangeRule[] = [
  '::/8',
  '100::/8',
  '200::/7',
  '400::/6',
  '800::/5',
  '1000::/4',
  '4000::/3',
  '6000::/3',
  '8000::/3',
  'a000::/3',
  'c000::/3',
  'e000::/4',
  'f000::/5',
  'f800::/6',
  'fe00::/9',
].map((cidr) => range(cidr, 'reserved', 'RFC 4291 §4, IANA IPv6 Address Space'));

const IPV6: readonly RangeRule[] = [
  range('::/128', 'unspecified', 'RFC 4291 §2.5.2'),
  range('::1/128', 'loopback', 'RFC 4291 §2.5.3'),
  range('::/96', 'IPv4-compatible, deprecated', 'RFC 4291 §2.5.5.1'),
  range('::ffff:0:0:0/96', 'IPv4-translated', 'RFC 2765 §2.1'),
  range('64:ff9b:1::/48', 'local-use NAT64', 'RFC 8215'),
  range('100::/64', 'discard only', 'RFC 6666'),
  range('100:0:0:1::/64', 'dummy prefix', 'RFC 9780'),
  range('2001:1::1/128', 'Port Control Protocol anycast', 'RFC 7723'),
  range('2001:1::2/128', 'TURN anycast', 'RFC 8155'),
  range('2001:1::3/128', 'DNS-SD SRP anycast', 'RFC 9665'),
  range('2001:2::/48', 'benchmarking', 'RFC 5180, RFC Errata 1752'),
  range('2001:3::/32', 'multicast tunnels (AMT)', 'RFC 7450'),
  range('2001:4:112::/48', 'AS112', 'RFC 7535'),
  range('2001:10::/28', 'ORCHID', 'RFC 4843'),
  range('2001:20::/28', 'ORCHIDv2', 'RFC 7343'),
  range('2001:30::/28', 'drone identifiers (DRIP)', 'RFC 9374'),
  range('2001::/23', 'IETF protocol assignments', 'RFC 2928'),
  range('2001:db8::/32', 'documentation', 'RFC 3849'),
  range('2620:4f:8000::/48', 'AS112', 'RFC 7534'),
  range('3ffe::/16', '6bone, returned', 'RFC 3701'),
  range('3fff::/20', 'documentation', 'RFC 9637'),
  range('5f00::/16', 'segment routing identifiers', 'RFC 9602'),
  range('fc00::/7', 'unique local', 'RFC 4193'),
  range('fe80::/10', 'link-local', 'RFC 4291 §2.5.6'),
  range('fec0::/10', 'site-local, deprecated', 'RFC 3879'),
  range('ff00::/8', 'multicast', 'RFC 4291 §2.7'),
  ...UNALLOCATED,
];

const low32 = (bits: bigint): bigint => bits & 0xffff_ffffn;

const MAPPED: EmbeddingRule = {
  cidr: '::ffff:0:0/96',
  what: 'IPv4-mapped',
  source: 'RFC 4291 §2.5.5.2',
  embedded: (bits) => [low32(bits)],
};

const EMBEDDINGS: readonly EmbeddingRule[] = [
  MAPPED,
  { cidr: '64:ff9b::/96', what: 'NAT64', source: 'RFC 6052 §2.1', embedded: (bits) => [low32(bits)] },
  { cidr: '2002::/16', what: '6to4', source: 'RFC 3056 §2', embedded: (bits) => [low32(bits >> 80n)] },
  {
    cidr: '2001::/32',
    what: 'Teredo',
    source: 'RFC 4380 §4',
    // The Teredo server, and the client with every bit inverted.
    embedded: (bits) => [low32(bits >> 64n), low32(~bits)],
  },
];

export const ADDRESS_RULES: AddressRules = { ranges: [...IPV4, ...IPV6], embeddings: EMBEDDINGS };

/** The IPv4 address of an IPv4-mapped address; other addresses unchanged. */
export const unmapped = (ip: IpAddress): IpAddress =>
  isInRange(ip, parsed(MAPPED.cidr)) ? { family: 4, bits: low32(ip.bits) } : ip;

/** @throws Error for text that is not a range: a bug in a table */
function parsed(cidr: string): IpRange {
  const result = parseIpRange(cidr);
  if (result === undefined) throw new Error(`${cidr} is no range of addresses`);
  return result;
}

/** Why an address is not public: the rule's name and one line. */
export interface AddressRefusal {
  readonly rule: string;
  readonly reason: string;
}

/** Judges addresses by a table that it parses once. Cost: a pass over the ranges, a few microseconds. */
export class AddressJudge {
  readonly #ranges: readonly (RangeRule & { readonly range: IpRange })[];
  readonly #embeddings: readonly (EmbeddingRule & { readonly range: IpRange })[];

  constructor({ ranges, embeddings }: AddressRules = ADDRESS_RULES) {
    this.#ranges = ranges.map((rule) => ({ ...rule, range: parsed(rule.cidr) }));
    this.#embeddings = embeddings.map((rule) => ({ ...rule, range: parsed(rule.cidr) }));
  }

  /** undefined: the address is public. */
  refusalOf(ip: IpAddress): AddressRefusal | undefined {
    const embedding = this.#embeddingOf(ip);
    if (embedding !== undefined) {
      for (const bits of embedding.embedded(ip.bits)) {
        const inner = this.#inRange({ family: 4, bits });
        if (inner === undefined) continue;
        const { cidr, what, source } = embedding;
        return { rule: cidr, reason: `${cidr} is ${what} (${source}), and in it ${inner.reason}` };
      }
      return undefined;
    }
    return this.#inRange(ip);
  }

  /** The addresses that a connection to this one may reach: itself, or those that it embeds. */
  meantBy(ip: IpAddress): readonly IpAddress[] {
    return (
      this.#embeddingOf(ip)
        ?.embedded(ip.bits)
        .map((bits) => ({ family: 4, bits })) ?? [ip]
    );
  }

  #embeddingOf(ip: IpAddress): EmbeddingRule | undefined {
    return this.#embeddings.find((rule) => isInRange(ip, rule.range));
  }

  #inRange(ip: IpAddress): AddressRefusal | undefined {
    const found = this.#ranges.find((rule) => isInRange(ip, rule.range));
    if (found === undefined) return undefined;
    return { rule: found.cidr, reason: `${found.cidr} is ${found.what} (${found.source})` };
  }
}
