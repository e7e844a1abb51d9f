/** When a load test sends, on a clock that disagrees with the timers; against servers see test/cli/load-pacing.test.ts. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import type { Kind } from '../../src/load/mix.ts';
import type { Operation, SendReadiness } from '../../src/load/operation.ts';
import { Pacing } from '../../src/load/pacing.ts';
import { Pool } from '../../src/load/pool.ts';
import { parseTarget } from '../../src/load/target.ts';

let pool: Pool | undefined;
afterEach(() => pool?.close());

/** Timers come at half the time that this clock has them at. */
const slowClock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() / 2 };

interface Paced {
  readonly pacing: Pacing;
  /** When each request was due, from the start. */
  readonly plannedMs: readonly number[];
}

function paced(rate: number | undefined, readiness: () => SendReadiness, inFlightMax = 1): Paced {
  const endpoint = { target: parseTarget('http://127.0.0.1:1'), address: '127.0.0.1' };
  pool = new Pool({ endpoint, clock: slowClock, connectionCountMax: 1, timeoutMs: 1_000 });
  const startMs = slowClock.monotonicMs();
  const plannedMs: number[] = [];
  const operation: Operation = {
    readiness,
    start(dueMs, onEnd) {
      plannedMs.push(dueMs - startMs);
      setTimeout(() => onEnd('answered'), 1);
    },
  };
  const pacing = new Pacing({
    rate,
    inFlightMax,
    startMs,
    endMs: startMs + 100,
    pool,
    clock: slowClock,
    operations: new Map<Kind, Operation>([['health', operation]]),
    nextKind: () => 'health',
  });
  return { pacing, plannedMs };
}

describe('pacing', () => {
  it('sends each request of an open loop at its time and ends, though every timer comes too early', async () => {
    const { pacing, plannedMs } = paced(100, () => 'ready');
    await pacing.run();
    expect(plannedMs.map(Math.round)).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    expect(pacing).toMatchObject({ sentCount: 10, isUsedUp: false });
  });

  it('ends a closed loop', async () => {
    const { pacing, plannedMs } = paced(undefined, () => 'ready', 3);
    await pacing.run();
    expect(plannedMs.slice(0, 3).every((ms) => ms < 50)).toBe(true);
    expect(pacing.sentCount).toBeGreaterThan(3);
  });

  it('ends when nothing is left, and while nothing is signed or all are busy', async () => {
    const usedUp = paced(100, () => 'used-up').pacing;
    await usedUp.run();
    expect(usedUp).toMatchObject({ sentCount: 0, isUsedUp: true });
    pool?.close();
    for (const readiness of ['unsigned', 'busy'] as const) {
      const { pacing } = paced(100, () => readiness);
      await pacing.run();
      const due: number[] = [];
      pacing.unsent(slowClock.monotonicMs(), (_, plannedMs) => due.push(plannedMs));
      expect(due).toHaveLength(10);
      expect(readiness === 'unsigned' ? pacing.unsignedMs : pacing.roomBlockedMs).toBeGreaterThan(90);
      pool?.close();
    }
  });

  it('stops when it is told to, and what was due by then is unsent', async () => {
    const { pacing } = paced(100, () => 'busy');
    const ended = pacing.run();
    setTimeout(() => pacing.stop(), 100);
    await ended;
    let unsentCount = 0;
    pacing.unsent(slowClock.monotonicMs(), () => unsentCount++);
    expect(unsentCount).toBeGreaterThanOrEqual(5);
  });
});
