import { expect, it } from 'vitest';
import { lastKnown } from '../../../src/adapters/process/last-known.ts';

it('a measurement that fails is the last one, and before the first it throws', () => {
  let read = (): number => {
    throw new Error('EMFILE');
  };
  const measured = lastKnown(() => read());
  expect(() => measured()).toThrow('EMFILE');
  const failing = read;
  read = () => 1;
  expect(measured()).toBe(1);
  read = failing;
  expect(measured()).toBe(1);
  read = () => 2;
  expect(measured()).toBe(2);
});
