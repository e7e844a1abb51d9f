/** What a process does beside the statements of accounts: uses of keys, what it forgets, and the limits. */
import { describe, expect, it } from 'vitest';
import { newSecret } from '../../../src/accounts/key.ts';
import { GRANT_COUNT_MAX, KEY_COUNT_MAX, ORGANIZATION_COUNT_MAX } from '../../../src/accounts/limits.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { USES_PAUSE_MS } from '../../../src/storage/memory/stored-keys.ts';
import { PostgresAccounts } from '../../../src/storage/postgres/accounts/accounts.ts';
import { COUNTS, FORGET } from '../../../src/storage/postgres/accounts/statements.ts';
import type { Row, Statement } from '../../../src/storage/postgres/connections.ts';
import type { Database } from '../../../src/storage/postgres/database.ts';
import { DatabaseAwayError, StatementError } from '../../../src/storage/postgres/failures.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function opened(counts: Row = {}) {
  const time = new ManualTime();
  const startMs = time.nowMs() - (time.nowMs() % MINUTE_MS);
  const state = { isRefused: false, nowMs: startMs, failure: undefined as Error | undefined };
  const forgotten: string[] = [];
  /** Minutes of uses from the start on. */
  const noted: number[] = [];
  const database = {
    fault: () => undefined,
    async run({ name, text, values = [] }: Statement): Promise<readonly Row[]> {
      if (name === 'authenticate') {
        return [{ id: 'key_1', organization: 'acme', scopes: 'jobs:read', now_ms: state.nowMs }];
      }
      if (name === 'note-uses') {
        if (state.isRefused) throw new Error('refused');
        noted.push(...(values[1] as number[]).map((ms) => (ms - startMs) / MINUTE_MS));
      }
      if (state.failure !== undefined) throw state.failure;
      if (FORGET.some((one) => one.text === text)) forgotten.push(text);
      return text === COUNTS.text ? [counts] : [{ created_ms: 0 }];
    },
  } as unknown as Database;
  const accounts = new PostgresAccounts(true, {
    clock: time,
    timers: time,
    random: systemRandom,
    database,
    onFailure() {},
  });
  const { text } = newSecret(systemRandom);
  /** Uses the key so many minutes after the start. */
  const use = async (minutes: number): Promise<void> => {
    state.nowMs = startMs + minutes * MINUTE_MS;
    await accounts.authenticate(text);
  };
  const pass = async (ms: number): Promise<void> => {
    time.pass(ms);
    await settle();
  };
  return { accounts, forgotten, noted, pass, state, time, use };
}

describe('accounts of a process', () => {
  it('note the last use of a key, once for a minute of it', async () => {
    const { noted, pass, use } = opened();
    await use(0.1);
    await use(0.9);
    await use(2);
    expect(noted).toEqual([]);
    await pass(USES_PAUSE_MS);
    expect(noted).toEqual([2]);
    await pass(USES_PAUSE_MS);
    await use(3);
    await pass(USES_PAUSE_MS);
    expect(noted).toEqual([2, 3]);
  });

  it('note with the next use what was refused, and the rest at the end, which leaves no timer', async () => {
    const { accounts, noted, pass, state, time, use } = opened();
    state.isRefused = true;
    await use(1);
    await pass(USES_PAUSE_MS);
    state.isRefused = false;
    await use(4);
    await pass(USES_PAUSE_MS);
    expect(noted).toEqual([4]);
    await use(7);
    await accounts.close();
    expect(noted).toEqual([4, 7]);
    expect(time.pendingCount).toBe(0);
  });

  it('forget every hour what lapsed long ago, until the end', async () => {
    const { accounts, forgotten, pass } = opened();
    await pass(HOUR_MS);
    await pass(HOUR_MS);
    expect(forgotten).toEqual([...FORGET, ...FORGET].map(({ text }) => text));
    await accounts.close();
    await pass(HOUR_MS);
    expect(forgotten).toHaveLength(4);
  });

  it('are not changed while the database is away, nor by a bug, which is no outage', async () => {
    const { accounts, state } = opened();
    const changes = () => [
      accounts.createKey({ organization: 'acme', scopes: ['jobs:read'], expiresAtMs: null }),
      accounts.grant({ organization: 'acme', kind: 'onboarding', amount: 1, expiresAtMs: null }),
      accounts.revokeKey('key_1'),
    ];
    state.failure = new DatabaseAwayError('nobody listens');
    expect(await Promise.all(changes())).toEqual(Array(3).fill({ kind: 'unavailable', detail: 'nobody listens' }));
    state.failure = new StatementError('a bug', '42703');
    for (const change of changes()) await expect(change).rejects.toBe(state.failure);
    await accounts.close();
  });

  it.each<[number, string, Row]>([
    [-1, 'created, granted', { is_known: true, organizations: ORGANIZATION_COUNT_MAX }],
    [0, 'full, full', { is_known: true, organizations: 0 }],
    [-1, 'full, full', { is_known: false, organizations: ORGANIZATION_COUNT_MAX }],
    [-1, 'created, granted', { is_known: false, organizations: ORGANIZATION_COUNT_MAX - 1 }],
  ])('with %i keys and grants beside the most are %s: %j', async (beside, expected, organizations) => {
    const { accounts } = opened({ ...organizations, keys: KEY_COUNT_MAX + beside, grants: GRANT_COUNT_MAX + beside });
    const { kind } = await accounts.createKey({ organization: 'acme', scopes: ['jobs:read'], expiresAtMs: null });
    const granting = await accounts.grant({ organization: 'acme', kind: 'onboarding', amount: 1, expiresAtMs: null });
    expect(`${kind}, ${granting.kind}`).toBe(expected);
    await accounts.close();
  });
});
