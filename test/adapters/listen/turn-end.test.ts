/** Answers of a turn of the loop written together, on time that the test moves. */
import { describe, expect, it } from 'vitest';
import { GATHERED_COUNT_MAX, GATHERED_MS } from '../../../src/adapters/listen/limits.ts';
import { TurnEnd } from '../../../src/adapters/listen/turn-end.ts';
import { ManualTime } from '../../support/manual-time.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function setUp() {
  const time = new ManualTime();
  const written: string[] = [];
  const end = new TurnEnd<string>((answer) => written.push(answer), time);
  return { time, written, end };
}

describe('the end of a turn', () => {
  it('writes answers in their order, in the turn in which they came, and each once', async () => {
    const { end, written } = setUp();
    for (const answer of ['a', 'b']) end.write(answer);
    expect(written).toEqual([]);
    await turn();
    expect(written).toEqual(['a', 'b']);
    end.write('c');
    await turn();
    await turn();
    expect(written).toEqual(['a', 'b', 'c']);
  });

  it('runs tasks before, and writes their answers with the others', async () => {
    const { end, written } = setUp();
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
    const { end, written } = setUp();
    for (let i = 1; i < GATHERED_COUNT_MAX; i++) end.write(`${i}`);
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
  ])('has written $count when another answer comes $passedMs ms after the first', ({ passedMs, count }) => {
    const { end, time, written } = setUp();
    end.write('a');
    time.pass(passedMs);
    end.write('b');
    expect(written).toHaveLength(count);
  });

  it('counts that time from the first answer that is not written yet', () => {
    const { end, time, written } = setUp();
    end.write('a');
    end.flush();
    time.pass(GATHERED_MS);
    end.write('b');
    end.write('c');
    expect(written).toEqual(['a']);
  });
});
