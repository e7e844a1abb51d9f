import { expect, it } from 'vitest';
import { lastKnown } from '../../../src/adapters/process/last-known.ts';

it('a measurement that fails is the last one, of which the first is made at once', () => {
  let read = (): number => 1;
  const failing = (): number => {
    throw new Error('EMFILE');
  };
  const measured = lastKnown(() => read());
  read = failing;
  expect(measured()).toBe(1);
  read = () => 2;
  expect(measured()).toBe(2);
  read = failing;
  expect(measured()).toBe(2);
});

it('passes on why the first one fails', () => {
  expect(() =>
    lastKnown(() => {
      throw new Error('EMFILE');
    }),
  ).toThrow('EMFILE');
});
