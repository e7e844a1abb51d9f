/** What the runtime that runs this file says about its memory. */
import { expect, it } from 'vitest';
import { processMemory } from '../../../src/adapters/process/process-memory.ts';

const memory = processMemory()!;

it('measures resident memory and the heap with its limit', () => {
  const { residentBytes, heap } = memory.measure();
  expect(residentBytes).toBeGreaterThan(20_000_000);
  expect(heap!.usedBytes).toBeGreaterThan(1_000_000);
  expect(heap!.usedBytes).toBeLessThan(heap!.limitBytes);
});

it('collects garbage that would stay, and gives the collector to no other code', () => {
  let garbage: unknown[] | undefined = Array.from({ length: 1_000_000 }, (_, index) => ({ index }));
  const fullBytes = memory.measure().heap!.usedBytes;
  expect(garbage.length).toBe(1_000_000);
  garbage = undefined;
  memory.collect();
  expect(memory.measure().heap!.usedBytes).toBeLessThan(fullBytes - 20_000_000);
  expect('gc' in globalThis).toBe(false);
});
