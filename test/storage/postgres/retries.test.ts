/** Retry jobs of one process, over a database whose answers a test makes. */
import { describe, expect, it } from 'vitest';
import { newRetryId, type RetryId } from '../../../src/retry/identifier.ts';
import { cancel, newJob } from '../../../src/retry/job.ts';
import { HELD_RESULT_BYTES_MAX } from '../../../src/retry/limits.ts';
import { DEFAULT_POLICY } from '../../../src/retry/policy.ts';
import type { RetryRecord } from '../../../src/retry/store.ts';
import type { Row, Statement } from '../../../src/storage/postgres/connections.ts';
import { LATE_MS } from '../../../src/storage/postgres/database.ts';
import { StatementError } from '../../../src/storage/postgres/failures.ts';
import { PostgresRetries, type PostgresRetriesPorts } from '../../../src/storage/postgres/retries/retries.ts';
import { encodeJob } from '../../../src/storage/retry-record.ts';
import { Chance } from '../../support/chance.ts';
import { ManualTime } from '../../support/manual-time.ts';

type Answer = (values: readonly unknown[], onDoubt: () => void) => readonly Row[];

const time = new ManualTime();
const JOB = newJob(
  {
    ...{ id: newRetryId(new Chance(1)), customer: 'org:acme', organization: 'acme', tokenDigest: null },
    ...{ idempotency: null, policy: DEFAULT_POLICY, deadlineSeconds: 3600, hasCallback: false },
  },
  time.nowMs(),
);
const RECORD: RetryRecord = { job: JOB, secrets: null, resultBody: null };
const BUSY = { ...JOB, updatedAtMs: JOB.updatedAtMs + 1 };
const NOTHING_DUE = { id: null, is_full: false, after_ms: null, abandoned: [] };
const QUERY = { nowMs: 0, countMax: 10, bytesMax: 1000, without: [] };

const rowOf = (more: Row = {}, job = JOB): Row => ({
  ...{ id: job.id, customer: job.customer, key_digest: null, next_ms: job.dueAtMs, state: encodeJob(job) },
  ...{ secrets: null, result_body: null, holder: null, hold: null, version: 1, change_id: null, byte_count: 0 },
  ...more,
});

/** @param answers those of each statement, in their order; the last one stays */
function opened(answers: Record<string, Answer[]>) {
  const sent: [name: string, values: readonly unknown[]][] = [];
  const state: { fault: string | undefined } = { fault: undefined };
  const looks: (() => Promise<void>)[] = [];
  let renewedCount = 0;
  const ports = {
    clock: time,
    random: new Chance(2),
    database: {
      fault: () => state.fault,
      async run({ name = '', values = [] }: Statement, { onDoubt = () => {} }: { onDoubt?: () => void } = {}) {
        sent.push([name, values]);
        const own = answers[name] ?? [() => []];
        return (own.length > 1 ? own.shift()! : own[0]!)(values, onDoubt);
      },
    },
    owner: {
      ...{ id: 'p1', onLeaseLost: () => {}, renewLostLease: async () => void renewedCount++ },
      onLook: (look: () => Promise<void>) => looks.push(look),
    },
    accounts: { charge: () => Promise.reject(new StatementError('taken', '23505')) },
  } as unknown as PostgresRetriesPorts;
  const store = new PostgresRetries(ports);
  /** Takes the job, so that this process holds it. */
  const take = async (): Promise<void> => void (await store.takeDue(QUERY));
  const names = (): string[] => sent.splice(0).map(([name]) => name);
  const renewed = (): number => renewedCount;
  return { store, sent, state, names, take, renewed, look: () => Promise.all(looks.map((each) => each())) };
}

/** The hold of the only look so far. */
const holding = (): { TAKE: Answer; FOUND: Answer } => {
  let hold: unknown;
  return {
    TAKE: (values) => {
      hold = values[5];
      return [rowOf(), NOTHING_DUE];
    },
    FOUND: () => [rowOf({ hold })],
  };
};

describe('a change of a retry', () => {
  it('is decided once, although its answer was lost and it was made after all', async () => {
    let changeId: unknown;
    const { store, names } = opened({
      'find-retry': [() => [rowOf()], () => [rowOf({ change_id: changeId, version: 2 })]],
      'change-retry': [
        (values) => {
          changeId = values[3];
          return [{ is_changed: false }];
        },
      ],
    });
    let decidedCount = 0;
    const after = await store.updateByCustomer(JOB.id, () => {
      decidedCount++;
      return { job: BUSY };
    });
    expect([after?.job, decidedCount, names()]).toEqual([BUSY, 1, ['find-retry', 'change-retry', 'find-retry']]);
  });

  it('is decided again by what another has written, and by the truth where a memory changes nothing', async () => {
    const { TAKE, FOUND } = holding();
    const { store, names, take } = opened({
      'take-retries': [TAKE],
      'find-retry': [FOUND],
      'change-retry': [() => [{ is_changed: true }], () => [{ is_changed: false }], () => [{ is_changed: true }]],
    });
    await take();
    names();
    expect((await store.update(JOB.id, () => ({ job: BUSY })))?.job).toEqual(BUSY);
    expect(names()).toEqual(['find-retry', 'change-retry']);
    // Remembered at first, and refused: the record is read.
    expect((await store.update(JOB.id, () => ({ job: BUSY })))?.job).toEqual(BUSY);
    expect(names()).toEqual(['change-retry', 'find-retry', 'change-retry']);
    const seen: number[] = [];
    const undecided = (record: RetryRecord): undefined => void seen.push(record.job.updatedAtMs);
    expect(await store.update(JOB.id, undecided)).toBeUndefined();
    expect([seen, names()]).toEqual([[BUSY.updatedAtMs, JOB.updatedAtMs], ['find-retry']]);
  });

  it.each([
    [HELD_RESULT_BYTES_MAX, ['change-retry']],
    [HELD_RESULT_BYTES_MAX + 1, ['find-retry', 'change-retry']],
  ])('remembers a result of %d bytes or reads it again: %j', async (length, expected) => {
    const { TAKE, FOUND } = holding();
    const made: Answer = () => [{ is_changed: true }];
    const { store, names, take } = opened({ 'take-retries': [TAKE], 'find-retry': [FOUND], 'change-retry': [made] });
    await take();
    await store.update(JOB.id, () => ({ job: BUSY, resultBody: new Uint8Array(length) }));
    names();
    await store.update(JOB.id, () => ({ job: BUSY }));
    expect(names()).toEqual(expected);
  });

  it('is not made by a process that lost the hold of the job, nor of one that is gone', async () => {
    const { store, names, take } = opened({
      'take-retries': [() => [rowOf(), NOTHING_DUE]],
      'find-retry': [() => [rowOf({ hold: 'another' })], () => []],
    });
    await take();
    names();
    for (let i = 0; i < 2; i++) expect(await store.update(JOB.id, () => ({ job: BUSY }))).toBeUndefined();
    expect(names()).toEqual(['find-retry', 'find-retry']);
  });
});

describe('a hold', () => {
  /** What a change was made with: version, hold, whether its holder is to stop, and whose usage it counts. */
  const changeOf = ([, values]: readonly [string, readonly unknown[]]): unknown[] =>
    [1, 2, 10, 11].map((place) => values[place]);
  const change = () => ({ job: BUSY });
  const made: Answer = () => [{ is_changed: true }];

  it('is that of the work that took the job first, until it is released or set aside', async () => {
    const holds: unknown[] = [];
    const taken: Answer = (values) => {
      holds.push(values[5]);
      return [rowOf(), NOTHING_DUE];
    };
    const found: Answer = () => [rowOf({ hold: holds[0] })];
    const { store, sent, take } = opened({ 'take-retries': [taken], 'find-retry': [found], 'change-retry': [made] });
    for (let i = 0; i < 3; i++) await take();
    const heldWith = async (): Promise<unknown> => {
      await store.update(JOB.id, change);
      return changeOf(sent.at(-1)!)[1];
    };
    expect(await heldWith()).toBe(holds[0]);
    await store.release(JOB.id);
    expect(sent.at(-1)).toEqual(['release-retry', [JOB.id, holds.shift()]]);
    expect(await heldWith()).toBe(holds[0]);
    store.setAside(JOB.id);
    holds.shift();
    expect(await heldWith()).toBe(holds[0]);
    await store.release(JOB.id);
    expect(await heldWith()).toBeNull();
  });

  it('remembers what it wrote, and what is newer and read under it', async () => {
    const { TAKE, FOUND } = holding();
    const rows: Record<string, Row> = {
      own: {},
      older: { version: 1 },
      newer: { version: 5 },
      another: { version: 9 },
    };
    let shown = 'own';
    const found: Answer = (values) => [
      { ...FOUND(values, () => {})[0], ...rows[shown], ...(shown === 'another' && { hold: 'another' }) },
    ];
    const { store, sent, take } = opened({ 'take-retries': [TAKE], 'find-retry': [found], 'change-retry': [made] });
    await take();
    const version = async (): Promise<unknown> => {
      await store.update(JOB.id, change);
      return changeOf(sent.at(-1)!)[0];
    };
    const versions = [await version(), await version()];
    for (shown of ['older', 'newer', 'another']) {
      await store.find(JOB.id);
      versions.push(await version());
    }
    expect(versions).toEqual([1, 2, 3, 5, 6]);
  });

  it('needs the lease, and is ended by the customer who ends its job', async () => {
    const { TAKE, FOUND } = holding();
    const { store, sent, take, renewed } = opened({
      'take-retries': [TAKE],
      'find-retry': [FOUND],
      'change-retry': [made],
    });
    await take();
    const cancelled = cancel(JOB, time.nowMs())!;
    await store.updateByCustomer(JOB.id, () => ({ job: cancelled }));
    expect([changeOf(sent.at(-1)!).slice(1), renewed()]).toEqual([[null, true, null], 0]);
    await store.updateByCustomer(JOB.id, change);
    expect(changeOf(sent.at(-1)!).slice(1)).toEqual([null, false, null]);
    await store.update(JOB.id, () => ({ job: cancelled, attemptsMade: 1 }));
    expect([changeOf(sent.at(-1)!).slice(2), renewed()]).toEqual([[false, 'acme'], 1]);
  });
});

describe('a look for what is due', () => {
  it('frees what one whose answer was lost may have taken, as long as it may be late and once after that', async () => {
    const taken: Answer = (_, onDoubt) => {
      onDoubt();
      return [rowOf(), NOTHING_DUE];
    };
    const { store, sent, names, take } = opened({ 'take-retries': [taken, () => [NOTHING_DUE]] });
    await take();
    store.setAside('rt_aside' as RetryId);
    names();
    time.pass(LATE_MS - 1);
    await take();
    expect(sent[0]).toEqual(['free-stray-retries', ['p1', [JOB.id, 'rt_aside']]]);
    names();
    time.pass(1);
    await take();
    expect(names()).toEqual(['free-stray-retries', 'take-retries']);
    await take();
    expect(names()).toEqual(['take-retries']);
  });

  it('says when the next one is due, unless it was full, and what was ended elsewhere', async () => {
    const { store } = opened({
      'take-retries': [
        () => [{ ...NOTHING_DUE, after_ms: 7 }],
        () => [{ ...NOTHING_DUE, is_full: true, after_ms: 7, abandoned: [JOB.id] }],
      ],
    });
    expect(await store.takeDue(QUERY)).toEqual({ jobs: [], nextDueMs: 7 });
    expect(await store.takeDue(QUERY)).toEqual({ jobs: [], nextDueMs: undefined, abandoned: [JOB.id] });
  });

  it('and a purchase are refused while the clock or the database is not to be trusted', async () => {
    const { store, state, names } = opened({});
    state.fault = 'the clock is off';
    await expect(store.takeDue(QUERY)).rejects.toThrow('the clock is off');
    await expect(store.buy(RECORD, 1)).rejects.toThrow('the clock is off');
    expect(names()).toEqual([]);
  });
});

it('a creation that meets a record which is gone by then is made again, and a purchase that meets one says so', async () => {
  const { store, names } = opened({ 'create-retry': [() => [{ is_made: false }], () => [{ is_made: true }]] });
  expect(await store.create(RECORD)).toEqual({ kind: 'created' });
  expect(names()).toEqual(['create-retry', 'find-retry', 'create-retry']);
  expect(await store.buy(RECORD, 1)).toEqual({ kind: 'existing' });
});

it('a key that could not be released is released by the next look, once', async () => {
  const away: Answer = () => {
    throw new Error('away');
  };
  const { store, sent, look, names } = opened({ 'release-retry-key': [away, () => []] });
  await expect(store.releaseKey('key', 'claim')).rejects.toThrow('away');
  names();
  await look();
  await look();
  expect(sent.filter(([name]) => name === 'release-retry-key')).toEqual([['release-retry-key', ['key', 'p1 claim']]]);
});

it('a key is released by every look as long as a claim of it may be carried out late, and once after that', async () => {
  const claimed: Answer = (_, onDoubt) => {
    onDoubt();
    throw new Error('no answer');
  };
  const { store, look, names } = opened({ 'claim-retry-key': [claimed] });
  const released = (): number => names().filter((name) => name === 'release-retry-key').length;
  await expect(store.claimKey('key', 'claim')).rejects.toThrow('no answer');
  await look();
  expect(released()).toBe(0);
  await store.releaseKey('key', 'claim');
  time.pass(LATE_MS - 1);
  await look();
  await look();
  expect(released()).toBe(3);
  time.pass(1);
  await look();
  await look();
  expect(released()).toBe(1);
});
