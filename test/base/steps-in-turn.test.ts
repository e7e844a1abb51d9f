import { expect, it } from 'vitest';
import { StepsInTurn } from '../../src/base/steps-in-turn.ts';

it('runs the steps of a key one after another, whatever one came to, and forgets the key then', async () => {
  const steps = new StepsInTurn<string>();
  const log: string[] = [];
  const step =
    (name: string, fails = false) =>
    async (): Promise<string> => {
      log.push(`${name} begins`);
      await undefined;
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const results = [steps.run('a', step('a1', true)), steps.run('a', step('a2')), steps.run('b', step('b1'))];
  expect(log).toEqual(['a1 begins', 'b1 begins']);
  expect(steps.has('a')).toBe(true);
  expect(await Promise.allSettled(results)).toMatchObject([
    { status: 'rejected' },
    { status: 'fulfilled', value: 'a2' },
    { status: 'fulfilled', value: 'b1' },
  ]);
  expect(log.filter((line) => line.startsWith('a'))).toEqual(['a1 begins', 'a1 ends', 'a2 begins', 'a2 ends']);
  await undefined;
  expect([steps.has('a'), steps.has('b')]).toEqual([false, false]);
});
