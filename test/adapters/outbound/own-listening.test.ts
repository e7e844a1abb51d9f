import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { listeningRanges } from '../../../src/adapters/outbound/own-listening.ts';
import { isInRange, parseIp } from '../../../src/base/ip-address.ts';

const reaches = (host: string, address: string): boolean => {
  const ip = parseIp(address);
  return ip !== undefined && listeningRanges(host).some((range) => isInRange(ip, range));
};

describe('where a server listens', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '127.9.9.9', true],
    ['127.0.0.1', '0.0.0.0', true],
    ['127.0.0.1', '::1', true],
    ['127.0.0.1', '::', true],
    ['127.0.0.1', '192.0.2.7', false],
    ['192.0.2.7', '192.0.2.7', true],
    ['192.0.2.7', '192.0.2.8', false],
    ['192.0.2.7', '192.0.2.6', false],
    ['2001:db8::7', '2001:db8::7', true],
    ['2001:db8::7', '2001:db8::8', false],
    ['2001:db8::7', '2001:db8::6', false],
  ])('with HOST=%s includes %s: %s', (host, address, expected) => {
    expect(reaches(host, address)).toBe(expected);
  });

  it.each(['0.0.0.0', '::', 'localhost'])('with HOST=%s includes every address of the machine', (host) => {
    const addresses = Object.values(networkInterfaces()).flatMap((ones) => (ones ?? []).map(({ address }) => address));
    for (const address of addresses) expect(reaches(host, address.replace(/%.*/, '')), address).toBe(true);
    expect(reaches(host, '192.0.2.7')).toBe(false);
  });
});
