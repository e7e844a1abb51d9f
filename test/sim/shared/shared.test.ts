/** A small share of the simulator of several processes; `npm run simulate:shared` is the rest. */
import { describe, expect, it } from 'vitest';
import { IS_WHOLE } from '../../support/whole.ts';
import { playSharedRun } from './run.ts';

describe('several processes on one modelled database', () => {
  let foundCount = 0;
  let againCount = 0;

  it.each(IS_WHOLE ? [1, 2, 3, 4, 5, 6, 7, 8] : [56])('keep every invariant in the run of seed %i', async (seed) => {
    const { violation, counts } = await playSharedRun(seed, { purchaseCount: IS_WHOLE ? 250 : 40 });
    expect(violation).toBeUndefined();
    expect(counts.get('sold')).toBeGreaterThan(0);
    foundCount += counts.get('waits that found an event') ?? 0;
    againCount += counts.get('answers given again') ?? 0;
  });

  it('wake waits in some of these runs', () => {
    expect(foundCount).toBeGreaterThan(0);
  });

  it('give answers again in some of these runs', () => {
    expect(againCount).toBeGreaterThan(0);
  });

  it.runIf(IS_WHOLE)('play the same run again from the same seed', async () => {
    const first = await playSharedRun(11, { purchaseCount: 60 });
    const again = await playSharedRun(11, { purchaseCount: 60 });
    expect(again.traceHash).toBe(first.traceHash);
  });
});
