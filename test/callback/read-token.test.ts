import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isSameDigest } from '../../src/base/digest.ts';
import { systemRandom } from '../../src/base/random.ts';
import { digestOf, newReadToken } from '../../src/callback/read-token.ts';
import { openInbox } from '../support/opened-inbox.ts';

describe('read tokens (reliability 130, 189)', () => {
  it('carry at least 256 bits after the contract’s prefix', () => {
    const token = newReadToken(systemRandom);
    expect(token).toMatch(/^svc_cb_sk_[A-Za-z0-9]+$/);
    expect((token.length - 'svc_cb_sk_'.length) * Math.log2(62)).toBeGreaterThanOrEqual(256);
  });

  it('do not repeat', () => {
    expect(new Set(Array.from({ length: 5_000 }, () => newReadToken(systemRandom))).size).toBe(5_000);
  });

  it('are digested with SHA-256', () => {
    const token = newReadToken(systemRandom);
    expect(Buffer.from(digestOf(token)).toString('hex')).toBe(createHash('sha256').update(token).digest('hex'));
  });

  it.each([0, 1, 31, 32, 33, 53, 54, 1_000, 10_000])(
    'compare without a fault when %i characters are sent',
    (length) => {
      const own = digestOf(newReadToken(systemRandom));
      expect(isSameDigest(own, digestOf('x'.repeat(length)))).toBe(false);
      expect(isSameDigest(own, own.slice())).toBe(true);
    },
  );

  it('differ in any single bit, the last one too', () => {
    const own = digestOf('token');
    for (let bit = 0; bit < 256; bit++) {
      const other = own.slice();
      other[bit >> 3]! ^= 1 << (bit & 7);
      expect(isSameDigest(own, other)).toBe(false);
    }
    expect(isSameDigest(own, own.slice(0, 31))).toBe(false);
  });
});

describe('wrong read tokens', () => {
  const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] as number;

  it('one wrong from the first character takes as long as one wrong in the last (reliability 190)', async () => {
    const { inbox, create } = openInbox();
    const { id, readToken } = await create();
    const first = `svc_cb_sk_${readToken[10] === 'x' ? 'y' : 'x'}${readToken.slice(11)}`;
    const last = `${readToken.slice(0, -1)}${readToken.endsWith('x') ? 'y' : 'x'}`;
    const time = (token: string): number => {
      let refused = 0;
      const started = performance.now();
      for (let i = 0; i < 20; i++) if (inbox.authorize(id, token).kind === 'wrong-token') refused++;
      const tookMs = performance.now() - started;
      expect(refused).toBe(20);
      return tookMs;
    };
    const [atFirst, atLast]: [number[], number[]] = [[], []];
    for (let round = 0; round < 600; round++) {
      // In turn, so that a busy moment meets both alike.
      atFirst.push(time(first));
      atLast.push(time(last));
    }
    const ratio = median(atFirst) / median(atLast);
    expect(ratio).toBeGreaterThan(0.8);
    expect(ratio).toBeLessThan(1.25);
  });
});
