import { describe, expect, it } from 'vitest';
import { ExpiryMap } from '../../../src/callback/inbox/expiry-map.ts';
import { SWEEP_COUNT_MAX } from '../../../src/callback/limits.ts';
import { ManualTime } from '../../support/manual-time.ts';

interface Entry {
  readonly n: number;
}

function open(countMax?: number, sweepPauseMs?: number) {
  const time = new ManualTime();
  const ended: number[] = [];
  const map = new ExpiryMap<Entry>({
    lifetimeMs: 1_000,
    ...(countMax === undefined ? {} : { countMax }),
    ...(sweepPauseMs === undefined ? {} : { sweepPauseMs }),
    clock: time,
    timers: time,
    onEnd: ({ n }) => ended.push(n),
  });
  return { time, ended, map };
}

describe('a map whose entries end by the clock', () => {
  it('never evicts where no bound is given: 100,000 entries stay (reliability, finding 9)', () => {
    const { map, ended } = open();
    for (let n = 0; n < 100_000; n++) map.set(`k${n}`, { n });
    expect(map.size).toBe(100_000);
    expect(map.get('k0')).toEqual({ n: 0 });
    expect(ended).toEqual([]);
  });

  it('keeps the newest where a bound is given', () => {
    const { map } = open(3);
    for (let n = 0; n < 5; n++) map.set(`k${n}`, { n });
    expect([...map.values()].map(({ n }) => n)).toEqual([2, 3, 4]);
  });

  it('finds an entry until the very moment of its end, with every timer stopped', () => {
    const { map, time, ended } = open();
    time.areTimersStopped = true;
    map.set('k', { n: 1 });
    time.pass(999.5);
    expect(map.get('k')).toEqual({ n: 1 });
    time.pass(0.5);
    expect(map.get('k')).toBeUndefined();
    expect(map.peek('k')).toEqual({ n: 1 });
    expect(ended).toEqual([]);
  });

  it('is not reordered by reading, so that the front always ends first', () => {
    const { map, time, ended } = open();
    for (let n = 0; n < 5; n++) {
      map.set(`k${n}`, { n });
      time.pass(10);
    }
    for (let n = 4; n >= 0; n--) {
      map.get(`k${n}`);
      map.peek(`k${n}`);
    }
    time.pass(970);
    expect(ended).toEqual([0, 1, 2]);
    time.pass(1_000);
    expect(ended).toEqual([0, 1, 2, 3, 4]);
  });

  it('starts the lifetime anew when an entry is set again', () => {
    const { map, time } = open();
    map.set('k', { n: 1 });
    time.pass(600);
    map.set('k', { n: 2 });
    time.pass(600);
    expect(map.get('k')).toEqual({ n: 2 });
    time.pass(400);
    expect(map.get('k')).toBeUndefined();
  });

  it('ends at most so many in one turn, and all of them in the end', () => {
    const { map, ended, time } = open();
    const count = SWEEP_COUNT_MAX * 2 + 1;
    for (let n = 0; n < count; n++) map.set(`k${n}`, { n });
    time.areTimersStopped = true;
    time.pass(1_000);
    map.sweep();
    expect(ended).toHaveLength(SWEEP_COUNT_MAX);
    map.sweep();
    expect(ended).toHaveLength(2 * SWEEP_COUNT_MAX);
    time.areTimersStopped = false;
    time.pass(0);
    expect(ended).toEqual(Array.from({ length: count }, (_, n) => n));
    expect(time.pendingCount).toBe(0);
  });

  it('sweeps no sooner than the pause after the last sweep, and finds nothing past its end meanwhile', () => {
    const { map, time, ended } = open(undefined, 100);
    for (let n = 0; n < 4; n++) {
      map.set(`k${n}`, { n });
      time.pass(60);
    }
    time.pass(760); // at 1000: the first end, swept in time
    expect(ended).toEqual([0]);
    time.pass(99);
    expect(ended).toEqual([0]);
    expect(map.get('k1')).toBeUndefined();
    time.pass(1);
    expect(ended).toEqual([0, 1]);
    time.pass(100);
    expect(ended).toEqual([0, 1, 2, 3]);
    expect(time.pendingCount).toBe(0);
  });

  it('goes on at once, whatever the pause, with what one turn has left', () => {
    const { map, time, ended } = open(undefined, 100);
    for (let n = 0; n <= SWEEP_COUNT_MAX; n++) map.set(`k${n}`, { n });
    time.pass(1_000);
    expect(ended).toHaveLength(SWEEP_COUNT_MAX + 1);
  });

  it('holds one timer however many entries there are, and none when it is closed', () => {
    const { map, time } = open();
    for (let n = 0; n < 1_000; n++) map.set(`k${n}`, { n });
    expect(time.pendingCount).toBe(1);
    map.close();
    expect(time.pendingCount).toBe(0);
  });

  it('has its one timer after a sweep that nothing was due for, and none after one that leaves it empty', () => {
    const { map, time, ended } = open();
    map.set('k', { n: 1 });
    map.sweep();
    expect(time.pendingCount).toBe(1);
    map.delete('k');
    map.sweep();
    expect(time.pendingCount).toBe(0);
    map.set('k', { n: 2 });
    time.pass(1_000);
    expect(ended).toEqual([2]);
  });

  it('waits for whole milliseconds, so that no timer fires just before an end', () => {
    const { map, time } = open();
    const delays: number[] = [];
    const after = time.after.bind(time);
    time.after = (delayMs, run) => {
      delays.push(delayMs);
      return after(delayMs, run);
    };
    map.set('k', { n: 1 }, 10.25);
    time.pass(11);
    expect(delays).toEqual([11]);
  });

  it('does not tell about what was deleted', () => {
    const { map, time, ended } = open();
    map.set('a', { n: 1 });
    map.set('b', { n: 2 });
    expect(map.delete('a')).toBe(true);
    expect(map.delete('a')).toBe(false);
    time.pass(1_000);
    expect(ended).toEqual([2]);
  });
});
