import { describe, expect, it } from 'vitest';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import type { CompanyDomain } from '../../src/catalogue/company-domain.ts';
import type { Job } from '../../src/catalogue/job.ts';
import { INDEX_UNITS_MAX, SCANNED_ROWS_MAX } from '../../src/catalogue/limits.ts';
import { observationPeriodEndingAt } from '../../src/catalogue/period.ts';
import { search } from '../../src/catalogue/search.ts';
import { isWorthAnIndex, select, wantedOf } from '../../src/catalogue/select.ts';
import { signals } from '../../src/catalogue/signals.ts';
import { generatedJobs, generatedSearch, generatedSignals, SeededChance } from '../support/generated-catalogue.ts';
import { openedJobs } from '../support/opened-jobs.ts';

function jobOf(i: number, more: Partial<Job> = {}): Job {
  return {
    id: String(i).padStart(6, '0'),
    title: `Engineer ${i}`,
    company: 'Acme',
    companyDomain: 'acme.com' as CompanyDomain,
    location: null,
    department: null,
    remoteStatus: 'unknown',
    employmentType: 'unknown',
    sourceUrl: 'https://acme.com/',
    skills: [],
    firstObservedMs: 0,
    lastObservedMs: 0,
    status: 'active',
    ...more,
  };
}

describe('the index and the scan', () => {
  it('select the same positions of a catalogue, for generated filters', () => {
    const chance = new SeededChance(99);
    const jobs = generatedJobs(chance, { jobCount: 400, moreCompanies: 10 });
    const { cohort } = new Catalogue(openedJobs(jobs));
    for (let i = 0; i < 600; i++) {
      const wanted = wantedOf({ ...generatedSearch(chance, jobs), ...generatedSignals(chance, jobs) });
      const positions = [true, false].map((indexed) => {
        const into = new Uint16Array(cohort.rows.length);
        return [...into.subarray(0, select(cohort, wanted, indexed, cohort.rows.length).toSet().readInto(into))];
      });
      expect(positions[0], JSON.stringify(wanted)).toEqual(positions[1]);
    }
  });

  it('part at the stated number of rows', () => {
    for (const [count, indexed] of [
      [SCANNED_ROWS_MAX, false],
      [SCANNED_ROWS_MAX + 1, true],
    ] as const) {
      const catalogue = new Catalogue(openedJobs(Array.from({ length: count }, (_, i) => jobOf(i))));
      const company = 'acme.com' as CompanyDomain;
      expect(isWorthAnIndex(catalogue.cohortOf(catalogue.snapshot.companyOf(company)!))).toBe(indexed);
      expect(search(catalogue, { company, keyword: `${count - 1} engineer` }, 10).jobs).toHaveLength(1);
    }
  });

  it('answer alike when a cohort has too much text for an index', () => {
    const rows = 9;
    const long = 'x'.repeat(Math.ceil(INDEX_UNITS_MAX / rows));
    const jobs = Array.from({ length: rows }, (_, i) => jobOf(i, { title: `${i}${long} title${i % 2}` }));
    const catalogue = new Catalogue(openedJobs(jobs));
    expect(catalogue.cohort.titleIndex).toBe(null);
    expect(search(catalogue, { keyword: 'TITLE1' }, 10).jobs.map(({ id }) => id)).toEqual([
      '000001',
      '000003',
      '000005',
      '000007',
    ]);
    expect(signals(catalogue, { role: 'title1 3x' }, 5, observationPeriodEndingAt(1)).observedSampleJobs).toBe(1);
  });
});

describe('filters', () => {
  it('of more than eight different terms are a bug of the caller', () => {
    expect(() => wantedOf({ keyword: 'a b c d e f g h i' })).toThrow(RangeError);
    expect(wantedOf({ keyword: 'a b c d e f g h H A' }).keyword).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
  });

  it('that are blank ask nothing', () => {
    const catalogue = new Catalogue(openedJobs([jobOf(1)]));
    expect(search(catalogue, { keyword: ' \u3000', location: '\t' }, 10).jobs).toHaveLength(1);
  });
});

describe('an answer without filters that is kept', () => {
  it('changes with each of the four places that the ends of the period have among the observations', () => {
    const at = (firstObservedMs: number, lastObservedMs: number, i: number): Job =>
      jobOf(i, { firstObservedMs, lastObservedMs });
    const weekMs = 7 * 86_400_000;
    const catalogue = new Catalogue(
      openedJobs([at(0, 10 * weekMs, 1), at(weekMs, 11 * weekMs, 2), at(0, 12 * weekMs, 3)]),
    );
    const seen = (nowMs: number): number[] => {
      const [company] = signals(catalogue, {}, 5, observationPeriodEndingAt(nowMs)).companies;
      return [company!.recentlyObservedJobs, company!.firstObservedJobs];
    };
    const expected: [number, [number, number]][] = [
      [-1, [0, 0]],
      [0, [0, 2]],
      [weekMs - 1, [0, 2]],
      [weekMs, [0, 3]],
      [weekMs + 1, [0, 1]],
      [2 * weekMs, [0, 1]],
      [2 * weekMs + 1, [0, 0]],
      [10 * weekMs - 1, [0, 0]],
      [10 * weekMs, [1, 0]],
      [11 * weekMs, [2, 0]],
      [11 * weekMs + 1, [1, 0]],
      [12 * weekMs, [2, 0]],
      [13 * weekMs, [1, 0]],
      [13 * weekMs + 1, [0, 0]],
    ];
    for (const [nowMs, counts] of [...expected, ...expected.reverse()]) expect(seen(nowMs), `${nowMs}`).toEqual(counts);
  });

  it('is not the one for another limit', () => {
    const jobs = Array.from({ length: 5 }, (_, i) => jobOf(i, { companyDomain: `c${i}.com` as CompanyDomain }));
    const catalogue = new Catalogue(openedJobs(jobs));
    for (const limit of [5, 1, 3, 5]) {
      expect(signals(catalogue, {}, limit, observationPeriodEndingAt(0)).companies).toHaveLength(limit);
    }
  });
});
