/**
 * Each attack of the network, for a few seconds, on both runtimes, with an honest customer from another address beside it:
 * the server lives, its memory stays within the bound of the plan, nine of ten honest answers come within a second, and
 * every honest request is answered as it should be (reliability 202, 208, 210, 213). `npm run attack` is the long run.
 */
import { describe, expect, it } from 'vitest';
import { RUNTIMES, type Runtime } from '../support/server.ts';
import { PLANS } from './plans.ts';
import { brokenIn, type Plan, runTrial } from './trial.ts';

const ATTACK_MS = 1500;
const TIMEOUT_MS = 120_000;

/** A trial that cannot run ends, too, before the test does: its processes must not outlive it. */
const brokenUnder = async (runtime: Runtime, plan: Plan): Promise<string[]> => {
  try {
    return brokenIn(await runTrial(runtime, plan, ATTACK_MS), plan, runtime);
  } catch (failure) {
    return [`the trial cannot run: ${String(failure)}`];
  }
};

/** The same trial on both runtimes, side by side. */
async function expectUnharmed(plan: Plan): Promise<void> {
  const [node, bun] = await Promise.all(RUNTIMES.map((runtime) => brokenUnder(runtime, plan)));
  expect({ node, bun }).toEqual({ node: [], bun: [] });
}

describe('an honest customer', () => {
  it.each(Object.entries<Plan>(PLANS))('notices nothing of %s', { timeout: TIMEOUT_MS }, (_, plan) =>
    expectUnharmed(plan),
  );
});
