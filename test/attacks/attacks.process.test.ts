/**
 * Each attack of the network, for a few seconds, on both runtimes, with an honest customer from another address beside it:
 * the server lives, its memory stays within the bound of the plan, nine of ten honest answers come within a second, and
 * every honest request is answered as it should be (reliability 202, 208, 210, 213). `npm run attack` is the long run.
 */
import { describe, expect, it } from 'vitest';
import { RUNTIMES } from '../support/server.ts';
import { HEAVY_PLANS, LIGHT_PLANS } from './plans.ts';
import { brokenIn, type Plan, runTrial } from './trial.ts';

const ATTACK_MS = 3500;
const TIMEOUT_MS = 120_000;

/** The same trial on both runtimes, side by side. */
async function expectUnharmed(plan: Plan): Promise<void> {
  const broken = await Promise.all(
    RUNTIMES.map(async (runtime) => brokenIn(await runTrial(runtime, plan, ATTACK_MS), plan, runtime)),
  );
  expect(Object.fromEntries(RUNTIMES.map((runtime, i) => [runtime, broken[i]]))).toEqual({ node: [], bun: [] });
}

describe('an honest customer notices nothing of', () => {
  it.each(Object.entries<Plan>(HEAVY_PLANS))('%s', { timeout: TIMEOUT_MS }, (_, plan) => expectUnharmed(plan));
});

describe.concurrent('an honest customer notices nothing of', () => {
  it.each(Object.entries<Plan>(LIGHT_PLANS))('%s', { timeout: TIMEOUT_MS }, (_, plan) => expectUnharmed(plan));
});
