/** A job that is bought while the state does not say whether it is on record. */
import { expect, it, onTestFinished } from 'vitest';
import { OutageError, RecordInDoubtError } from '../../../src/base/outage.ts';
import { newRetryId } from '../../../src/retry/identifier.ts';
import { newJob } from '../../../src/retry/job.ts';
import { DEFAULT_POLICY } from '../../../src/retry/policy.ts';
import type { RetryRecord } from '../../../src/retry/store.ts';
import { MemoryAccounts } from '../../../src/storage/memory/accounts.ts';
import { StateDatabase } from '../../../src/storage/sqlite/database.ts';
import { SqliteRetryStore } from '../../../src/storage/sqlite/retry-store.ts';
import type { RetryOperation } from '../../../src/storage/sqlite/tables/retries.ts';
import { Chance } from '../../support/chance.ts';
import { ManualTime } from '../../support/manual-time.ts';

async function opened(failure: Error, isOnRecord: boolean) {
  const time = new ManualTime();
  const database = new StateDatabase({ path: ':memory:', sync: 'normal' });
  onTestFinished(() => database.close());
  const accounts = new MemoryAccounts({ clock: time, timers: time, random: new Chance(1) }, { isPlay: false });
  await accounts.grant({ organization: 'acme', kind: 'onboarding', amount: 10, expiresAtMs: null });
  const store = new SqliteRetryStore({
    clock: time,
    read: async (query) => database.read(query),
    async write(operation: RetryOperation) {
      if (isOnRecord) database.apply([operation]);
      throw failure;
    },
    accounts,
    recordsCharges: false,
  });
  const draft = {
    id: newRetryId(new Chance(2)),
    customer: 'org:acme',
    organization: 'acme',
    tokenDigest: null,
    idempotency: null,
    policy: DEFAULT_POLICY,
    deadlineSeconds: 3600,
    hasCallback: false,
  };
  const record: RetryRecord = { job: newJob(draft, time.nowMs()), secrets: null, resultBody: null };
  const remaining = async (): Promise<unknown> => accounts.charge('acme', 0);
  return { store, record, remaining };
}

const left = (remaining: number) => ({ kind: 'charged', remaining });

it('a job that is on record, which the state cannot confirm, is there and stays paid', async () => {
  const { store, record, remaining } = await opened(new RecordInDoubtError('power lost'), true);
  expect(await store.buy(record, 3)).toEqual({ kind: 'existing' });
  expect(await remaining()).toEqual(left(7));
});

it('a job that may be on record and is not is unavailable, and its credits stay taken', async () => {
  const { store, record, remaining } = await opened(new RecordInDoubtError('power lost'), false);
  expect(await store.buy(record, 3)).toEqual({ kind: 'unavailable', detail: 'power lost' });
  expect(await remaining()).toEqual(left(7));
});

it('a job that the state refuses is unavailable and costs nothing', async () => {
  const { store, record, remaining } = await opened(new OutageError('disk full'), false);
  expect(await store.buy(record, 3)).toEqual({ kind: 'unavailable', detail: 'disk full' });
  expect(await remaining()).toEqual(left(10));
});

it('a job that a bug keeps from its record costs nothing, and the bug is no job that is there', async () => {
  const { store, record, remaining } = await opened(new Error('a bug'), false);
  await expect(store.buy(record, 3)).rejects.toThrow('a bug');
  expect(await remaining()).toEqual(left(10));
});
