/** The memory that the visits of a round share. */
import { expect, it } from 'vitest';
import { type FeedClaim, FeedMemory } from '../../../src/adapters/boards/feed-memory.ts';
import { settle } from '../../support/manual-time.ts';

const { signal } = new AbortController();

/** Takes bytes, and says whether that is done. */
function taking(claim: FeedClaim, bytes: number): { isDone: boolean } {
  const state = { isDone: false };
  void claim.take(bytes, signal).then(() => {
    state.isDone = true;
  });
  return state;
}

it('lets one visit alone go beyond the bound, and the others on as memory comes back', async () => {
  const memory = new FeedMemory(100);
  const [first, second, third] = [memory.claim(), memory.claim(), memory.claim()];
  await first.take(60, signal);
  await second.take(40, signal);
  // The first that does not fit goes beyond, and on.
  await second.take(500, signal);
  await second.take(1, signal);
  const waits = [taking(first, 1), taking(third, 1)];
  await settle();
  expect([waits.map(({ isDone }) => isDone), memory.bytes]).toEqual([[false, false], 601]);
  second.release();
  await settle();
  expect([waits.map(({ isDone }) => isDone), memory.bytes]).toEqual([[true, true], 62]);
  // None goes beyond now, so another may.
  await third.take(1000, signal);
  expect(memory.bytes).toBe(1062);
  third.release();
  first.release();
  expect(memory.bytes).toBe(0);
});

it('goes on for a visit that waits when another gives back what it does not keep', async () => {
  const memory = new FeedMemory(100);
  const [first, second, third] = [memory.claim(), memory.claim(), memory.claim()];
  await first.take(100, signal);
  await second.take(50, signal);
  const wait = taking(third, 20);
  second.giveBack(50);
  await settle();
  expect(wait.isDone).toBe(false);
  first.giveBack(20);
  await settle();
  expect([wait.isDone, memory.bytes]).toEqual([true, 100]);
});

it('ends the wait of a visit that is given up, which holds nothing of what it waited for', async () => {
  const memory = new FeedMemory(100);
  const [first, second, third] = [memory.claim(), memory.claim(), memory.claim()];
  await first.take(100, signal);
  await second.take(50, signal);
  const ending = new AbortController();
  const waiting = third.take(20, ending.signal);
  expect([first.hasWaited, third.hasWaited]).toEqual([false, true]);
  ending.abort(new Error('given up'));
  await expect(waiting).rejects.toThrow('given up');
  await expect(third.take(20, ending.signal)).rejects.toThrow('given up');
  first.release();
  expect(memory.bytes).toBe(50);
});
