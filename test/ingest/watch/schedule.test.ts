/** When boards are visited again: bounds, what is learnt, backoff, and a day of many boards against a fixed hour. */
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import {
  FAILURE_PAUSE_MS,
  nextDetailMs,
  nextHostTryMs,
  nextTryMs,
  nextVisitMs,
  RETRY_AFTER_MAX_MS,
  VISITS_KEPT,
  type Visit,
} from '../../../src/ingest/watch/schedule.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const BOUNDS = { minMs: HOUR_MS, maxMs: DAY_MS };
const NOW_MS = Date.UTC(2026, 7, 1);

/** Visits at these hours, each with whether anything had changed. */
const visits = (...seen: readonly (readonly [hours: number, isChanged: boolean])[]): Visit[] =>
  seen.map(([hours, isChanged]) => ({ atMs: NOW_MS + hours * HOUR_MS, isChanged }));
const gapHours = (seen: readonly Visit[], draw = 0): number =>
  (nextVisitMs(seen, BOUNDS, seen.at(-1)!.atMs, draw) - seen.at(-1)!.atMs) / HOUR_MS;

describe('the next visit', () => {
  it.each([
    { because: 'nothing is known of a new board', seen: visits([0, true]), from: 3, to: 6 },
    {
      because: 'every hour brought a change',
      seen: visits([0, true], [1, true], [2, true], [3, true]),
      from: 1,
      to: 1,
    },
    {
      because: 'days without a change',
      seen: visits([0, false], [24, false], [48, false], [72, false]),
      from: 24,
      to: 24,
    },
    {
      because: 'it changes about once a day',
      seen: visits([0, true], [12, false], [24, true], [36, false], [48, true]),
      from: 6,
      to: 14,
    },
    { because: 'two visits at one moment say nothing', seen: visits([0, true], [0, false]), from: 3, to: 6 },
    { because: 'a change at one moment says nothing', seen: visits([0, true], [0, true]), from: 3, to: 6 },
    { because: 'the clock was set back', seen: visits([50, true], [0, false]), from: 3, to: 6 },
  ])('is in $from to $to hours when $because', ({ seen, from, to }) => {
    expect(gapHours(seen)).toBeGreaterThanOrEqual(from);
    expect(gapHours(seen)).toBeLessThanOrEqual(to);
  });

  it('spreads by a tenth at most, and never below the shortest time', () => {
    const daily = visits([0, false], [24, false], [48, false]);
    expect(gapHours(daily, 0.999)).toBeGreaterThan(21.5);
    expect(gapHours(daily, 0.999)).toBeLessThan(24);
    expect(gapHours(visits([0, true], [1, true], [2, true], [3, true]), 0.999)).toBe(1);
  });

  it('follows a board that wakes up, whatever it did long before', () => {
    const asleep = Array.from({ length: VISITS_KEPT }, (_, i) => [i * 24, false] as const);
    const woken = Array.from({ length: 8 }, (_, i) => [VISITS_KEPT * 24 + i * 6, true] as const);
    expect(gapHours(visits(...asleep))).toBe(24);
    expect(gapHours(visits(...asleep, ...woken))).toBeLessThan(8);
  });
});

it('one change within the hour already brings the next visit nearer than none', () => {
  const nextOf = (isChanged: boolean): number => nextVisitMs(visits([0, true], [1, isChanged]), BOUNDS, NOW_MS, 0);
  expect(nextOf(true)).toBeLessThan(nextOf(false));
});

describe('the next try after a failure', () => {
  const tryMs = (failures: number, draw = 1 - 2 ** -53, retryAfterMs: number | null = null): number =>
    nextTryMs(failures, BOUNDS, NOW_MS, { draw, retryAfterMs }) - NOW_MS;

  it('doubles from five minutes to the longest time, and leaves out a random half', () => {
    expect([1, 2, 3, 20, 5000].map((failures) => tryMs(failures))).toEqual([
      FAILURE_PAUSE_MS,
      FAILURE_PAUSE_MS * 2,
      FAILURE_PAUSE_MS * 4,
      DAY_MS,
      DAY_MS,
    ]);
    expect(tryMs(1, 0)).toBe(FAILURE_PAUSE_MS / 2);
  });

  it('obeys Retry-After in full, up to a week', () => {
    expect(tryMs(1, 0, 1000)).toBe(FAILURE_PAUSE_MS / 2);
    expect(tryMs(1, 0, 2 * DAY_MS)).toBe(2 * DAY_MS);
    expect(tryMs(1, 0, 30 * DAY_MS)).toBe(RETRY_AFTER_MAX_MS);
  });
});

it('a description that did not come is asked for again after half an hour, doubled each time up to a week', () => {
  const pauses = [1, 2, 3, 20, 5000].map((tries) => nextDetailMs({ tries, triedMs: NOW_MS }) - NOW_MS);
  expect(pauses).toEqual([HOUR_MS / 2, HOUR_MS, 2 * HOUR_MS, 7 * DAY_MS, 7 * DAY_MS]);
});

it('a host that fails is asked again within the hour, however often it failed, unless it asks for more', () => {
  const pauseMs = (times: number, draw: number, retryAfterMs: number | null): number =>
    nextHostTryMs(times, NOW_MS, { draw, retryAfterMs }) - NOW_MS;
  expect(pauseMs(1, 0, null)).toBe(FAILURE_PAUSE_MS / 2);
  expect(pauseMs(9, 1, null)).toBe(HOUR_MS);
  expect(pauseMs(9, 1, 2 * HOUR_MS)).toBe(2 * HOUR_MS);
});

/** Whether a board with this mean time between changes changed in a time; changes come as a Poisson process. */
const isChangedIn = (gapMs: number, meanMs: number, random: SeededRandom): boolean =>
  random.unit() < 1 - Math.exp(-gapMs / meanMs);

/** Visits of one board on the fifth day. */
function visitsOfFifthDay(meanMs: number, random: SeededRandom): number {
  let seen: Visit[] = [];
  let count = 0;
  for (let atMs = NOW_MS; atMs < NOW_MS + 5 * DAY_MS; ) {
    const before = seen.at(-1);
    seen = [
      ...seen,
      { atMs, isChanged: before === undefined || isChangedIn(atMs - before.atMs, meanMs, random) },
    ].slice(-VISITS_KEPT);
    if (atMs >= NOW_MS + 4 * DAY_MS) count++;
    atMs = nextVisitMs(seen, BOUNDS, atMs, random.unit());
  }
  return count;
}

describe('a day in virtual time', () => {
  it('asks boards that change hourly often, sleepy ones daily, and far less than a fixed hour would', () => {
    const random = new SeededRandom(18);
    /** How 1,000 boards change: few all day, most now and then. */
    const groups = [
      { name: 'hourly', boards: 50, meanHours: 1 },
      { name: 'every six hours', boards: 150, meanHours: 6 },
      { name: 'daily', boards: 300, meanHours: 24 },
      { name: 'weekly', boards: 500, meanHours: 168 },
    ];
    const perDay = groups.map(({ boards, meanHours }) => {
      let sum = 0;
      for (let board = 0; board < boards; board++) sum += visitsOfFifthDay(meanHours * HOUR_MS, random);
      return sum / boards;
    });
    const [hourly = 0, sixHours = 0, daily = 0, weekly = 0] = perDay;
    expect(hourly).toBeGreaterThan(18);
    expect(sixHours).toBeGreaterThan(5);
    expect(daily).toBeGreaterThan(1.2);
    expect(daily).toBeLessThan(4);
    expect(weekly).toBeLessThan(1.6);
    const total = groups.reduce((sum, { boards }, i) => sum + boards * perDay[i]!, 0);
    const saved = 1 - total / (1000 * 24);
    expect(saved).toBeGreaterThan(0.8);
  });
});
