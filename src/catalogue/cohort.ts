/**
 * The rows that a question considers (decisions §3, "Order, cohort, matching"): at most 10000 active ones. The catalogue's
 * are one part. A company's are parts of at most PART_ROWS_MAX rows, newest observations first, so that a question waits for
 * the index of one part at most.
 */
import { DOMAIN_EVIDENCE, isStated } from './domain-evidence.ts';
import { CohortPart } from './index/cohort-part.ts';
import { PART_ROWS_MAX } from './limits.ts';
import type { Snapshot } from './snapshot/snapshot.ts';

/** What an answer says about the rows that it was computed from. */
export interface CohortFacts {
  readonly scope: 'requested company' | 'monitored catalogue';
  /** Whether the scope has more active jobs than the cohort, so that counts are not totals. */
  readonly sampled: boolean;
  readonly candidateJobs: number;
  /** Jobs whose company's domain was assigned, not stated; absent: not counted. */
  readonly assignedDomainJobs?: number;
  /** Last observations in the cohort, before filters, milliseconds; `null` when it is empty. */
  readonly newestObservedMs: number | null;
  readonly oldestObservedMs: number | null;
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
  /** Whether there was a search already, so that the next one may build an index. */
  wasSearched = false;
  readonly #snapshot: Snapshot;
  #parts: readonly CohortPart[] | undefined;

  /** @param rows ascending */
  constructor(snapshot: Snapshot, rows: Uint32Array, scope: CohortFacts['scope'], sampled: boolean) {
    const count = rows.length;
    this.#snapshot = snapshot;
    this.rows = rows;
    this.facts = {
      scope,
      sampled,
      candidateJobs: count,
      newestObservedMs: count === 0 ? null : snapshot.lastObserved[rows[0]!]!,
      oldestObservedMs: count === 0 ? null : snapshot.lastObserved[rows[count - 1]!]!,
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

  /** The parts of a company's cohort, newest observations first; made on first use. */
  get parts(): readonly CohortPart[] {
    if (this.#parts === undefined) {
      const parts: CohortPart[] = [];
      for (let start = 0; start < this.rows.length; start += PART_ROWS_MAX) {
        parts.push(new CohortPart(this.#snapshot, this.rows.subarray(start, start + PART_ROWS_MAX)));
      }
      this.#parts = parts;
    }
    return this.#parts;
  }
}
