/** Answers of a turn of the loop written together, on time that the test moves. */
import { describe, expect, it } from 'vitest';
import { AT_ONCE_COUNT, GATHERED_COUNT_MAX, GATHERED_MS } from '../../../src/adapters/listen/limits.ts';
import { TurnEnd } from '../../../src/adapters/listen/turn-end.ts';
import { ManualTime } from '../../support/manual-time.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `a${i}`);

function setUp() {
  const time = new ManualTime();
  const written: string[] = [];
  const end = new TurnEnd<string>((answer) => written.push(answer), time);
  return {
    time,
    written,
    end,
    /** A turn with more answers than are written at once; forgets them. */
    async passBusyTurn() {
      for (const name of names(AT_ONCE_COUNT + 1)) end.write(name);
      await turn();
      written.length = 0;
    },
  };
}

describe('the end of a turn', () => {
  it('writes the first few answers at once, and the others in their order', async () => {
    const { end, written } = setUp();
    const all = names(AT_ONCE_COUNT + 3);
    for (const name of all) end.write(name);
    expect(written).toEqual(all.slice(0, AT_ONCE_COUNT));
    await turn();
    expect(written).toEqual(all);
    await turn();
    expect(written).toEqual(all);
  });

  it('writes all answers together after a turn with many, and the first at once again after one with few', async () => {
    const { end, written, passBusyTurn } = setUp();
    await passBusyTurn();
    for (const name of ['a', 'b']) end.write(name);
    expect(written).toEqual([]);
    await turn();
    expect(written).toEqual(['a', 'b']);
    end.write('c');
    expect(written).toEqual(['a', 'b', 'c']);
  });

  it('runs tasks before, and writes their answers with the others', async () => {
    const { end, written, passBusyTurn } = setUp();
    await passBusyTurn();
    end.write('a');
    end.run(() => {
      expect(written).toEqual([]);
      end.write('b');
    });
    await turn();
    expect(written).toEqual(['a', 'b']);
  });

  it('keeps a task that a task leaves for the next turn', async () => {
    const { end, written } = setUp();
    end.run(() => end.run(() => end.write('a')));
    await turn();
    expect(written).toEqual([]);
    await turn();
    expect(written).toEqual(['a']);
  });

  it('does not wait once there are many', async () => {
    const { end, written, passBusyTurn } = setUp();
    await passBusyTurn();
    for (const name of names(GATHERED_COUNT_MAX - 1)) end.write(name);
    expect(written).toHaveLength(0);
    end.write('last');
    expect(written).toHaveLength(GATHERED_COUNT_MAX);
    end.write('next');
    expect(written).toHaveLength(GATHERED_COUNT_MAX);
    await turn();
    expect(written.at(-1)).toBe('next');
  });

  it.each([
    { passedMs: GATHERED_MS - 0.1, count: 0 },
    { passedMs: GATHERED_MS, count: 2 },
  ])('has written $count when another answer comes $passedMs ms after the first', async ({ passedMs, count }) => {
    const { end, time, written, passBusyTurn } = setUp();
    await passBusyTurn();
    end.write('a');
    time.pass(passedMs);
    end.write('b');
    expect(written).toHaveLength(count);
  });

  it('has written the answer too when a handler without one took that time', async () => {
    const { end, time, written, passBusyTurn } = setUp();
    await passBusyTurn();
    end.look();
    end.write('a');
    time.pass(GATHERED_MS - 0.1);
    end.look();
    expect(written).toEqual([]);
    time.pass(0.1);
    end.look();
    expect(written).toEqual(['a']);
  });

  it('counts that time from the first answer that is not written yet', async () => {
    const { end, time, written, passBusyTurn } = setUp();
    await passBusyTurn();
    end.write('a');
    end.flush();
    time.pass(GATHERED_MS);
    end.write('b');
    end.write('c');
    expect(written).toEqual(['a']);
  });
});
