/**
 * The facts behind answers about one company (siblings §4): counts over all its jobs. Cost: some passes over its rows,
 * so the facts of large companies are cached (listing-indexes.ts).
 */
import { DOMAIN_EVIDENCE, isStated } from '../domain-evidence.ts';
import { TOP_ENTRIES_MAX } from '../limits.ts';
import { type CodeCounts, type CountedCode, mostFrequent } from '../questions/top-codes.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { recordedIn, topDepartments } from './department-counts.ts';
import type { DepartmentCount } from './listing-answers.ts';
import type { TextGroups } from './text-groups.ts';
import { TimeCounts } from './time-counts.ts';

export interface CompanyFacts {
  readonly activeCount: number;
  readonly closedCount: number;
  /** Grouped; at most ten. */
  readonly departments: readonly DepartmentCount[];
  /** As recorded; at most ten each, count descending, then code. */
  readonly recordedDepartments: readonly CountedCode[];
  readonly skills: readonly CountedCode[];
  readonly engineeringJobs: number;
  readonly jobsWithoutDepartment: number;
  readonly assignedDomainJobs: number;
  /** Over active and closed jobs. */
  readonly firstObservedMs: number;
  readonly lastObservedMs: number;
  readonly firstObserved: TimeCounts;
  readonly closed: TimeCounts;
}

/** What counting needs besides the columns; the catalogue owns it. */
export interface CountingTools {
  /** Empty between uses. */
  readonly departmentCounts: CodeCounts;
  readonly skillCounts: CodeCounts;
  isEngineering(department: number): boolean;
}

/** @param rows all of the company, ascending; at least one */
export function companyFactsOf(
  snapshot: Snapshot,
  rows: Uint32Array,
  departmentGroups: TextGroups,
  tools: CountingTools,
): CompanyFacts {
  const { department, employer, employerEvidence, lastObserved, skillOffsets, skills } = snapshot;
  const { departmentCounts, skillCounts } = tools;
  let activeCount = 0;
  let assignedDomainJobs = 0;
  let lastObservedMs = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    lastObservedMs = Math.max(lastObservedMs, lastObserved[row]!);
    if (row >= snapshot.activeCount) continue;
    activeCount++;
    const evidence = DOMAIN_EVIDENCE[employerEvidence[employer[row]!]! - 1];
    if (evidence !== undefined && !isStated(evidence)) assignedDomainJobs++;
  }
  const active = rows.subarray(0, activeCount);
  departmentCounts.addOf(active, department);
  skillCounts.addAllOf(active, skillOffsets, skills);
  const recorded = departmentCounts.take();
  let engineeringJobs = 0;
  for (const { code, count } of recorded) if (code !== 0 && tools.isEngineering(code)) engineeringJobs += count;
  const firstObserved = firstObservedOf(snapshot, rows);
  const closings = Float64Array.from(rows.subarray(activeCount), (row) => snapshot.closedAt(row)!);
  return {
    activeCount,
    closedCount: rows.length - activeCount,
    departments: topDepartments(snapshot, departmentGroups, recordedIn(snapshot, active)),
    recordedDepartments: mostFrequent(
      recorded.filter(({ code }) => code !== 0),
      TOP_ENTRIES_MAX,
    ),
    skills: mostFrequent(skillCounts.take(), TOP_ENTRIES_MAX),
    engineeringJobs,
    jobsWithoutDepartment: recorded.find(({ code }) => code === 0)?.count ?? 0,
    assignedDomainJobs,
    firstObservedMs: firstObserved.firstMs,
    lastObservedMs,
    firstObserved,
    closed: new TimeCounts(closings),
  };
}

/** When some jobs were first observed. */
export function firstObservedOf({ firstObserved }: Snapshot, rows: Uint32Array): TimeCounts {
  const times = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) times[i] = firstObserved[rows[i]!]!;
  return new TimeCounts(times);
}
