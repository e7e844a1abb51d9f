/** The levels of overload (decisions §4; reliability 211, 212). */
import { describe, expect, it } from 'vitest';
import { levelAfter, Overload, type OverloadLevel, pressingKindOf } from '../../../src/base/overload/overload.ts';
import { Chance } from '../../support/chance.ts';

type Step = readonly [memoryShare: number, lateMs: number, level: OverloadLevel];

const PATHS: readonly (readonly [because: string, steps: readonly Step[]])[] = [
  [
    'nothing presses',
    [
      [0, 0, 0],
      [0.849, 199, 0],
    ],
  ],
  [
    '85 % of the memory begins it',
    [
      [0.85, 0, 1],
      [0.919, 0, 1],
    ],
  ],
  [
    '200 ms of lateness begin it',
    [
      [0, 199.9, 0],
      [0, 200, 1],
      [0, 499, 1],
    ],
  ],
  ['92 % of the memory make it severe', [[0.92, 0, 2]]],
  ['500 ms of lateness make it severe', [[0, 500, 2]]],
  [
    'it ends below 75 % and 100 ms',
    [
      [0.85, 0, 1],
      [0.75, 0, 1],
      [0.749, 100, 1],
      [0.749, 99.9, 0],
    ],
  ],
  ['it does not begin between its end and its beginning', [[0.84, 150, 0]]],
  [
    'severe overload lasts while either pressure would begin overload',
    [
      [0.92, 0, 2],
      [0.85, 0, 2],
      [0, 200, 2],
    ],
  ],
  [
    'severe overload turns mild first',
    [
      [0.93, 0, 2],
      [0.849, 0, 1],
      [0.8, 0, 1],
      [0.9, 0, 1],
      [0.5, 0, 0],
    ],
  ],
  [
    'severe overload ends at once where nothing presses',
    [
      [2, 9_000, 2],
      [0.1, 0, 0],
    ],
  ],
];

describe('the levels of overload', () => {
  it.each(PATHS)('%s', (_, steps) => {
    const overload = new Overload();
    for (const [memoryShare, lateMs, level] of steps) {
      const before = overload.level;
      expect(overload.report({ memoryShare, lateMs })).toBe(before !== level);
      expect(overload.level, `${memoryShare} and ${lateMs} ms`).toBe(level);
    }
  });

  it('depend on the level before only between two bounds, and never fall as pressure rises', () => {
    const chance = new Chance(211);
    for (let i = 0; i < 2_000; i++) {
      const pressure = { memoryShare: chance.unit() * 1.2, lateMs: chance.unit() * 700 };
      const more = { memoryShare: pressure.memoryShare + chance.unit() * 0.2, lateMs: pressure.lateMs };
      const after = ([0, 1, 2] as const).map((level) => levelAfter(level, pressure));
      expect([...after].sort()).toEqual(after);
      for (const level of [0, 1, 2] as const) {
        const once = levelAfter(level, pressure);
        expect(levelAfter(once, pressure), 'the same pressure again changes nothing').toBe(once);
        expect(levelAfter(level, more)).toBeGreaterThanOrEqual(once);
      }
      const { memoryShare, lateMs } = pressure;
      if (memoryShare >= 0.92 || lateMs >= 500) expect(after).toEqual([2, 2, 2]);
      else if (memoryShare >= 0.85 || lateMs >= 200) expect(after).toEqual([1, 1, 2]);
      else if (memoryShare >= 0.75 || lateMs >= 100) expect(after).toEqual([0, 1, 1]);
      else expect(after).toEqual([0, 0, 0]);
    }
  });

  it.each([
    [0.9, 0, 'memory'],
    [0.1, 300, 'loop'],
    [0.86, 600, 'loop'],
    [0.95, 201, 'memory'],
  ] as const)('%d of the memory and %d ms are the fault of the %s', (memoryShare, lateMs, kind) => {
    expect(pressingKindOf({ memoryShare, lateMs })).toBe(kind);
  });
});
