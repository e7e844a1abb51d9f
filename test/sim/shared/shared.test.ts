/** A small share of the simulator of several processes; `npm run simulate:shared` is the rest. */
import { describe, expect, it } from 'vitest';
import { IS_WHOLE } from '../../support/whole.ts';
import { neverMet } from '../invariants.ts';
import { playSharedRun } from './run.ts';

describe('several processes on one modelled database', () => {
  const totals = new Map<string, number>();

  it.each(IS_WHOLE ? [1, 2, 3, 4, 7, 8, 14, 18] : [56])('keep every invariant in the run of seed %i', async (seed) => {
    const { violation, counts } = await playSharedRun(seed, { purchaseCount: IS_WHOLE ? 250 : 40 });
    expect(violation).toBeUndefined();
    expect(counts.get('sold')).toBeGreaterThan(0);
    for (const [name, count] of counts) totals.set(name, (totals.get(name) ?? 0) + count);
  });

  it('wake waits in some of these runs', () => {
    expect(totals.get('waits that found an event')).toBeGreaterThan(0);
  });

  it('give answers again in some of these runs', () => {
    expect(totals.get('answers given again')).toBeGreaterThan(0);
  });

  it.runIf(IS_WHOLE)('put every invariant to the test in some of these runs', () => {
    expect(neverMet(import.meta.dirname, totals)).toEqual([]);
  });

  it.runIf(IS_WHOLE)('play the same run again from the same seed', async () => {
    const first = await playSharedRun(11, { purchaseCount: 60 });
    const again = await playSharedRun(11, { purchaseCount: 60 });
    expect(again.traceHash).toBe(first.traceHash);
  });
});
