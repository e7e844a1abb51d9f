/** Held waits and the webhooks that wake them, over connections whose replies a test gives. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EVENT_COUNT_MAX } from '../../src/callback/limits.ts';
import type { Reply } from '../../src/load/connection.ts';
import type { Pool } from '../../src/load/pool.ts';
import { Recorder } from '../../src/load/recorder.ts';
import { Requests } from '../../src/load/requests.ts';
import type { Target } from '../../src/load/target.ts';
import { WaitOperation } from '../../src/load/wait-operation.ts';
import { ManualTime } from '../support/manual-time.ts';

const TIMEOUT_MS = 10_000;
const EVENT = `evt_${'0'.repeat(32)}`;

const answered = (body: object): Reply => ({
  kind: 'answer',
  status: 200,
  head: '',
  body: Buffer.from(JSON.stringify(body)),
});
const STORED = answered({ received: true, event_id: EVENT });
const WOKEN = answered({ received: true, event: { id: EVENT } });

/** Replies that a pool still owes, oldest first. */
function fakePool() {
  const owed: ((reply: Reply) => void)[] = [];
  const paths: string[] = [];
  const send = (text: string, onReply: (reply: Reply) => void): void => {
    paths.push(text.split(' ')[1]!);
    owed.push(onReply);
  };
  return { pool: { send } as unknown as Pool, owed, paths };
}

function opened(callbackCount: number) {
  const hooks = fakePool();
  const waits = fakePool();
  const recorder = new Recorder(60_000);
  recorder.begin(0);
  const requests = new Requests({ basePath: '', hostHeader: 'server.example' } as Target);
  const callbacks = Array.from({ length: callbackCount }, (_, i) => ({ id: `cb_${i}`, authorization: 'Bearer x' }));
  const operation = new WaitOperation(
    { pool: hooks.pool, requests, clock: new ManualTime(), recorder },
    { callbacks, waitPool: waits.pool, waitCount: 2, waitsPerCallback: 2, timeoutMs: TIMEOUT_MS },
  );
  operation.hold();
  const outcomes = (): string[] =>
    recorder.seen.map(({ kind, outcome, latencies }) => `${kind} ${outcome} ${latencies.count}`).sort();
  return { operation, hooks: hooks.owed, waits: waits.owed, paths: waits.paths, outcomes };
}

describe('the waits of a load test', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([true, false])('are opened again once a webhook has woken them (its answer came first: %s)', (isFirst) => {
    const { hooks, operation, outcomes, waits } = opened(1);
    const ends: string[] = [];
    expect([waits.length, operation.readiness()]).toEqual([2, 'ready']);
    operation.start(0, (ending) => ends.push(ending));
    expect(operation.readiness()).toBe('busy');
    if (isFirst) hooks[0]!(STORED);
    for (const reply of waits.splice(0)) reply(WOKEN);
    if (!isFirst) {
      expect(ends).toEqual([]);
      hooks[0]!(STORED);
    }
    expect([ends, waits.length, operation.readiness()]).toEqual([['answered'], 2, 'ready']);
    expect(outcomes()).toEqual(['wait 200 2', 'webhook 200 1']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that nothing woke in time are counted once, whatever comes later, and another callback replaces theirs', () => {
    const { hooks, operation, outcomes, paths, waits } = opened(2);
    const ends: string[] = [];
    operation.start(0, (ending) => ends.push(ending));
    vi.advanceTimersByTime(TIMEOUT_MS);
    for (const reply of waits.splice(0)) reply(WOKEN);
    hooks[0]!(STORED);
    expect([ends, waits.length, operation.readiness()]).toEqual([['answered'], 2, 'ready']);
    expect(outcomes()).toEqual(['wait NOT_WOKEN 2', 'webhook 200 1']);
    expect(paths.map((path) => /cb_\d/.exec(path)?.[0])).toEqual(['cb_0', 'cb_0', 'cb_1', 'cb_1']);
  });

  it('are sent again without a word where their time ended, and behind the event that they gave', () => {
    const { hooks, operation, outcomes, paths, waits } = opened(1);
    for (const reply of waits.splice(0)) reply(answered({ received: false }));
    expect([waits.length, outcomes()]).toEqual([2, []]);
    operation.start(0, () => {});
    hooks[0]!(STORED);
    for (const reply of waits.splice(0)) reply(WOKEN);
    expect(paths.map((path) => path.split('after=')[1])).toEqual(['', '', '', '', EVENT, EVENT]);
  });

  it('leave a callback for another after its tenth event', () => {
    const { hooks, operation, paths, waits } = opened(2);
    for (let i = 0; i < EVENT_COUNT_MAX; i++) {
      operation.start(0, () => {});
      hooks[i]!(STORED);
      for (const reply of waits.splice(0)) reply(WOKEN);
    }
    expect(paths.filter((path) => path.includes('/cb_0/'))).toHaveLength(2 * EVENT_COUNT_MAX);
    expect(paths.slice(-2).every((path) => path.includes('/cb_1/'))).toBe(true);
  });

  it.each<[string, Reply, Reply, string]>([
    [
      'gave another event',
      STORED,
      answered({ received: true, event: { id: EVENT.replace('0', '1') } }),
      '200 WRONG_EVENT',
    ],
    ['gave what is no event', STORED, answered({ received: true }), '200 WRONG_EVENT'],
    ['were refused', STORED, { ...WOKEN, status: 503 } as Reply, '503'],
    ['broke off', STORED, { kind: 'failure', code: 'ECONNRESET' }, 'ECONNRESET'],
  ])('that %s are not as expected, whichever answer came first', (_, stored, woken, outcome) => {
    for (const isFirst of [true, false]) {
      const { hooks, operation, outcomes, waits } = opened(1);
      operation.start(0, () => {});
      if (isFirst) hooks[0]!(stored);
      for (const reply of waits.splice(0)) reply(woken);
      if (!isFirst) hooks[0]!(stored);
      expect(outcomes()).toEqual([`wait ${outcome} 2`, 'webhook 200 1']);
    }
  });

  it('of a callback whose webhook was refused are given up, and without another nothing is left', () => {
    const { hooks, operation, outcomes, waits } = opened(1);
    operation.start(0, () => {});
    hooks[0]!({ ...answered({}), status: 500 } as Reply);
    expect([operation.readiness(), waits.length]).toEqual(['used-up', 2]);
    for (const reply of waits.splice(0)) reply({ kind: 'failure', code: 'CLOSED' });
    expect(outcomes()).toEqual(['webhook 500 1']);
  });

  it('that fail before their webhook are replaced, once for all waits of a callback', () => {
    const { operation, outcomes, paths, waits } = opened(3);
    for (const reply of waits.splice(0)) reply({ kind: 'failure', code: 'ECONNRESET' });
    expect([operation.readiness(), waits.length]).toEqual(['ready', 2]);
    expect(paths.map((path) => /cb_\d/.exec(path)?.[0])).toEqual(['cb_0', 'cb_0', 'cb_1', 'cb_1']);
    for (const reply of waits.splice(0)) reply(WOKEN); // by what nobody sent
    expect(paths.slice(4).every((path) => path.includes('/cb_2/'))).toBe(true);
    expect([waits.length, outcomes()]).toEqual([2, ['wait 200 UNSENT_EVENT 2', 'wait ECONNRESET 1']]);
  });

  it('that fail before their webhook make their callback no choice for one', () => {
    const { operation, outcomes, waits } = opened(1);
    waits[0]!({ kind: 'failure', code: 'ECONNRESET' });
    expect([operation.readiness(), outcomes()]).toEqual(['used-up', ['wait ECONNRESET 1']]);
  });
});
