import { describe, expect, it } from 'vitest';
import { NetworkCounts } from '../../../src/adapters/listen/network-counts.ts';
import { RequestsInFlight } from '../../../src/adapters/listen/requests-in-flight.ts';

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
  const unread = {
    get address(): string {
      throw new Error('read');
    },
  };
  const unanswered = (): Promise<void> => new Promise(() => {});

  it('is crowded for a network with its maximum in flight, until one is answered, and for no other', async () => {
    const requests = new RequestsInFlight(2);
    let answer: (value: unknown) => void = () => {};
    requests.hold(client('192.0.2.1'), () => new Promise((resolve) => (answer = resolve)));
    expect(requests.isCrowded(client('192.0.2.1'))).toBe(false);
    requests.hold(client('192.0.2.1'), unanswered);
    expect(requests.isCrowded(client('192.0.2.1'))).toBe(true);
    expect(requests.isCrowded(client('192.0.2.2'))).toBe(false);
    expect(requests.isCrowded(client('127.0.0.1'))).toBe(false);
    answer(undefined);
    await Promise.resolve();
    expect(requests.isCrowded(unread)).toBe(false);
    requests.hold(client('192.0.2.2'), unanswered);
    expect(requests.isCrowded(client('192.0.2.1'))).toBe(false);
  });

  it('reads no address while no network can have reached its maximum', () => {
    const requests = new RequestsInFlight(2);
    requests.hold(client('192.0.2.1'), unanswered);
    expect(requests.isCrowded(unread)).toBe(false);
    const unbounded = new RequestsInFlight(0);
    unbounded.hold(unread, unanswered);
    expect(unbounded.isCrowded(unread)).toBe(false);
  });

  it('leaves the promise of a request that is not counted unmade', () => {
    const unmade = (): never => {
      throw new Error('made');
    };
    new RequestsInFlight(0).hold(client('192.0.2.1'), unmade);
    const requests = new RequestsInFlight(1);
    requests.hold(client('127.0.0.1'), unmade);
    requests.hold(client('192.0.2.1'), unanswered);
    expect(requests.isCrowded(client('192.0.2.1'))).toBe(true);
    requests.hold(client('192.0.2.1'), unmade);
  });
});
