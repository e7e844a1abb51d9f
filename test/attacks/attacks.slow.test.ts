/** Attacks that show only after a while: beyond the 8 s of a verification, and the 30 s of unread output. */
import { describe, expect, it } from 'vitest';
import { RUNTIMES } from '../support/server.ts';
import { LONG_PLANS } from './plans.ts';
import { brokenIn, type Plan, runTrial } from './trial.ts';

const ATTACK_MS = 35_000;
const TIMEOUT_MS = 180_000;

describe.each(RUNTIMES)('under %s an honest customer notices nothing of', (runtime) => {
  it.each(Object.entries<Plan>(LONG_PLANS))('%s', { timeout: TIMEOUT_MS }, async (_, plan) => {
    expect(brokenIn(await runTrial(runtime, plan, ATTACK_MS), plan, runtime)).toEqual([]);
  });
});
