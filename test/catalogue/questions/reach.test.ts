import { describe, expect, it } from 'vitest';
import { percentOf, reachAdvice, reachOf } from '../../../src/catalogue/questions/reach.ts';

const DAY_MS = 86_400_000;

/** @param days newest first, with whether the job's company has a domain */
function reach(days: readonly (readonly [number, boolean])[], closed = 0) {
  const rows = days.length + closed;
  return reachOf({
    activeCount: days.length,
    companyHasDomain: Uint8Array.of(0, 1),
    employer: Uint32Array.from({ length: rows }, (_, row) => (days[row]?.[1] === true ? 1 : 0)),
    employerCompany: Uint32Array.of(0, 1),
    lastObserved: Float64Array.from({ length: rows }, (_, row) => (days[row]?.[0] ?? 0) * DAY_MS + 5),
  });
}

describe('the reach of a catalogue', () => {
  it('counts active jobs with a domain, those of the cohort, and days', () => {
    const jobs = [
      [9, true],
      [9, false],
      [7, true],
      [3, true],
    ] as const;
    expect(reach(jobs, 3)).toEqual({
      activeJobs: 4,
      jobsWithDomain: 3,
      domainShare: 0.75,
      cohortJobs: 4,
      cohortShare: 1,
      observationDays: 3,
    });
  });

  it('is whole where there is nothing to reach', () => {
    expect(reach([], 2)).toMatchObject({ activeJobs: 0, domainShare: 1, cohortShare: 1, observationDays: 0 });
    expect(reachAdvice(reach([], 2))).toEqual([]);
  });

  it.each([
    [
      'half of the jobs have a domain',
      [
        [1, true],
        [1, false],
      ],
      0,
    ],
    [
      'less than half have one',
      [
        [1, true],
        [1, false],
        [1, false],
      ],
      1,
    ],
  ] as const)('where %s gets %s', (_, jobs, count) => {
    expect(reachAdvice(reach(jobs))).toHaveLength(count);
  });

  it('past twice the cohort says what to sell, and on one day why', () => {
    const many = (day: (row: number) => number) =>
      Array.from({ length: 20_001 }, (_, row) => [day(row), true] as const);
    expect(reachAdvice(reach(many(() => 1)))).toHaveLength(2);
    expect(reachAdvice(reach(many((row) => (row === 0 ? 2 : 1))))).toHaveLength(1);
  });

  it('is never rounded up to a whole', () => {
    expect([1, 0.99999, 0.6249, 0].map(percentOf)).toEqual(['100.0 %', '99.9 %', '62.4 %', '0.0 %']);
  });
});
