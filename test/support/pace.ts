/**
 * "Soon", judged on a machine that others are busy on: the fastest of a few runs against the slowest plain one of the same
 * moment. What is a stall is slower by far more than a factor.
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

/** Runs `plain` and `judged` three times each; at its best `judged` takes at most 20 times the worst of `plain`. */
export async function expectAtPaceOf(
  plain: (index: number) => Promise<void>,
  judged: (index: number) => Promise<void>,
): Promise<void> {
  const plainMs = Math.max(...(await durationsMs(plain)));
  const judgedMs = Math.min(...(await durationsMs(judged)));
  expect(judgedMs).toBeLessThan(FACTOR_MAX * plainMs);
}
