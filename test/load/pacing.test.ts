/** When a load test sends, on a clock that disagrees with the timers; against servers see test/cli/load-pacing.process.test.ts. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import type { Kind } from '../../src/load/mix.ts';
import type { Ending, Operation, SendReadiness } from '../../src/load/operation.ts';
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
      expect(readiness === 'unsigned' ? pacing.unsignedMs : pacing.waitsBlockedMs).toBeGreaterThan(90);
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

/** A pacing at a hundred a second from 0 to 100 ms whose timers stand still: a test moves the clock, and pumps. */
function still(
  readinessOf: Partial<Record<Kind, () => SendReadiness>>,
  { rate = 100 as number | null, inFlightMax = 100 } = {},
) {
  const state = { nowMs: 0, hasRoom: true };
  const sent: string[] = [];
  const ends: ((ending: Ending) => void)[] = [];
  const kinds = Object.keys(readinessOf) as Kind[];
  let turn = 0;
  const start =
    (kind: Kind) =>
    (plannedMs: number, onEnd: (ending: Ending) => void): void => {
      sent.push(`${kind} ${plannedMs}`);
      ends.push(onEnd);
    };
  const pacing = new Pacing({
    ...{ rate: rate ?? undefined, inFlightMax, startMs: 0, endMs: 100 },
    pool: { hasRoom: () => state.hasRoom } as Pool,
    clock: { nowMs: () => 0, monotonicMs: () => state.nowMs },
    operations: new Map(kinds.map((kind) => [kind, { readiness: readinessOf[kind]!, start: start(kind) }])),
    nextKind: () => kinds[turn++ % kinds.length]!,
  });
  const at = (nowMs: number, hasRoom = true): string[] => {
    Object.assign(state, { nowMs, hasRoom });
    pacing.pump();
    return sent.splice(0);
  };
  const unsent = (nowMs = 100): string[] => {
    const found: string[] = [];
    pacing.unsent(nowMs, (kind, plannedMs) => found.push(`${kind} ${plannedMs}`));
    return found;
  };
  void pacing.run();
  return { pacing, at, ends, sent, unsent };
}

const ready = (): SendReadiness => 'ready';

describe('the account of a pacing', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('has as its own lag only the delay since a connection was free', () => {
    const { at, pacing } = still({ health: ready });
    expect(at(13)).toEqual(['health 0', 'health 10']);
    expect(pacing.lag.at(100)).toBe(3000);
    expect(at(20, false)).toEqual([]);
    expect(at(55, false)).toEqual([]);
    expect(at(60)).toEqual(['health 20', 'health 30', 'health 40', 'health 50', 'health 60']);
    expect([pacing.roomBlockedMs, pacing.lag.at(100)]).toEqual([40, 3000]);
    expect(at(74)).toEqual(['health 70']);
    expect(pacing.lag.at(100)).toBe(4000);
    pacing.stop();
    expect(pacing).toMatchObject({ roomBlockedMs: 40, unsignedMs: 0, sentCount: 8 });
  });

  it('has the time without a signed payment, and sends what was due in it as it was due', () => {
    let readiness: SendReadiness = 'unsigned';
    const { at, pacing, sent } = still({ paid: () => readiness });
    expect(at(25)).toEqual([]);
    readiness = 'ready';
    expect(at(30)).toEqual(['paid 0', 'paid 10', 'paid 20', 'paid 30']);
    expect([pacing.unsignedMs, pacing.roomBlockedMs]).toEqual([30, 0]);
    pacing.stop();
    expect([at(40), sent, pacing.unsignedMs]).toEqual([[], [], 30]);
  });

  it('has the time without a held wait apart from that without a free connection, and neither is its own lag', () => {
    let readiness: SendReadiness = 'busy';
    const { at, pacing } = still({ wait: () => readiness });
    expect([at(20), at(30, false), at(45)]).toEqual([[], [], []]);
    readiness = 'ready';
    expect(at(50)).toHaveLength(6);
    expect([pacing.waitsBlockedMs, pacing.roomBlockedMs, pacing.unsignedMs]).toEqual([35, 15, 0]);
    expect(pacing.lag.at(100)).toBe(1); // the least that a histogram holds
  });

  it('leaves out the requests of a kind that is used up, and keeps the times of the others', () => {
    const { at, pacing, unsent } = still({ paid: () => 'used-up', health: ready });
    expect(at(35)).toEqual(['health 10', 'health 30']);
    expect(pacing).toMatchObject({ passedOverCount: 2, sentCount: 2, isUsedUp: false });
    expect(at(90, false)).toEqual([]);
    pacing.stop();
    expect(unsent()).toEqual(['health 50', 'health 70', 'health 90']);
    expect(pacing.passedOverCount).toBe(5);
  });

  it('has as unsent what was due before the end and before the stop, the one that waits first', () => {
    let readiness: SendReadiness = 'unsigned';
    const { at, pacing, unsent } = still({ paid: () => readiness, health: ready });
    readiness = 'ready';
    expect(at(0)).toEqual(['paid 0']);
    readiness = 'unsigned';
    at(25);
    pacing.stop();
    expect(unsent(20)).toEqual([]);
    expect(unsent(31)).toEqual(['paid 20', 'health 30']);
    expect(unsent(5000)).toEqual(['paid 40', 'health 50', 'paid 60', 'health 70', 'paid 80', 'health 90']);
  });

  it('of a closed loop has as many under way as there may be, and a pause after a broken connection', () => {
    const { at, ends, pacing, sent, unsent } = still({ health: ready }, { rate: null, inFlightMax: 2 });
    expect([sent.splice(0).length, pacing.inFlight]).toEqual([2, 2]);
    ends[0]!('answered');
    expect([sent.splice(0).length, pacing.inFlight]).toEqual([1, 2]);
    ends[1]!('broken');
    expect([sent.length, pacing.inFlight]).toEqual([0, 2]);
    vi.advanceTimersByTime(20);
    expect([sent.splice(0).length, pacing.inFlight]).toEqual([1, 2]);
    ends[2]!('answered');
    expect(at(50, false)).toHaveLength(1);
    pacing.stop();
    expect([unsent(), pacing.lag.count]).toEqual([[], 0]);
  });
});
