import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLoopback, NetworkCounts } from '../../../src/adapters/listen/network-counts.ts';
import { type InFlight, RequestsInFlight } from '../../../src/adapters/listen/requests-in-flight.ts';

describe('loopback', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.255.0.9', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['128.0.0.1', false],
    ['12.7.0.1', false],
    ['::12', false],
    ['2001:db8::1', false],
  ])('%s: %s', (address, expected) => {
    expect(isLoopback(address)).toBe(expected);
  });
});

describe('counts of client networks', () => {
  it('has one maximum for each network, and one /64 of IPv6 is one network', () => {
    const counts = new NetworkCounts(2);
    const [a, b] = ['2001:db8::1', '192.0.2.1'].map((address) => counts.countedNetworkOf(address)!);
    expect(counts.countedNetworkOf('2001:db8::ffff')).toBe(a);
    expect([counts.tryAdd(a!), counts.tryAdd(a!), counts.tryAdd(a!), counts.tryAdd(b!)]).toEqual([
      true,
      true,
      false,
      true,
    ]);
    counts.remove(a!);
    expect([counts.isFull(a!), counts.tryAdd(a!), counts.isFull(a!)]).toEqual([false, true, true]);
  });

  it.each([
    ['loopback', 1, '127.0.0.1'],
    ['an unknown address', 1, ''],
    ['any address where the rule is off', 0, '192.0.2.1'],
  ])('does not count %s', (_, countMax, address) => {
    expect(new NetworkCounts(countMax).countedNetworkOf(address)).toBeUndefined();
  });
});

describe('requests in flight of client networks', () => {
  const client = (address: string) => ({ address });

  it('is crowded for a network with its maximum in flight, until one is answered, and for no other', () => {
    const requests = new RequestsInFlight(new NetworkCounts(2), 2);
    const first = requests.begin(client('192.0.2.1'))!;
    expect(requests.isCrowded(client('192.0.2.1'))).toBe(false);
    requests.begin(client('192.0.2.1'));
    expect(requests.isCrowded(client('192.0.2.1'))).toBe(true);
    expect(requests.isCrowded(client('192.0.2.2'))).toBe(false);
    expect(requests.isCrowded(client('127.0.0.1'))).toBe(false);
    requests.end(first);
    expect(requests.isCrowded(client('192.0.2.1'))).toBe(false);
  });

  it('reads no address while no network can have reached its maximum', () => {
    const requests = new RequestsInFlight(new NetworkCounts(3), 3);
    const unread = {
      get address(): string {
        throw new Error('read');
      },
    };
    const first = requests.begin(unread)!;
    requests.begin(client('192.0.2.1'));
    expect(requests.isCrowded(unread)).toBe(false);
    requests.end(first);
    requests.begin(client('192.0.2.1'));
    expect(requests.isCrowded(unread)).toBe(false);
    requests.begin(client('192.0.2.1'));
    expect(() => requests.isCrowded(unread)).toThrow('read');
    expect(new RequestsInFlight(new NetworkCounts(0), 0).begin(unread)).toBeUndefined();
  });

  it('counts as if every client were looked up when its request comes', () => {
    const addresses = fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2', '127.0.0.1', '');
    const networkOf = (address: string): string => address.replace(/^2001:db8::.*/, '2001:db8::/64');
    const step = fc.oneof(fc.record({ from: addresses }), fc.record({ ends: fc.nat(100) }));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 100 }), (countMax, steps) => {
        const requests = new RequestsInFlight(new NetworkCounts(countMax), countMax);
        const open: { readonly network: string; readonly request: InFlight }[] = [];
        for (const one of steps) {
          if ('ends' in one) {
            const [ended] = open.splice(one.ends % Math.max(1, open.length), 1);
            if (ended !== undefined) requests.end(ended.request);
            continue;
          }
          const network = networkOf(one.from);
          const isCounted = network !== '' && network !== '127.0.0.1';
          const count = open.filter((other) => other.network === network).length;
          expect(requests.isCrowded(client(one.from))).toBe(isCounted && count >= countMax);
          if (!isCounted || count < countMax) open.push({ network, request: requests.begin(client(one.from))! });
        }
      }),
    );
  });
});
