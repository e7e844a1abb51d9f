import { describe, expect, it } from 'vitest';
import { Catalogue } from '../../../src/catalogue/catalogue.ts';
import type { CompanyDomain } from '../../../src/catalogue/company-domain.ts';
import type { CohortPart } from '../../../src/catalogue/index/cohort-part.ts';
import { rowFilterOf } from '../../../src/catalogue/index/row-filter.ts';
import { selectByIndex, selectByScan } from '../../../src/catalogue/index/select.ts';
import type { Job } from '../../../src/catalogue/job.ts';
import { INDEX_UNITS_MAX, LISTED_ROWS_MAX } from '../../../src/catalogue/limits.ts';
import { observationPeriodEndingAt } from '../../../src/catalogue/questions/period.ts';
import { search } from '../../../src/catalogue/questions/search.ts';
import { signals } from '../../../src/catalogue/questions/signals.ts';
import { generatedCohort, generatedJobs, SeededChance } from '../../support/generated-catalogue.ts';
import { openedJobs } from '../../support/opened-jobs.ts';
import { partOf } from '../../support/whole.ts';

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
      const { byCompany } = catalogue;
      const found = ({ matches, rows }: CohortPart): number[] =>
        matches
          .toSet()
          .first(rows.length)
          .map((place) => rows[place]!);
      const count = partOf(800, 200);
      for (let i = 0; i < count; i++) {
        // From here on the bitmaps of a part lie in one array.
        if (i === count / 2) catalogue.warm();
        const filter = rowFilterOf(generatedCohort(chance, jobs));
        const because = JSON.stringify(filter);
        expect(selectByIndex(byCompany, filter, byCompany.rows.length)).toBe(true);
        const byIndex = found(byCompany);
        expect(byCompany.matches.count).toBe(byIndex.length);
        expect(selectByIndex(byCompany, filter, 3)).toBe(true);
        expect(found(byCompany).slice(0, 3), because).toEqual(byIndex.slice(0, 3));
        selectByScan(byCompany, filter, byCompany.rows.length);
        expect(found(byCompany), because).toEqual(byIndex);
      }
    });
  }

  it('select the same while the index is built in steps, whichever step a question comes after', () => {
    const chance = new SeededChance(7);
    const jobs = generatedJobs(chance, { jobCount: 500, moreCompanies: 3 });
    const source = openedJobs(jobs);
    const filters = Array.from({ length: 20 }, () => rowFilterOf(generatedCohort(chance, jobs)));
    const selected = (part: CohortPart): number[][] =>
      filters.map((filter) => {
        selectByIndex(part, filter, part.rows.length);
        return part.matches.toSet().first(part.rows.length);
      });
    const expected = selected(new Catalogue(source).byCompany);
    const stepCount = [...new Catalogue(source).byCompany.warming()].length;
    // The texts of two indexes, their words, the order of the words, and the rest.
    expect(stepCount).toBeGreaterThanOrEqual(11);
    for (let asked = 0; asked <= stepCount; asked++) {
      const { byCompany } = new Catalogue(source);
      const warming = byCompany.warming();
      for (let step = 0; step < asked; step++) warming.next();
      expect(selected(byCompany)).toEqual(expected);
      for (const _ of warming);
      expect(selected(byCompany)).toEqual(expected);
    }
  });

  it('answer alike when a cohort has too much text for an index', () => {
    const rows = 9;
    const long = 'x'.repeat(Math.ceil(INDEX_UNITS_MAX / rows));
    const jobs = Array.from({ length: rows }, (_, i) => jobOf(i, { title: `${i}${long} title${i % 2}` }));
    const catalogue = new Catalogue(openedJobs(jobs));
    expect(catalogue.byCompany.titleIndex).toBe(null);
    const ids = search(catalogue, { keyword: 'TITLE1' }, 10).jobs.map(({ id }) => id);
    expect(ids.sort()).toEqual(['000001', '000003', '000005', '000007']);
    expect(signals(catalogue, { role: 'title1 3x' }, 5, observationPeriodEndingAt(1)).observedSampleJobs).toBe(1);
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
