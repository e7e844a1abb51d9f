import { describe, expect, it } from 'vitest';
import { parseClientAddress } from '../../src/base/client-network.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { expectEqual } from '../support/expect-equal.ts';

describe('the address of a client', () => {
  it('is the same client in every spelling, and read again it is itself', () => {
    const random = new SeededRandom(20_261_122);
    const below = (bound: number): number => random.bytes(1)[0]! % bound;
    const spelledGroup = (group: number): string => {
      const hex = group.toString(16).padStart(below(2) * 4, '0');
      return below(2) === 0 ? hex : hex.toUpperCase();
    };
    const spelled = (groups: readonly number[]): string => {
      const texts = groups.map(spelledGroup);
      // One run of zeros may be left out, anywhere.
      const from = below(8);
      let to = from;
      while (to < 8 && groups[to] === 0 && below(4) > 0) to++;
      if (to === from) return texts.join(':');
      return `${texts.slice(0, from).join(':')}::${texts.slice(to).join(':')}`;
    };
    for (let round = 0; round < 5000; round++) {
      const isMapped = below(3) === 0;
      const groups = Array.from({ length: 8 }, (_, i) => {
        if (isMapped && i < 6) return i === 5 ? 0xffff : 0;
        return below(2) === 0 ? 0 : below(256) * 256 + below(256);
      });
      const octets = groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]);
      const isV4 = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
      const network = isV4
        ? octets.join('.')
        : `${groups
            .slice(0, 4)
            .map((group) => group.toString(16))
            .join(':')}::/64`;
      const zone = ['', '%eth0', '%1'][below(3)]!;
      const texts = [spelled(groups) + zone, `[${spelled(groups)}${zone}]`, `[${spelled(groups)}]:${below(256)}`];
      if (isV4) texts.push(octets.map((octet) => String(octet).padStart(below(4), '0')).join('.'), `${network}:443`);
      for (const text of texts) {
        const parsed = parseClientAddress(text);
        expectEqual(parsed?.network, network, () => text);
        expectEqual(parseClientAddress(parsed!.address), parsed, () => text);
      }
    }
  });

  it('throws for no text whatever, and what it accepts names a network of one form', () => {
    const random = new SeededRandom(7);
    const alphabet = '0129afAF:.[]%x_- ,';
    for (let round = 0; round < 20_000; round++) {
      const text = [...random.bytes(round % 24)].map((byte) => alphabet[byte % alphabet.length]).join('');
      const parsed = parseClientAddress(text);
      if (parsed === undefined) continue;
      expect(parsed.network).toMatch(/^(\d{1,3}(\.\d{1,3}){3}|[0-9a-f]{1,4}(:[0-9a-f]{1,4}){3}::\/64)$/);
      expect(parsed.address).toMatch(/^[0-9a-f:.]+$/);
    }
  });
});
