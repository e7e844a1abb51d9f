/** What waits for turns of the loop: in its order, no more than so many in one, and each turn is a new one. */
import { describe, expect, it } from 'vitest';
import { Turns } from '../../src/base/turns.ts';

/** Turns that come when the test says so; gives who ran in each. */
function turnsOf(perTurn: number) {
  const soon: (() => void)[] = [];
  const ran: string[] = [];
  const turns = new Turns(perTurn, (run) => soon.push(run));
  return {
    asked: () => soon.length,
    take: (name: string, share = '') => void turns.take(share).then(() => ran.push(name)),
    async turn(): Promise<string> {
      const due = soon.splice(0);
      expect(due.length).toBeLessThanOrEqual(1);
      for (const run of due) run();
      await Promise.resolve();
      return ran.splice(0).join('');
    },
  };
}

describe.each([1, 3, 4, 10])('%i in a turn', (perTurn) => {
  it('run in their order, and a turn that nothing waits for is not asked for', async () => {
    const { asked, take, turn } = turnsOf(perTurn);
    const names = 'abcdefghij';
    for (const name of names) take(name);
    for (let at = 0; at < names.length; at += perTurn) expect(await turn()).toBe(names.slice(at, at + perTurn));
    expect(asked()).toBe(0);
    take('k');
    expect(await turn()).toBe('k');
  });
});

it('shares go round, however much one of them waits for', async () => {
  const { take, turn } = turnsOf(1);
  for (const name of 'abcdef') take(name, 'many');
  take('1', 'few');
  take('2', 'few');
  const ran = [];
  for (let i = 0; i < 8; i++) ran.push(await turn());
  expect(ran.join('')).toBe('a1b2cdef');
});

it('one that waits again while it runs waits for another turn', async () => {
  const { take, turn } = turnsOf(4);
  for (const name of 'abcdef') take(name);
  expect(await turn()).toBe('abcd');
  take('a');
  expect(await turn()).toBe('efa');
});

it('without a port, a turn is one of the loop', async () => {
  const turns = new Turns(1);
  let immediates = 0;
  const count = (): void => {
    immediates++;
    setImmediate(count);
  };
  setImmediate(count);
  const seen: number[] = [];
  await Promise.all([1, 2, 3].map(() => turns.take('').then(() => seen.push(immediates))));
  expect(new Set(seen).size).toBe(3);
});
