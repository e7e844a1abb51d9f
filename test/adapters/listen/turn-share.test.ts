import { describe, expect, it } from 'vitest';
import { ANSWERS_PER_TURN_MAX } from '../../../src/adapters/listen/limits.ts';
import { TurnShare } from '../../../src/adapters/listen/turn-share.ts';

describe('the share of a turn', () => {
  it('is used up by so many requests, and new in the next turn', async () => {
    const turn = new TurnShare();
    const used = (count: number): boolean[] => Array.from({ length: count }, () => turn.isUsedUp());
    expect(used(ANSWERS_PER_TURN_MAX)).not.toContain(true);
    expect(used(3)).toEqual([true, true, true]);
    let isNextTurn = false;
    setImmediate(() => {
      isNextTurn = true;
    });
    await Promise.all([turn.next(), turn.next()]);
    expect(isNextTurn).toBe(true);
    expect(used(ANSWERS_PER_TURN_MAX)).not.toContain(true);
  });
});
