/** The rows that an aggregate considers (decisions §3, "Order, cohort, matching"): at most 10000 active ones. */
import { DOMAIN_EVIDENCE, isStated } from './domain-evidence.ts';
import type { Snapshot } from './snapshot/snapshot.ts';

/** What an answer says about the rows that it was computed from. */
interface CandidateFacts {
  readonly scope: 'requested company' | 'monitored catalogue';
  /** Whether there are more candidates than the limit, so that counts are not totals. */
  readonly sampled: boolean;
  readonly candidateJobs: number;
  /**
   * Last observations in the cohort before filters, or among all active jobs that a search looks at; milliseconds;
   * `null` without any.
   */
  readonly newestObservedMs: number | null;
  readonly oldestObservedMs: number | null;
}

/** Facts of an aggregate: its candidates are its cohort. */
export interface CohortFacts extends CandidateFacts {
  readonly basis: 'cohort';
  /** Jobs of the cohort without a recorded department. */
  readonly jobsWithoutDepartment: number;
  /** Jobs whose company's domain was assigned, not stated. */
  readonly assignedDomainJobs: number;
}

/** Facts of one job, which is its own cohort. */
export interface JobFacts extends CandidateFacts {
  readonly basis: 'one job';
  /** 1 where the domain of the job's company was assigned, not stated. */
  readonly assignedDomainJobs: number;
}

/** Facts of a search: its candidates are the matching jobs. */
export interface SearchFacts extends CandidateFacts {
  readonly basis: 'matching jobs';
}

/** By code of the column: 1 = the domain was assigned. Code 0 is no domain. */
const IS_ASSIGNED = Uint8Array.from([0, ...DOMAIN_EVIDENCE.map((evidence) => (isStated(evidence) ? 0 : 1))]);

/** One pass over the rows. */
function countsOf(
  { department, employer, employerEvidence }: Snapshot,
  rows: Uint32Array,
): Pick<CohortFacts, 'jobsWithoutDepartment' | 'assignedDomainJobs'> {
  let jobsWithoutDepartment = 0;
  let assignedDomainJobs = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    if (department[row] === 0) jobsWithoutDepartment++;
    assignedDomainJobs += IS_ASSIGNED[employerEvidence[employer[row]!]!]!;
  }
  return { jobsWithoutDepartment, assignedDomainJobs };
}

export class Cohort {
  readonly facts: CohortFacts;
  /** Ascending, so newest observation first; owned by the cohort. */
  readonly rows: Uint32Array;

  /** @param rows ascending */
  constructor(snapshot: Snapshot, rows: Uint32Array, scope: CohortFacts['scope'], sampled: boolean) {
    const count = rows.length;
    this.rows = rows;
    this.facts = {
      scope,
      basis: 'cohort',
      sampled,
      candidateJobs: count,
      newestObservedMs: count === 0 ? null : snapshot.lastObserved[rows[0]!]!,
      oldestObservedMs: count === 0 ? null : snapshot.lastObserved[rows[count - 1]!]!,
      ...countsOf(snapshot, rows),
    };
  }
}
