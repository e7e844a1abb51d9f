import { describe, expect, it } from 'vitest';
import { ANSWERED_TURN_MS } from '../../../src/adapters/listen/limits.ts';
import { TurnShare } from '../../../src/adapters/listen/turn-share.ts';

describe('the share of a turn', () => {
  it('is used up by slow answers, and there again in the next turn', async () => {
    let nowMs = 0;
    const turn = new TurnShare({ monotonicMs: () => nowMs });
    const used = (count: number, eachMs: number): boolean[] =>
      Array.from({ length: count }, () => {
        nowMs += eachMs;
        return turn.isUsedUp();
      });
    expect(used(500, ANSWERED_TURN_MS / 600)).not.toContain(true);
    expect(used(32, ANSWERED_TURN_MS).at(-1)).toBe(true);
    expect(turn.isUsedUp()).toBe(true);
    await Promise.all([turn.next(), turn.next()]);
    expect(used(500, ANSWERED_TURN_MS / 600)).not.toContain(true);
  });

  it('does not add up requests of many turns', async () => {
    let nowMs = 0;
    const turn = new TurnShare({ monotonicMs: () => nowMs });
    for (let i = 0; i < 40; i++) {
      nowMs += ANSWERED_TURN_MS;
      expect(turn.isUsedUp()).toBe(false);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
});
