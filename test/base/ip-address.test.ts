/** IP addresses and ranges, against the URL parser of the runtime and `net.BlockList`. */
import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInRange, isLoopback, isLoopbackHost, parseIp, parseIpRange } from '../../src/base/ip-address.ts';

const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
const ipv6 = fc.array(group, { minLength: 8, maxLength: 8 });
const ipv4 = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 });

const textOf = (groups: readonly number[]): string => groups.map((one) => one.toString(16)).join(':');

describe('an IP address', () => {
  it('has the same bits in every spelling of RFC 4291 (URL writes the shortest)', () => {
    fc.assert(
      fc.property(ipv6, (groups) => {
        const bits = groups.reduce((sum, one) => (sum << 16n) | BigInt(one), 0n);
        const long = groups.map((one) => one.toString(16).padStart(4, '0').toUpperCase()).join(':');
        const [high = 0, low = 0] = groups.slice(6);
        const tail = [high >> 8, high & 255, low >> 8, low & 255].join('.');
        const spellings = [
          textOf(groups),
          long,
          `${textOf(groups.slice(0, 6))}:${tail}`,
          new URL(`http://[${long}]/`).hostname.slice(1, -1),
        ];
        for (const text of spellings) expect(parseIp(text), text).toEqual({ family: 6, bits });
      }),
    );
  });

  it('is four decimal octets in IPv4', () => {
    fc.assert(
      fc.property(ipv4, (octets) => {
        const bits = octets.reduce((sum, octet) => (sum << 8n) | BigInt(octet), 0n);
        expect(parseIp(octets.join('.'))).toEqual({ family: 4, bits });
      }),
    );
  });

  it.each([
    '',
    'x',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '1.2.3.4 ',
    '0x7f.0.0.1',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    'fe80::1%eth0',
    '[::1]',
    '::ffff:1.2.3',
    '12345::',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8:9',
  ])('is not %j', (text) => {
    expect(parseIp(text)).toBeUndefined();
  });
});

describe('loopback', () => {
  it.each(['127.0.0.0', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::FFFF:7f00:1'])(
    'is the address %s',
    (address) => {
      expect(isLoopback(address)).toBe(true);
      expect(isLoopbackHost(address)).toBe(true);
    },
  );

  it.each([
    '',
    '0.0.0.0',
    '12.7.0.1',
    '126.255.255.255',
    '128.0.0.0',
    '127.0.0.256',
    '::',
    '::12',
    '::7f00:1',
    '::ffff:10.0.0.1',
    '2001:db8::1',
    '127.0.0.1.shop.example',
    'db.localhost',
  ])('is not %j', (host) => {
    expect(isLoopback(host)).toBe(false);
    expect(isLoopbackHost(host)).toBe(false);
  });

  it.each(['localhost', 'LocalHost', '[::1]', '[::ffff:7f00:1]'])('is the host %s, which is no address', (host) => {
    expect(isLoopback(host)).toBe(false);
    expect(isLoopbackHost(host)).toBe(true);
  });
});

describe('a range of IP addresses', () => {
  it('holds what net.BlockList says', () => {
    fc.assert(
      fc.property(ipv6, ipv6, fc.integer({ min: 0, max: 128 }), (base, other, length) => {
        const bits = parseIp(textOf(base))?.bits ?? 0n;
        const rest = BigInt(128 - length);
        const network = ((bits >> rest) << rest)
          .toString(16)
          .padStart(32, '0')
          .replace(/(.{4})(?!$)/g, '$1:');
        const range = parseIpRange(`${network}/${length}`);
        const oracle = new BlockList();
        oracle.addSubnet(network, length, 'ipv6');
        for (const groups of [base, other]) {
          const ip = parseIp(textOf(groups));
          if (range === undefined || ip === undefined) throw new Error(network);
          expect(isInRange(ip, range)).toBe(oracle.check(textOf(groups), 'ipv6'));
        }
      }),
    );
  });

  it.each([
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.1/8',
    '::/129',
    '::1/127',
    '10.0.0.0/08',
    '10.0.0.0/8/8',
    'x/8',
  ])('is not %j', (text) => {
    expect(parseIpRange(text)).toBeUndefined();
  });

  it('holds no address of the other family', () => {
    const range = parseIpRange('0.0.0.0/0');
    const ip = parseIp('::1');
    expect(range !== undefined && ip !== undefined && isInRange(ip, range)).toBe(false);
  });
});
