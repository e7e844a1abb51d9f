import { describe, expect, it } from 'vitest';
import { ClientShare } from '../../src/payment/client-share.ts';

const takeAll = (share: ClientShare, client: string): (() => void)[] => {
  const held: (() => void)[] = [];
  for (let one = share.tryTake(client); one !== undefined; one = share.tryTake(client)) held.push(one);
  return held;
};

describe('slots shared among clients', () => {
  it('are half of all for one client, a quarter for the next, and there is one left for a third', () => {
    const share = new ClientShare(16);
    expect(takeAll(share, '192.0.2.1')).toHaveLength(8);
    expect(takeAll(share, '192.0.2.2')).toHaveLength(4);
    expect(share.tryTake('192.0.2.3')).toBeDefined();
  });

  it('are never more than there are, from any number of clients', () => {
    const share = new ClientShare(16);
    let count = 0;
    for (let client = 0; client < 100; client++) count += takeAll(share, `192.0.2.${client}`).length;
    expect(count).toBe(16);
    expect(share.tryTake('198.51.100.1')).toBeUndefined();
  });

  it('that a client still holds count after it released others', () => {
    const share = new ClientShare(16);
    const [first, second] = takeAll(share, '192.0.2.1');
    first?.();
    expect(share.heldBy('192.0.2.1')).toBe(7);
    second?.();
    expect(share.heldBy('192.0.2.1')).toBe(6);
    expect(takeAll(share, '192.0.2.1')).toHaveLength(2);
  });

  it('are counted to the last one that a client holds', () => {
    const share = new ClientShare(8);
    const releases = Array.from({ length: 3 }, () => share.tryTake('a')!);
    const counts = releases.map((release) => {
      release();
      return [share.heldBy('a'), share.count];
    });
    expect(counts).toEqual([
      [2, 2],
      [1, 1],
      [0, 0],
    ]);
  });

  it('are free again after their release', () => {
    const share = new ClientShare(4);
    for (let round = 0; round < 3; round++) {
      const held = takeAll(share, '192.0.2.1');
      expect(held).toHaveLength(2);
      for (const release of held) release();
    }
    expect(share.tryTake('192.0.2.2')).toBeDefined();
  });
});
