/** The claims on which docs/scale-model.md rests, by simulation: no double sale, waits, and bounds that follow from the costs. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { firstOf, layouts, sizesAt } from '../../bench/scale/capacity.ts';
import { FAULTS, simulateClaims } from '../../bench/scale/claims.ts';
import { ASSUMED, MEASURED } from '../../bench/scale/costs.ts';
import { simulateQueue, waitingShare, waitP99 } from '../../bench/scale/queue.ts';
import { partOf } from '../support/whole.ts';

const RUNS = partOf(150);
const seeds = Array.from({ length: RUNS }, (_, i) => i + 1);
const plan = { authorizations: 8, requestsEach: 4 };

describe('claims on partitions with replicas', () => {
  it('sell no authorization twice, whatever is lost, late, cut off or believed', () => {
    const results = seeds.map((seed) => simulateClaims({ ...plan, seed }));
    expect(results.filter(({ doubleSales }) => doubleSales > 0)).toEqual([]);
    const sum = (of: (result: (typeof results)[number]) => number): number =>
      results.reduce((total, result) => total + of(result), 0);
    // The runs have sales, refusals, requests without an answer and leaders that change, or they would show nothing.
    expect(sum(({ sold }) => sold)).toBeGreaterThan(RUNS * 4);
    for (const of of ['refused', 'unknown', 'elections'] as const) expect(sum((one) => one[of])).toBeGreaterThan(RUNS);
  });

  it('give the same for the same seed', () => {
    expect(simulateClaims({ ...plan, seed: 5 })).toEqual(simulateClaims({ ...plan, seed: 5 }));
  });

  it.each(FAULTS)('sell twice with the fault: %s', (fault) => {
    expect(seeds.some((seed) => simulateClaims({ ...plan, seed, fault }).doubleSales > 0)).toBe(true);
  });
});

describe('queues', () => {
  it.each([
    [1, 0.6],
    [4, 0.8],
    [16, 0.9],
  ])('of %i cores, busy for %d, wait as the closed form says', (servers, utilization) => {
    const { waitP99: simulated } = simulateQueue({
      servers,
      utilization,
      service: 'exponential',
      requests: 300_000,
      seed: 3,
    });
    const expected = waitP99(servers, utilization);
    expect(Math.abs(simulated - expected)).toBeLessThan(0.12 * expected + 0.05);
  });

  it('wait with one server for the share of the time in which it is busy', () => {
    expect(waitingShare(1, 0.7)).toBeCloseTo(0.7, 10);
  });

  it('are shorter with more cores, and longer for questions that differ in cost', () => {
    const at = (servers: number, service: 'constant' | 'mixed') =>
      simulateQueue({ servers, utilization: 0.6, service, requests: 100_000, seed: 1 }).p99;
    expect(at(16, 'mixed')).toBeLessThan(at(1, 'mixed'));
    expect(at(1, 'constant')).toBeLessThan(at(1, 'mixed'));
  });
});

describe('the cost of a sale to the database', () => {
  it('is the greater one of those that docs/benchmarks.md says were measured', () => {
    const text = readFileSync(new URL('../../docs/benchmarks.md', import.meta.url), 'utf8');
    const [, node, bun] = /^\| processor time of the database a payment \| (\d+) µs \| (\d+) µs \|$/m.exec(text) ?? [];
    expect(MEASURED.databaseMicros).toBe(Math.max(Number(node), Number(bun)));
  });
});

describe('layouts', () => {
  const rates = [1_000, 100_000, 10_000_000];

  it('each carry more than the one before', () => {
    const bounds = layouts(MEASURED, ASSUMED, 2).map((layout) => firstOf(layout).perSecond);
    expect(bounds).toEqual([...bounds].sort((a, b) => a - b));
  });

  it('are chosen so that nothing in them gives out', () => {
    for (const rate of rates) {
      const { layout, regions, gates, partitions } = sizesAt(rate, 1e8, MEASURED, ASSUMED);
      expect(firstOf(layout).perSecond * regions).toBeGreaterThanOrEqual(rate);
      const { gateCores, databaseCores } = ASSUMED;
      expect((rate * MEASURED.gateMicros) / 1e6).toBeLessThanOrEqual(gates * gateCores);
      expect((rate * MEASURED.databaseMicros) / 1e6).toBeLessThanOrEqual(partitions * databaseCores);
    }
  });

  it('follow the costs: dearer sales bring partitions earlier', () => {
    const dear = { ...MEASURED, databaseMicros: 10 * MEASURED.databaseMicros };
    expect(sizesAt(1e6, 1e8, dear, ASSUMED).partitions).toBeGreaterThan(
      sizesAt(1e6, 1e8, MEASURED, ASSUMED).partitions,
    );
  });
});
