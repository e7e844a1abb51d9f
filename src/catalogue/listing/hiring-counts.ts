/**
 * The data behind the hiring metrics of the whole catalogue (`GET /v1/metrics/hiring`, siblings §4): when jobs were
 * first observed, in order, and counts that do not depend on the period. The snapshot has the closings in order.
 *
 * Memory: 8 bytes a job, and as much for each job of the ten largest companies. Cost of an answer: a few binary
 * searches; the top companies are found again when a job enters or leaves the period.
 */
import { firstWhere } from '../../base/first-where.ts';
import { keepTop } from '../../base/top-list.ts';
import { KEPT_ROWS_MIN, TOP_ENTRIES_MAX } from '../limits.ts';
import type { ObservationPeriod } from '../questions/period.ts';
import { type CountedCode, mostFrequent } from '../questions/top-codes.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { firstObservedOf } from './company-facts.ts';
import { recordedInActive, topDepartments } from './department-counts.ts';
import type { HiringMetrics } from './listing-answers.ts';
import { shownCompany } from './shown-company.ts';
import type { TextGroups } from './text-groups.ts';
import { TimeCounts } from './time-counts.ts';

interface RankedCompany {
  readonly company: number;
  readonly active: number;
  readonly firstObserved: number;
}

export class HiringCounts {
  readonly #snapshot: Snapshot;
  readonly #firstObserved: TimeCounts;
  /** Companies with an active job that may be among the first ten, whatever the period. */
  readonly #candidates: Uint32Array;
  /** For the large candidates, once they were compared. */
  readonly #ofCompanies = new Map<number, TimeCounts>();
  readonly topDepartments: HiringMetrics['topDepartments'];
  readonly topSkills: HiringMetrics['topSkills'];
  /** The last answer, and how many jobs were first observed before its period and before that period's end. */
  #topCompanies: { before: number; beforeEnd: number; companies: HiringMetrics['topCompanies'] } | undefined;

  constructor(snapshot: Snapshot, departmentGroups: TextGroups) {
    this.#snapshot = snapshot;
    this.#firstObserved = new TimeCounts(snapshot.firstObserved);
    this.#candidates = candidatesIn(snapshot);
    this.topDepartments = topDepartments(snapshot, departmentGroups, recordedInActive(snapshot));
    this.topSkills = topSkills(snapshot);
  }

  /** Jobs, active and closed, that were first observed inside a period. */
  firstObservedIn(period: ObservationPeriod): number {
    return this.#firstObserved.inside(period);
  }

  /** Jobs that closed inside a period. */
  closedIn({ endMs, startMs }: ObservationPeriod): number {
    return this.#snapshot.closedBetween(startMs, endMs).length;
  }

  topCompaniesIn(period: ObservationPeriod): HiringMetrics['topCompanies'] {
    const before = this.#firstObserved.before(period.startMs);
    const beforeEnd = this.#firstObserved.before(period.endMs + 1);
    let known = this.#topCompanies;
    if (known?.before !== before || known.beforeEnd !== beforeEnd) {
      known = { before, beforeEnd, companies: this.#rank(period) };
      this.#topCompanies = known;
    }
    return known.companies;
  }

  #rank(period: ObservationPeriod): HiringMetrics['topCompanies'] {
    const snapshot = this.#snapshot;
    const top: RankedCompany[] = [];
    for (const company of this.#candidates) {
      const active = snapshot.activeCountOf(company);
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
    const rows = this.#snapshot.rowsIn(company);
    if (rows.length >= KEPT_ROWS_MIN) {
      const known = this.#ofCompanies.get(company) ?? firstObservedOf(this.#snapshot, rows);
      this.#ofCompanies.set(company, known);
      return known.inside(period);
    }
    const { firstObserved } = this.#snapshot;
    let count = 0;
    for (let i = 0; i < rows.length; i++) {
      const time = firstObserved[rows[i]!]!;
      if (time >= period.startMs && time <= period.endMs) count++;
    }
    return count;
  }
}

function topSkills({ activeCount, skillNames, skillOffsets, skills }: Snapshot): HiringMetrics['topSkills'] {
  const counts = new Uint32Array(skillNames.size);
  const end = skillOffsets[activeCount]!;
  for (let i = 0; i < end; i++) counts[skills[i]!]!++;
  const counted: CountedCode[] = [];
  for (let code = 0; code < counts.length; code++) if (counts[code]! > 0) counted.push({ code, count: counts[code]! });
  return mostFrequent(counted, TOP_ENTRIES_MAX).map(({ code, count }) => ({
    skill: skillNames.textOf(code),
    activeJobCount: count,
  }));
}

/** The ten companies with the most active jobs, and all others with as many as the tenth. */
function candidatesIn(snapshot: Snapshot): Uint32Array {
  const { companyOrder } = snapshot;
  const activeAt = (place: number): number => snapshot.activeCountOf(companyOrder[place]!);
  const withActive = firstWhere(0, companyOrder.length, (place) => activeAt(place) === 0);
  const first = Math.min(TOP_ENTRIES_MAX, withActive);
  if (first === 0) return companyOrder.subarray(0, 0);
  const least = activeAt(first - 1);
  return companyOrder.subarray(
    0,
    firstWhere(first, withActive, (place) => activeAt(place) < least),
  );
}

/** Ties go by code: companies are numbered by domain or compared name. */
function comesBefore(left: RankedCompany, right: RankedCompany): boolean {
  if (left.active !== right.active) return left.active > right.active;
  if (left.firstObserved !== right.firstObserved) return left.firstObserved > right.firstObserved;
  return left.company < right.company;
}
