/** The rows that an aggregate considers (decisions §3, "Order, cohort, matching"): at most 10000 active ones. */
import { DOMAIN_EVIDENCE, isStated } from './domain-evidence.ts';
import type { Snapshot } from './snapshot/snapshot.ts';

/** What an answer says about the rows that it was computed from. */
interface CandidateFacts {
  readonly scope: 'requested company' | 'monitored catalogue';
  /** Whether there are more candidates than the limit, so that counts are not totals. */
  readonly sampled: boolean;
  readonly candidateJobs: number;
  /** Last observations in the cohort, before filters, or of all active jobs that a search looks at; milliseconds; `null` when there is none. */
  readonly newestObservedMs: number | null;
  readonly oldestObservedMs: number | null;
}

/** Of an aggregate: its candidates are its cohort. */
export interface CohortFacts extends CandidateFacts {
  readonly basis: 'cohort';
  /** Jobs of the cohort without a recorded department. */
  readonly jobsWithoutDepartment: number;
  /** Jobs whose company's domain was assigned, not stated; absent: not counted. */
  readonly assignedDomainJobs?: number;
}

/** Of a search: its candidates are the matching jobs. */
export interface SearchFacts extends CandidateFacts {
  readonly basis: 'matching jobs';
}

/** One pass over the rows. */
function assignedDomainJobsIn({ employer, employerEvidence }: Snapshot, rows: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < rows.length; i++) {
    const evidence = DOMAIN_EVIDENCE[employerEvidence[employer[rows[i]!]!]! - 1];
    if (evidence !== undefined && !isStated(evidence)) count++;
  }
  return count;
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
      jobsWithoutDepartment: jobsWithoutDepartment(snapshot, rows),
    };
    // Counted when an answer asks for it, and not enumerable, so that comparing or copying the facts does not count.
    let assigned: number | undefined;
    Object.defineProperty(this.facts, 'assignedDomainJobs', {
      get: () => {
        assigned ??= assignedDomainJobsIn(snapshot, rows);
        return assigned;
      },
    });
  }
}

function jobsWithoutDepartment({ department }: Snapshot, rows: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < rows.length; i++) if (department[rows[i]!] === 0) count++;
  return count;
}
