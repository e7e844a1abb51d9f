import { describe, expect, it } from 'vitest';
import { Catalogue } from '../../../src/catalogue/catalogue.ts';
import type { CompanyDomain } from '../../../src/catalogue/company-domain.ts';
import type { CohortPart } from '../../../src/catalogue/index/cohort-part.ts';
import { rowFilterOf } from '../../../src/catalogue/index/row-filter.ts';
import { selectByIndex, selectByScan } from '../../../src/catalogue/index/select.ts';
import type { Job } from '../../../src/catalogue/job.ts';
import { INDEX_UNITS_MAX, LISTED_ROWS_MAX, PART_ROWS_MAX } from '../../../src/catalogue/limits.ts';
import { observationPeriodEndingAt } from '../../../src/catalogue/questions/period.ts';
import { search } from '../../../src/catalogue/questions/search.ts';
import { signals } from '../../../src/catalogue/questions/signals.ts';
import { generatedCohort, generatedJobs, generatedSearch, SeededChance } from '../../support/generated-catalogue.ts';
import { openedJobs } from '../../support/opened-jobs.ts';

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
    closedAtMs: null,
    description: null,
    descriptionTruncated: false,
    ...more,
  };
}

describe('the index and the scan', () => {
  // Lists and sets of matches part at LISTED_ROWS_MAX.
  for (const jobCount of [LISTED_ROWS_MAX, 4_000]) {
    it(`select the same positions of a catalogue of ${jobCount} jobs, for generated filters`, () => {
      const chance = new SeededChance(99);
      const jobs = generatedJobs(chance, { jobCount, moreCompanies: 10 });
      const catalogue = new Catalogue(openedJobs(jobs));
      const { byCompany, newestFirst } = catalogue;
      const found = ({ matches, rows }: CohortPart): number[] =>
        matches.first(rows.length).map((place) => rows[place]!);
      for (let i = 0; i < 800; i++) {
        // From here on the bitmaps of a part lie in one array.
        if (i === 400) catalogue.warm();
        const filter = rowFilterOf({ ...generatedSearch(chance, jobs), ...generatedCohort(chance, jobs) });
        const because = JSON.stringify(filter);
        expect(selectByIndex(newestFirst, filter, newestFirst.rows.length)).toBe(true);
        const byIndex = found(newestFirst);
        expect(newestFirst.matches.count).toBe(byIndex.length);
        expect(newestFirst.newestMatches(3), because).toEqual(byIndex.slice(0, 3));
        expect(selectByIndex(newestFirst, filter, 3)).toBe(true);
        expect(newestFirst.newestMatches(3), because).toEqual(byIndex.slice(0, 3));
        selectByScan(newestFirst, filter, newestFirst.rows.length);
        expect(found(newestFirst), because).toEqual(byIndex);
        expect(selectByIndex(byCompany, filter, byCompany.rows.length)).toBe(true);
        expect(
          found(byCompany).sort((a, b) => a - b),
          because,
        ).toEqual(byIndex);
      }
    });
  }

  it('answer alike when there are far more skills than rows, which a scan does not remember', () => {
    const perJob = 500;
    const jobs = Array.from({ length: 5 }, (_, i) =>
      jobOf(i, { skills: Array.from({ length: perJob }, (_, k) => `skill-${i}-${k}`) }),
    );
    const { newestFirst } = new Catalogue(openedJobs(jobs));
    for (const [keyword, expected] of [
      [`ill-3-${perJob - 1}`, [3]],
      ['skill- l-2-12 engineer', [2]],
      [`skill-4-${perJob}`, []],
    ] as const) {
      const filter = rowFilterOf({ keyword });
      expect(selectByIndex(newestFirst, filter, newestFirst.rows.length)).toBe(true);
      expect(newestFirst.matches.first(5)).toEqual(expected);
      selectByScan(newestFirst, filter, 5);
      expect(newestFirst.matches.first(5)).toEqual(expected);
    }
  });

  it('answer alike when a cohort has too much text for an index', () => {
    const rows = 9;
    const long = 'x'.repeat(Math.ceil(INDEX_UNITS_MAX / rows));
    const jobs = Array.from({ length: rows }, (_, i) => jobOf(i, { title: `${i}${long} title${i % 2}` }));
    const catalogue = new Catalogue(openedJobs(jobs));
    expect(catalogue.byCompany.titleIndex).toBe(null);
    expect(search(catalogue, { keyword: 'TITLE1' }, 10).jobs.map(({ id }) => id)).toEqual([
      '000001',
      '000003',
      '000005',
      '000007',
    ]);
    expect(signals(catalogue, { role: 'title1 3x' }, 5, observationPeriodEndingAt(1)).observedSampleJobs).toBe(1);
  });
});

describe('a search in a company', () => {
  const domain = 'acme.com' as CompanyDomain;
  /** Places of the parts that have an index for keywords. */
  const indexed = (catalogue: Catalogue, keyword: string): number[] =>
    catalogue
      .cohortOf(catalogue.snapshot.companyOf(domain)!)
      .parts.flatMap((part, place) => (part.isIndexedFor(rowFilterOf({ keyword })) ? [place] : []));
  const catalogueOf = (rowCount: number): Catalogue =>
    new Catalogue(openedJobs(Array.from({ length: rowCount }, (_, i) => jobOf(i))));

  it('makes the index of one part more each time but the first, where it comes to one without', () => {
    const catalogue = catalogueOf(PART_ROWS_MAX * 2 + 1);
    const seen: number[][] = [];
    for (let i = 0; i < 6; i++) {
      expect(search(catalogue, { company: domain, keyword: `${PART_ROWS_MAX * 2} engineer` }, 10).jobs).toHaveLength(1);
      seen.push(indexed(catalogue, 'a'));
    }
    expect(seen).toEqual([[], [0], [0, 1], [0, 1, 2], [0, 1, 2], [0, 1, 2]]);
  });

  it('makes none of a part that it does not come to', () => {
    const catalogue = catalogueOf(PART_ROWS_MAX + 1);
    for (let i = 0; i < 4; i++) search(catalogue, { company: domain, keyword: 'engineer' }, 10);
    expect(indexed(catalogue, 'a')).toEqual([0]);
  });

  it('makes none when the company is one part', () => {
    const catalogue = catalogueOf(PART_ROWS_MAX);
    for (let i = 0; i < 4; i++) {
      expect(search(catalogue, { company: domain, keyword: 'engineer 7' }, 10).jobs).toHaveLength(10);
    }
    expect(indexed(catalogue, 'a')).toEqual([]);
  });

  it('finds matches on both sides of where parts meet, newest first, and no more than were asked for', () => {
    const catalogue = catalogueOf(PART_ROWS_MAX * 5);
    const ids = (limit: number): string[] =>
      search(catalogue, { company: domain, keyword: '51' }, limit).jobs.map(({ id }) => id);
    const all = Array.from({ length: PART_ROWS_MAX * 5 }, (_, i) => String(i))
      .filter((i) => i.includes('51'))
      .map((i) => i.padStart(6, '0'));
    expect(all.length).toBeGreaterThan(20);
    for (let i = 0; i < 8; i++) {
      for (const limit of [1, 3, 10]) expect(ids(limit)).toEqual(all.slice(0, limit));
    }
    expect(ids(10_000)).toEqual(all);
  });
});

describe('filters', () => {
  it('of more than eight different terms are a bug of the caller', () => {
    expect(() => rowFilterOf({ keyword: 'a b c d e f g h i' })).toThrow(RangeError);
    expect(rowFilterOf({ keyword: 'a b c d e f g h H A' }).keyword).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
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
