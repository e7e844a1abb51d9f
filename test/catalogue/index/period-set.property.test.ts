import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PeriodSet } from '../../../src/catalogue/index/period-set.ts';

describe('the set of a period', () => {
  it('has the positions observed inside it after every move, and says when that may have changed', () => {
    // Few moments, so that many are equal and most lie on an end of a period; halves, since a file may hold fractions.
    const moment = fc.integer({ min: -12, max: 12 }).map((half) => half / 2);
    const period = fc.tuple(moment, moment).map(([a, b]) => ({ startMs: Math.min(a, b), endMs: Math.max(a, b) }));
    fc.assert(
      fc.property(fc.array(moment, { maxLength: 70 }), fc.array(period, { maxLength: 12 }), (times, periods) => {
        const order = [...times.keys()].sort((a, b) => times[a]! - times[b]!);
        const set = new PeriodSet({
          times: Float64Array.from(order, (position) => times[position]!),
          order: Uint16Array.from(order),
        });
        let before: number[] = [];
        for (const each of periods) {
          const moved = set.setPeriod(each);
          const inside = [...times.keys()].filter(
            (position) => times[position]! >= each.startMs && times[position]! <= each.endMs,
          );
          expect(set.positions.first(times.length)).toEqual(inside);
          if (!moved) expect(inside).toEqual(before);
          expect(set.setPeriod(each)).toBe(false);
          before = inside;
        }
      }),
    );
  });
});
