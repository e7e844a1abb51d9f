/** Held waits and the webhooks that wake them, over connections whose replies a test gives. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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
  const pool = { send: (_: string, onReply: (reply: Reply) => void) => owed.push(onReply) } as unknown as Pool;
  return { pool, owed };
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
  return { operation, hooks: hooks.owed, waits: waits.owed, outcomes };
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
    const { hooks, operation, outcomes, waits } = opened(2);
    const ends: string[] = [];
    operation.start(0, (ending) => ends.push(ending));
    vi.advanceTimersByTime(TIMEOUT_MS);
    for (const reply of waits.splice(0)) reply(WOKEN);
    hooks[0]!(STORED);
    expect([ends, waits.length, operation.readiness()]).toEqual([['answered'], 2, 'ready']);
    expect(outcomes()).toEqual(['wait NOT_WOKEN 2', 'webhook 200 1']);
  });
});
