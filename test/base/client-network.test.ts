import { describe, expect, it } from 'vitest';
import { clientNetworkOf, parseClientAddress } from '../../src/base/client-network.ts';

const V4 = '192.0.2.7';
const MAPPED = 'both kinds of socket';
/** Text, address, network (the address where absent), because. */
const ADDRESSES: readonly (readonly [text: string, address: string, network: string, because: string])[] = [
  ['192.0.2.7', V4, V4, 'an IPv4 address is one client'],
  ['192.0.2.7:5678', V4, V4, 'a port is not the client'],
  ['192.0.2.7:0', V4, V4, 'not even port 0'],
  ['192.000.002.007', V4, V4, 'leading zeros say nothing'],
  ['0.0.0.0', '0.0.0.0', '0.0.0.0', 'the least'],
  ['255.255.255.255:65535', '255.255.255.255', '255.255.255.255', 'the greatest'],
  ['::ffff:192.0.2.7', V4, V4, MAPPED],
  ['::FFFF:192.0.2.7', V4, V4, 'in any case'],
  ['::ffff:c000:207', V4, V4, 'in hexadecimal'],
  ['::ffff:c000:0207', V4, V4, 'with zeros'],
  ['0:0:0:0:0:ffff:192.0.2.7', V4, V4, 'expanded'],
  ['0000:0000:0000:0000:0000:FFFF:C000:0207', V4, V4, 'fully expanded'],
  ['0::0:0:ffff:192.000.2.07', V4, V4, 'half expanded'],
  ['[::ffff:192.0.2.7]:443', V4, V4, 'with a port'],
  ['::ffff:192.0.2.7%eth0', V4, V4, 'with a zone'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', 'a host can use all of its /64'],
  ['2001:0DB8:0001:0002::1', '2001:0db8:0001:0002::1', '2001:db8:1:2::/64', 'zeros and case say nothing'],
  ['2001:db8::1', '2001:db8::1', '2001:db8:0:0::/64', 'left-out groups are zeros'],
  ['2001:db8::', '2001:db8::', '2001:db8:0:0::/64', 'at the end too'],
  ['2001:db8::5:6:7:8', '2001:db8::5:6:7:8', '2001:db8:0:0::/64', 'two groups are left out here'],
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7::', '1:2:3:4::/64', 'one group is left out here'],
  ['::2:3:4:5:6:7:8', '::2:3:4:5:6:7:8', '0:2:3:4::/64', 'and here'],
  ['[2001:db8::1]', '2001:db8::1', '2001:db8:0:0::/64', 'brackets without a port'],
  ['[2001:db8::1]:443', '2001:db8::1', '2001:db8:0:0::/64', 'brackets with a port'],
  ['[fe80::1%eth0]:443', 'fe80::1', 'fe80:0:0:0::/64', 'a zone in brackets'],
  ['fe80::1%eth0', 'fe80::1', 'fe80:0:0:0::/64', 'a zone says nothing'],
  ['fe80::1%25:1', 'fe80::1', 'fe80:0:0:0::/64', 'whatever is in it'],
  ['::1', '::1', '0:0:0:0::/64', 'the loopback'],
  ['::', '::', '0:0:0:0::/64', 'the unspecified one'],
  ['64:ff9b::192.0.2.33', '64:ff9b::192.0.2.33', '64:ff9b:0:0::/64', 'an IPv4 address takes two groups'],
  ['::192.0.2.33', '::192.0.2.33', '0:0:0:0::/64', 'a compatible address is not a mapped one'],
  ['::1:ffff:192.0.2.7', '::1:ffff:192.0.2.7', '0:0:0:0::/64', 'nor is this'],
];

const NO_ADDRESSES = [
  ...['', ' ', 'unknown', '_hidden', '_SEVKISEK', 'localhost', 'example.com', '-', '"192.0.2.7"', '\u0000'],
  ...['192.0.2', '192.0.2.7.8', '192.0.2.256', '192.0.2.1000', '0xc0.0.2.7', '192.0.2.', '.192.0.2.7', '3221225991'],
  ...['192.0.2.7:', '192.0.2.7:x', '192.0.2.7:123456', '192.0.2.7:_a', '192.0.2.7%eth0', '192.0.2.7/24', '+1.0.0.1'],
  ...[':', ':::', '1:2', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7:', ':1:2:3:4:5:6:7'],
  ...[
    '1:2:3:4:5:6:7:8::',
    '::1:2:3:4:5:6:7:8',
    '2001:db8::12345',
    '2001:db8::g',
    '%eth0',
    '::ffff:192.0.2',
    '::1.2.3.4:5',
  ],
  ...['1:2:3:4:5:6:7:1.2.3.4', '1.2.3.4::', '[', '[]', '[::1', '[::1]x', '[::1]:', '[::1]:x', '[::1]:123456', '::1]'],
  ...[
    '[192.0.2.7]',
    '[192.0.2.7]:80',
    '[[::1]]',
    '[%eth0]',
    '١.0.0.1',
    `${'0'.repeat(95)}::1`,
    `fe80::1%${'e'.repeat(99)}`,
  ],
];

describe('the address of a client', () => {
  it.each(ADDRESSES)('%j is %s of %s: %s', (text, address, network) => {
    expect(parseClientAddress(text)).toEqual({ address, network });
    expect(clientNetworkOf(text)).toBe(network);
  });

  it.each(NO_ADDRESSES)('%j is none', (text) => {
    expect(parseClientAddress(text)).toBeUndefined();
    expect(clientNetworkOf(text)).toBe(text);
  });

  it('tells neighbours apart', () => {
    expect(clientNetworkOf('192.0.2.7')).not.toBe(clientNetworkOf('192.0.2.8'));
    expect(clientNetworkOf('2001:db8:1:2::1')).not.toBe(clientNetworkOf('2001:db8:1:3::1'));
  });
});
