/**
 * Judges "soon" on a busy machine: compares the fastest of a few runs with the slowest plain run at the same time. A
 * stall is slower by far more than the allowed factor.
 */
import { expect } from 'vitest';

const RUN_COUNT = 3;
const FACTOR_MAX = 20;

async function durationsMs(run: (index: number) => Promise<void>): Promise<number[]> {
  const durations: number[] = [];
  for (let index = 0; index < RUN_COUNT; index++) {
    const startMs = performance.now();
    await run(index);
    durations.push(performance.now() - startMs);
  }
  return durations;
}

/**
 * Runs `plain` and `judged` three times each; the best run of `judged` may take at most 20 times the worst of `plain`.
 */
export async function expectAtPaceOf(
  plain: (index: number) => Promise<void>,
  judged: (index: number) => Promise<void>,
): Promise<void> {
  const plainMs = Math.max(...(await durationsMs(plain)));
  const judgedMs = Math.min(...(await durationsMs(judged)));
  expect(judgedMs).toBeLessThan(FACTOR_MAX * plainMs);
}
