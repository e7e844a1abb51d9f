/**
 * The rows of the catalogue's cohort company after company, so that each company is a run of bits in every set of positions,
 * and its matching jobs are counted a word at a time. The largest companies come first, so that counting can stop early.
 */
import { COHORT_ROWS_MAX } from '../limits.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

export interface CompanyRuns {
  /** Codes of the companies with a row, those with the most rows first, equal ones ascending. */
  readonly companies: Uint32Array;
  /** Where the positions of each company start; one more element than there are companies. */
  readonly offsets: Uint32Array;
  /** The row at each position; ascending in each company, so the newest observation comes first. */
  readonly rows: Uint32Array;
  /** The position of each row. */
  readonly positionOf: Uint16Array;
}

/**
 * The runs of the first `count` rows of a snapshot, at most COHORT_ROWS_MAX. It packs sort key and payload into one number
 * and sorts natively: a Map and a comparator take several times as long in a fresh process.
 */
export function companyRunsOf({ employer, employerCompany }: Snapshot, count: number): CompanyRuns {
  const byCompany = new Float64Array(count);
  for (let row = 0; row < count; row++) byCompany[row] = employerCompany[employer[row]!]! * COHORT_ROWS_MAX + row;
  byCompany.sort();
  // Companies by code, and where each one's rows start in that order.
  const codes = new Uint32Array(count);
  const starts = new Uint32Array(count + 1);
  let companyCount = 0;
  for (let place = 0; place < count; place++) {
    const code = Math.floor(byCompany[place]! / COHORT_ROWS_MAX);
    if (companyCount > 0 && code === codes[companyCount - 1]) continue;
    codes[companyCount] = code;
    starts[companyCount++] = place;
  }
  starts[companyCount] = count;
  const bySize = new Float64Array(companyCount);
  for (let number = 0; number < companyCount; number++) {
    const size = starts[number + 1]! - starts[number]!;
    bySize[number] = (COHORT_ROWS_MAX - size) * COHORT_ROWS_MAX + number;
  }
  bySize.sort();

  const companies = new Uint32Array(companyCount);
  const offsets = new Uint32Array(companyCount + 1);
  const rows = new Uint32Array(count);
  const positionOf = new Uint16Array(count);
  let position = 0;
  for (let place = 0; place < companyCount; place++) {
    const number = bySize[place]! % COHORT_ROWS_MAX;
    companies[place] = codes[number]!;
    for (let i = starts[number]!; i < starts[number + 1]!; i++) {
      const row = byCompany[i]! % COHORT_ROWS_MAX;
      rows[position] = row;
      positionOf[row] = position++;
    }
    offsets[place + 1] = position;
  }
  return { companies, offsets, rows, positionOf };
}
