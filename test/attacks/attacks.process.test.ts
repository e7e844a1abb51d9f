/**
 * Each attack of the network, for a few seconds, with an honest customer from another address beside it:
 * the server lives, its memory stays within the bound of the plan, nine of ten honest answers come within a second, and
 * every honest request is answered as it should be (reliability 202, 208, 210, 213). `npm run attack` is the long run.
 */
import { describe, expect, it } from 'vitest';
import { oneRuntime, type Runtime } from '../support/server.ts';
import { IS_WHOLE } from '../support/whole.ts';
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

/** A smaller heap is Node's; the others take turns. */
const runtimesOf = ({ heapMegabytes }: Plan, index: number): readonly Runtime[] =>
  oneRuntime(heapMegabytes === undefined && index % 2 === 1 ? 'bun' : 'node');

const TRIALS = Object.entries<Plan>(PLANS)
  .filter(([, { isQuick }]) => IS_WHOLE || isQuick === true)
  .flatMap(([name, plan], i) => runtimesOf(plan, i).map((runtime) => ({ name, plan, runtime })));

describe('an honest customer', () => {
  it.each(TRIALS)('notices nothing of $name, under $runtime', { timeout: TIMEOUT_MS }, async ({ plan, runtime }) => {
    expect(await brokenUnder(runtime, plan)).toEqual([]);
  });
});
