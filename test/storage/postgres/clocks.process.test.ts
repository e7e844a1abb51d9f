/** Processes of one database whose clocks differ from the database's (siblings §9). */
import { describe, expect, it } from 'vitest';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { CLAIM_BYTES, LIFETIME_MS } from '../../../src/callback/limits.ts';
import { newRetryId } from '../../../src/retry/identifier.ts';
import { newJob } from '../../../src/retry/job.ts';
import { DEFAULT_POLICY } from '../../../src/retry/policy.ts';
import type { RetryRecord } from '../../../src/retry/store.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/backend.ts';
import { Chance } from '../../support/chance.ts';
import { client } from '../../support/opened-inbox.ts';
import { SERVER, testDatabase } from '../../support/postgres-database.ts';
import { SALES_KEPT_MS } from '../../support/sale.ts';

const MINUTES_MS = 300_000;
const chance = new Chance(1);

const openingAt = (databaseUrl: string, aheadMs: number): Promise<Backend> =>
  openPostgresBackend(
    { databaseUrl, sync: 'normal', callbackBytes: CLAIM_BYTES, play: undefined, salesKeptMs: SALES_KEPT_MS },
    {
      clock: { nowMs: () => systemClock.nowMs() + aheadMs, monotonicMs: () => systemClock.monotonicMs() },
      timers: systemTimers,
      random: chance,
      onFault() {},
      onCallbackFault() {},
    },
  );

const jobDueIn = (waitMs: number): RetryRecord => {
  const draft = {
    id: newRetryId(chance),
    customer: 'org:acme',
    organization: 'acme',
    tokenDigest: null,
    idempotency: null,
    policy: DEFAULT_POLICY,
    deadlineSeconds: 60,
    hasCallback: false,
  };
  return { job: newJob(draft, systemClock.nowMs() + waitMs), secrets: null, resultBody: null };
};

const lookAt = (aheadMs: number) => ({
  nowMs: systemClock.nowMs() + aheadMs,
  countMax: 10,
  bytesMax: 1000,
  without: [],
});

describe.skipIf(SERVER === undefined)('a process whose clock is minutes off', () => {
  it.each([MINUTES_MS, -MINUTES_MS])('makes and takes no retries (%i ms)', async (aheadMs) => {
    const { url, remove } = await testDatabase(SERVER!);
    const right = await openingAt(url, 0);
    const off = await openingAt(url, aheadMs);
    await right.accounts.grant({ organization: 'acme', kind: 'onboarding', amount: 10, expiresAtMs: null });

    await expect(off.retries.buy(jobDueIn(0), 1)).rejects.toThrow('the clock of this machine is');
    expect(await right.retries.buy(jobDueIn(0), 1)).toEqual({ kind: 'charged', remaining: 9 });
    await expect(off.retries.takeDue(lookAt(aheadMs))).rejects.toThrow('the clock of this machine is');
    expect((await right.retries.takeDue(lookAt(0))).jobs).toHaveLength(1);

    await off.close();
    await right.close();
    await remove();
  });

  it('takes no retry early before it knows that its clock was put ahead', async () => {
    const { url, remove } = await testDatabase(SERVER!);
    const backend = await openingAt(url, 0);
    await backend.retries.create(jobDueIn(60_000));
    expect((await backend.retries.takeDue(lookAt(MINUTES_MS))).jobs).toEqual([]);
    await backend.close();
    await remove();
  });

  it("ends a wait after its timeout, though a clock ahead of the database's says that its callback ends first", async () => {
    const { url, remove } = await testDatabase(SERVER!);
    const off = await openingAt(url, LIFETIME_MS + MINUTES_MS);
    const { id, readToken } = await off.callbacks.create(off.callbacks.draft());
    const authorized = await off.callbacks.authorize(id, readToken);
    if (authorized.kind !== 'allowed') throw new Error(authorized.kind);
    expect(await off.callbacks.wait(authorized.callback, null, 100, client(), { woken() {} })).toEqual({
      kind: 'timed-out',
    });
    await off.close();
    await remove();
  });
});
