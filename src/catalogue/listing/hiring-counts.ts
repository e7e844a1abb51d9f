/**
 * What the hiring metrics of the whole catalogue are counted from (siblings §4, `GET /v1/metrics/hiring`): when jobs were first
 * observed, in order, and what does not depend on the period. Closings stand in order in the snapshot.
 *
 * Memory: 8 bytes a job. Cost of an answer: a few binary searches; which companies are first is found again when a job enters or
 * leaves the period.
 */
import { firstWhere } from '../../base/first-where.ts';
import { keepTop } from '../../base/top-list.ts';
import { KEPT_ROWS_MIN, TOP_ENTRIES_MAX } from '../limits.ts';
import type { ObservationPeriod } from '../questions/period.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { CompanyFacts } from './company-facts.ts';
import { topDepartments } from './department-counts.ts';
import type { HiringMetrics } from './listing-answers.ts';
import { countInside } from './observed-times.ts';
import { shownCompany } from './shown-company.ts';
import type { SkillTable } from './skill-table.ts';
import type { TextGroups } from './text-groups.ts';

interface RankedCompany {
  readonly company: number;
  readonly active: number;
  readonly firstObserved: number;
}

export class HiringCounts {
  readonly #snapshot: Snapshot;
  readonly #factsOf: (company: number) => CompanyFacts;
  /** Ascending, one element a row. */
  readonly #firstObserved: Float64Array;
  /** Those with an active job that may be among the first ten whatever the period is. */
  readonly #candidates: Uint32Array;
  readonly topDepartments: HiringMetrics['topDepartments'];
  readonly topSkills: HiringMetrics['topSkills'];
  /** The last answer, and the places in `#firstObserved` that it is for. */
  #topCompanies: { start: number; end: number; companies: HiringMetrics['topCompanies'] } | undefined;

  constructor(
    snapshot: Snapshot,
    departmentGroups: TextGroups,
    { codes, jobCounts }: SkillTable,
    factsOf: (company: number) => CompanyFacts,
  ) {
    const { activeCount, firstObserved, skillNames } = snapshot;
    this.#snapshot = snapshot;
    this.#factsOf = factsOf;
    this.#firstObserved = firstObserved.slice().sort();
    this.#candidates = candidatesIn(snapshot);
    this.topDepartments = topDepartments(snapshot, departmentGroups, activeCount);
    this.topSkills = Array.from(codes.subarray(0, TOP_ENTRIES_MAX), (code, place) => ({
      skill: skillNames.textOf(code),
      activeJobCount: jobCounts[place]!,
    }));
  }

  /** Jobs, active and closed, that were first observed inside a period. */
  firstObservedIn(period: ObservationPeriod): number {
    return countInside(this.#firstObserved, period);
  }

  /** Jobs that closed inside a period. */
  closedIn({ endMs, startMs }: ObservationPeriod): number {
    const { activeCount, closedAtByClosedRow, closings } = this.#snapshot;
    const closedAt = (place: number): number => closedAtByClosedRow[closings[place]! - activeCount]!;
    const first = firstWhere(0, closings.length, (place) => closedAt(place) <= endMs);
    return firstWhere(first, closings.length, (place) => closedAt(place) < startMs) - first;
  }

  topCompaniesIn(period: ObservationPeriod): HiringMetrics['topCompanies'] {
    const times = this.#firstObserved;
    const start = firstWhere(0, times.length, (place) => times[place]! >= period.startMs);
    const end = firstWhere(start, times.length, (place) => times[place]! > period.endMs);
    let known = this.#topCompanies;
    if (known?.start !== start || known.end !== end) {
      known = { start, end, companies: this.#rank(period) };
      this.#topCompanies = known;
    }
    return known.companies;
  }

  #rank(period: ObservationPeriod): HiringMetrics['topCompanies'] {
    const snapshot = this.#snapshot;
    const top: RankedCompany[] = [];
    for (const company of this.#candidates) {
      const active = snapshot.activeRowsOf(company);
      keepTop(
        top,
        { company, active, firstObserved: this.#firstObservedOf(company, period) },
        TOP_ENTRIES_MAX,
        comesBefore,
      );
    }
    return top.map(({ active, company, firstObserved }) => ({
      company: shownCompany(snapshot, company),
      activeJobCount: active,
      firstObservedJobs: firstObserved,
    }));
  }

  #firstObservedOf(company: number, period: ObservationPeriod): number {
    const { companyOffsets, companyRows, firstObserved } = this.#snapshot;
    const start = companyOffsets[company]!;
    const end = companyOffsets[company + 1]!;
    if (end - start >= KEPT_ROWS_MIN) return countInside(this.#factsOf(company).times.firstObserved, period);
    let count = 0;
    for (let i = start; i < end; i++) {
      const time = firstObserved[companyRows[i]!]!;
      if (time >= period.startMs && time <= period.endMs) count++;
    }
    return count;
  }
}

/** The ten companies with the most active jobs, and all that have as many as the tenth. */
function candidatesIn(snapshot: Snapshot): Uint32Array {
  const { companyOrder } = snapshot;
  const activeAt = (place: number): number => snapshot.activeRowsOf(companyOrder[place]!);
  const withActive = firstWhere(0, companyOrder.length, (place) => activeAt(place) === 0);
  const first = Math.min(TOP_ENTRIES_MAX, withActive);
  if (first === 0) return companyOrder.subarray(0, 0);
  const least = activeAt(first - 1);
  return companyOrder.subarray(
    0,
    firstWhere(first, withActive, (place) => activeAt(place) < least),
  );
}

/** Companies are numbered by domain or compared name. */
function comesBefore(left: RankedCompany, right: RankedCompany): boolean {
  if (left.active !== right.active) return left.active > right.active;
  if (left.firstObserved !== right.firstObserved) return left.firstObserved > right.firstObserved;
  return left.company < right.company;
}
