import { describe, expect, it } from 'vitest';
import { clientNetworkOf } from '../../src/base/client-network.ts';

describe('the network of a client', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7', 'an IPv4 address is one client'],
    ['::ffff:192.0.2.7', '192.0.2.7', 'and so it is on a socket of both kinds'],
    ['::FFFF:192.0.2.7', '192.0.2.7', 'in any case'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', 'a host with one address of a /64 can use all'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64', 'leading zeros and case say nothing'],
    ['2001:db8::1', '2001:db8:0:0::/64', 'left-out groups are zeros'],
    ['2001:db8::', '2001:db8:0:0::/64', 'at the end too'],
    ['2001:db8::5:6:7:8', '2001:db8:0:0::/64', 'two groups are left out here'],
    ['::1', '0:0:0:0::/64', 'the loopback'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64', 'a zone says nothing'],
    ['64:ff9b::192.0.2.33', '64:ff9b:0:0::/64', 'an embedded IPv4 address stands for two groups'],
    ['1::2::3', '1::2::3', 'what is no address stands for itself'],
    ['1:2', '1:2', 'nor is this one'],
    ['', '', 'an unknown client'],
    ['unknown', 'unknown', 'a proxy may say so'],
  ])('of %j is %j: %s', (address, network) => {
    expect(clientNetworkOf(address)).toBe(network);
  });

  it('tells neighbours apart', () => {
    expect(clientNetworkOf('192.0.2.7')).not.toBe(clientNetworkOf('192.0.2.8'));
    expect(clientNetworkOf('2001:db8:1:2::1')).not.toBe(clientNetworkOf('2001:db8:1:3::1'));
  });
});
