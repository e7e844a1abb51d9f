/**
 * The market question (siblings §2): the departments, workplace types and places of the matching jobs of the cohort.
 */
import { keepTop } from '../../base/top-list.ts';
import type { Catalogue } from '../catalogue.ts';
import type { CohortFacts } from '../cohort.ts';
import type { RowGroups } from '../index/cohort-groups.ts';
import { rowFilterOf } from '../index/row-filter.ts';
import { EMPLOYMENT_TYPES, type EmploymentType, REMOTE_STATUSES, type RemoteStatus } from '../job.ts';
import { TOP_ENTRIES_MAX } from '../limits.ts';
import { type CohortFilters, matchingRows } from './cohort-rows.ts';
import type { ObservationPeriod } from './period.ts';

export interface Market {
  readonly cohort: CohortFacts;
  /** `null` when the cohort is a sample. */
  readonly matchingActiveJobs: number | null;
  /** Matching jobs of the cohort; all counts below are of them. */
  readonly observedSampleJobs: number;
  readonly companiesInSample: number;
  /** Last observed, and first observed, inside the period. */
  readonly recentlyObservedJobs: number;
  readonly firstObservedJobs: number;
  /** At most ten each, count descending, then the shown text ascending by code unit. */
  readonly byDepartment: { readonly department: string; readonly jobCount: number }[];
  readonly byLocation: { readonly location: string; readonly jobCount: number }[];
  /** Every value of the closed list, in its order. */
  readonly byRemoteStatus: { readonly remoteStatus: RemoteStatus; readonly jobCount: number }[];
  readonly byEmploymentType: { readonly employmentType: EmploymentType; readonly jobCount: number }[];
}

export function market(catalogue: Catalogue, filters: CohortFilters, period: ObservationPeriod): Market {
  const { cohort, groups, snapshot } = catalogue;
  const { department, departments, location, locations } = snapshot;
  const rows = matchingRows(catalogue, cohort, rowFilterOf(filters));
  const ofRemote = countsOf(rows, snapshot.remoteStatus, REMOTE_STATUSES.length);
  const ofEmployment = countsOf(rows, snapshot.employmentType, EMPLOYMENT_TYPES.length);
  return {
    cohort: cohort.facts,
    matchingActiveJobs: cohort.facts.sampled ? null : rows.length,
    observedSampleJobs: rows.length,
    companiesInSample: groupsAmong(rows, groups.company).length,
    recentlyObservedJobs: countInside(rows, snapshot.lastObserved, period),
    firstObservedJobs: countInside(rows, snapshot.firstObserved, period),
    byDepartment: topOf(groupsAmong(rows, groups.department), (row) => departments.textOf(department[row]!)).map(
      ({ count, text }) => ({ department: text, jobCount: count }),
    ),
    byLocation: topOf(groupsAmong(rows, groups.location), (row) => locations.textOf(location[row]!)).map(
      ({ count, text }) => ({ location: text, jobCount: count }),
    ),
    byRemoteStatus: REMOTE_STATUSES.map((remoteStatus, code) => ({ remoteStatus, jobCount: ofRemote[code]! })),
    byEmploymentType: EMPLOYMENT_TYPES.map((employmentType, code) => ({
      employmentType,
      jobCount: ofEmployment[code]!,
    })),
  };
}

function countsOf(rows: Uint32Array, codes: Uint8Array, codeCount: number): Uint32Array {
  const counts = new Uint32Array(codeCount);
  for (let i = 0; i < rows.length; i++) counts[codes[rows[i]!]!]!++;
  return counts;
}

function countInside(rows: Uint32Array, times: Float64Array, { endMs, startMs }: ObservationPeriod): number {
  let count = 0;
  for (let i = 0; i < rows.length; i++) {
    const time = times[rows[i]!]!;
    if (time >= startMs && time <= endMs) count++;
  }
  return count;
}

interface CountedGroup {
  readonly count: number;
  /** Its newest matching job. */
  readonly row: number;
}

/** The groups of some rows, in no order; rows of group 0 have no group. */
function groupsAmong(rows: Uint32Array, { groupCount, groupOf }: RowGroups): CountedGroup[] {
  const counts = new Uint32Array(groupCount);
  const newest = new Uint32Array(groupCount).fill(0xffffffff);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const group = groupOf[row]!;
    counts[group] = counts[group]! + 1;
    if (row < newest[group]!) newest[group] = row;
  }
  const counted: CountedGroup[] = [];
  for (let group = 1; group < groupCount; group++) {
    if (counts[group]! > 0) counted.push({ count: counts[group]!, row: newest[group]! });
  }
  return counted;
}

interface ShownGroup {
  readonly count: number;
  readonly text: string;
}

/** The ten largest groups, in order. A text is decoded only where the counts do not decide. */
function topOf(groups: readonly CountedGroup[], textOf: (row: number) => string): ShownGroup[] {
  const top: ShownGroup[] = [];
  for (const { count, row } of groups) {
    const last = top[TOP_ENTRIES_MAX - 1];
    if (last !== undefined && count < last.count) continue;
    keepTop(top, { count, text: textOf(row) }, TOP_ENTRIES_MAX, comesBefore);
  }
  return top;
}

const comesBefore = (left: ShownGroup, right: ShownGroup): boolean =>
  left.count === right.count ? left.text < right.text : left.count > right.count;
