/**
 * The search question (specification, "GET /v1/jobs/search"): matching jobs, newest observation first. It is no aggregate and
 * looks at every active job of the catalogue, or of a company (decisions §3, "Order, cohort, matching").
 */
import type { Catalogue } from '../catalogue.ts';
import type { SearchFacts } from '../cohort.ts';
import type { CompanyDomain } from '../company-domain.ts';
import { isUnfiltered, type RowFilter, rowFilterOf } from '../index/row-filter.ts';
import { RowScan } from '../index/row-scan.ts';
import type { EmploymentType } from '../job.ts';
import { COHORT_ROWS_MAX, SCANNED_ROWS_MAX } from '../limits.ts';
import type { FoundRows } from '../whole/row-finder.ts';
import { selectRows } from '../whole/select-rows.ts';
import type { FoundJob } from './found-jobs.ts';

/** Filters as the request has them; each text of at most eight terms. */
export interface SearchFilters {
  keyword?: string | undefined;
  location?: string | undefined;
  company?: CompanyDomain | undefined;
  /** `true` = remote, `false` = on site. */
  remote?: boolean | undefined;
  employmentType?: EmploymentType | undefined;
}

export interface SearchAnswer {
  /** Candidates are the matching jobs, the COHORT_ROWS_MAX newest at most; times are those of all active jobs of the scope. */
  readonly coverage: SearchFacts;
  readonly jobs: FoundJob[];
}

/**
 * The first `limit` matching jobs of the catalogue, or of the company when the filters name one. A company that is not in the
 * catalogue has no job.
 * @throws SnapshotChangedError when the snapshot's file changed after it was opened
 */
export function search(catalogue: Catalogue, filters: SearchFilters, limit: number): SearchAnswer {
  const { foundJobs, snapshot } = catalogue;
  const { lastObserved } = snapshot;
  const filter = rowFilterOf(filters);
  const { company } = filters;
  const rows = company === undefined ? undefined : snapshot.activeRowsIn(snapshot.companyOf(company));
  const found = rows === undefined ? inCatalogue(catalogue, filter, limit) : inRows(catalogue, filter, rows, limit);
  const rowCount = rows?.length ?? snapshot.activeCount;
  const timeAt = (place: number): number => lastObserved[rows === undefined ? place : rows[place]!]!;
  return {
    coverage: {
      basis: 'matching jobs',
      scope: company === undefined ? 'monitored catalogue' : 'requested company',
      sampled: found.count > COHORT_ROWS_MAX,
      candidateJobs: Math.min(found.count, COHORT_ROWS_MAX),
      newestObservedMs: rowCount === 0 ? null : timeAt(0),
      oldestObservedMs: rowCount === 0 ? null : timeAt(rowCount - 1),
    },
    jobs: foundJobs.at(found.rows),
  };
}

function inCatalogue({ finder, snapshot }: Catalogue, filter: RowFilter, limit: number): FoundRows {
  const { activeCount } = snapshot;
  if (!isUnfiltered(filter)) {
    return selectRows(
      snapshot,
      finder,
      filter,
      { start: 0, end: activeCount },
      { rows: limit, count: COHORT_ROWS_MAX },
    );
  }
  return { rows: Array.from({ length: Math.min(limit, activeCount) }, (_, row) => row), count: activeCount };
}

/** @param rows all active rows of a company, ascending */
function inRows({ finder, snapshot }: Catalogue, filter: RowFilter, rows: Uint32Array, limit: number): FoundRows {
  if (isUnfiltered(filter)) return { rows: [...rows.subarray(0, limit)], count: rows.length };
  if (rows.length > SCANNED_ROWS_MAX) {
    const active = { start: 0, end: snapshot.activeCount };
    return selectRows(snapshot, finder, filter, active, { rows: limit, count: COHORT_ROWS_MAX }, [rows]);
  }
  const matches = new RowScan(snapshot, filter, rows.length).matchesAmong(rows, rows.length);
  return { rows: matches.slice(0, limit).map((index) => rows[index]!), count: matches.length };
}
