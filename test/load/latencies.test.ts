/** The histogram of a load test against exact percentiles of the same values. */
import { describe, expect, it } from 'vitest';
import { Latencies } from '../../src/load/latencies.ts';

/** Nearest rank: the smallest value that so many percent do not exceed. */
const exact = (sorted: readonly number[], percentile: number): number =>
  sorted[Math.max(0, Math.ceil((percentile / 100) * sorted.length) - 1)] as number;

/** A long tail from a fixed seed, microseconds: most near a millisecond, some near ten seconds. */
function longTail(count: number): number[] {
  let state = 7;
  return Array.from({ length: count }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.round(300 * (1 / (1 - (state / 2_147_483_648) * 0.9999)) ** 1.1);
  });
}

describe('latencies', () => {
  const values = longTail(20_000);
  const latencies = new Latencies();
  for (const us of values) latencies.record(us / 1000);
  const sorted = [...values].sort((a, b) => a - b);

  it.each([1, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100])(
    'are exact to three figures at percentile %d',
    (percentile) => {
      const right = exact(sorted, percentile);
      expect(Math.abs(latencies.at(percentile) - right)).toBeLessThanOrEqual(Math.max(1, right * 0.001));
    },
  );

  it('are summed up with count, exact ends and the mean', () => {
    const mean = values.reduce((sum, us) => sum + us, 0) / values.length;
    const summary = latencies.summary();
    expect(summary).toMatchObject({ count: 20_000, min: sorted[0], max: sorted.at(-1) });
    const [p50, p75, p90, p95, p99, p99_9] = [50, 75, 90, 95, 99, 99.9].map((percentile) => latencies.at(percentile));
    expect(summary).toMatchObject({ p50, p75, p90, p95, p99, p99_9 });
    expect(Math.abs((summary?.mean ?? 0) / mean - 1)).toBeLessThan(0.001);
  });

  it('added up are those of all values together', () => {
    const halves = [new Latencies(), new Latencies()];
    values.forEach((us, i) => {
      halves[i % 2]?.record(us / 1000);
    });
    const whole = new Latencies();
    for (const half of [...halves, new Latencies()]) whole.add(half);
    expect(whole.summary()).toEqual(latencies.summary());
  });

  it('never fall along the curve, which ends at the last percentile that the count can tell apart', () => {
    const curve = latencies.curve();
    expect(curve.length).toBeGreaterThan(40);
    for (let i = 1; i < curve.length; i++) {
      expect(curve[i]?.[0]).toBeGreaterThan(curve[i - 1]?.[0] as number);
      expect(curve[i]?.[1]).toBeGreaterThanOrEqual(curve[i - 1]?.[1] as number);
    }
    expect(curve.at(-1)?.[0]).toBeCloseTo(100 * (1 - 1 / 20_000), 5);
  });

  it('keep within a microsecond and an hour, and begin anew', () => {
    const edges = new Latencies();
    edges.record(0);
    edges.record(7_200_000);
    expect(edges.summary()).toMatchObject({ count: 2, min: 1, max: 3_600_000_000, p50: 1 });
    expect(edges.at(100)).toBe(3_600_000_000);
    edges.reset();
    expect(edges.summary()).toBeNull();
    expect(edges.curve()).toEqual([]);
    edges.record(2);
    expect(edges.summary()).toMatchObject({ count: 1, min: 2000, max: 2000, p99: 2000, mean: 2000 });
  });
});
