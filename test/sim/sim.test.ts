/** A small share of the simulator with every test run; `npm run simulate` is the rest. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IS_WHOLE, partOf } from '../support/whole.ts';
import { neverMet } from './invariants.ts';
import { playRun } from './run.ts';

const small = { purchaseCount: 20, signing: 'marks', disk: 'model' } as const;

/** Whoever asks the machine for time or chance makes a run that nobody can repeat. */
const ambient = { now: Date.now, random: Math.random, performanceNow: performance.now };
const forbidden = (): never => {
  throw new Error('time and chance are handed in');
};

describe('the simulator', () => {
  it.each(IS_WHOLE ? [1, 2, 3, 4, 5, 6, 7, 8] : [1, 2])('keeps every invariant in the run of seed %i', async (seed) => {
    const { violation, counts } = await playRun(seed, small);
    expect(violation).toBeUndefined();
    expect(counts.get('paid requests answered')).toBeGreaterThan(0);
  });

  it.each(IS_WHOLE ? [31, 33, 36] : [31])('keeps those of retries and resolves in the run of seed %i', async (seed) => {
    const { violation, counts } = await playRun(seed, { ...small, mix: 'outbound' });
    expect(violation).toBeUndefined();
    expect(counts.get('attempts of retries')).toBeGreaterThan(0);
    expect(counts.get('fetches of resolves')).toBeGreaterThan(0);
  });

  it('keeps them over the real database, which keeps what the model keeps', async () => {
    const { violation, counts } = await playRun(21, { ...small, disk: 'both' });
    expect(violation).toBeUndefined();
    expect(counts.get('starts compared with the real database')).toBeGreaterThan(0);
  });

  it('keeps them with real signatures', async () => {
    const { violation, counts } = await playRun(22, { ...small, purchaseCount: 10, signing: 'keys' });
    expect(violation).toBeUndefined();
    expect(counts.get('purchases answered')).toBeGreaterThan(0);
  });

  it.runIf(IS_WHOLE)(
    'puts every invariant to the test in some of twenty long runs',
    async () => {
      const totals = new Map<string, number>();
      for (let seed = 101; seed <= 120; seed++) {
        const { violation, counts } = await playRun(seed, {
          ...small,
          purchaseCount: 200,
          disk: seed === 101 ? 'both' : 'model',
        });
        expect(violation).toBeUndefined();
        for (const [name, count] of counts) totals.set(name, (totals.get(name) ?? 0) + count);
      }
      expect(neverMet(import.meta.dirname, totals)).toEqual([]);
    },
    300_000,
  );

  describe('without the machine’s clock and chance', () => {
    beforeEach(() => {
      Date.now = forbidden;
      Math.random = forbidden;
      performance.now = forbidden;
    });
    afterEach(() => {
      Date.now = ambient.now;
      Math.random = ambient.random;
      performance.now = ambient.performanceNow;
    });

    it('plays the same run again from the same seed, and another one from another', async () => {
      const asked = { ...small, purchaseCount: partOf(20, 8) };
      const first = await playRun(7, asked);
      const again = await playRun(7, asked);
      const other = await playRun(8, asked);
      expect(again.traceHash).toBe(first.traceHash);
      expect(again.lastLines).toEqual(first.lastLines);
      expect(other.traceHash).not.toBe(first.traceHash);
    });
  });
});
