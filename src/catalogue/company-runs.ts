/**
 * The rows of the catalogue's cohort company after company, so that a company is a run of bits in every set of positions:
 * its matching jobs are counted a word at a time, and companies come in an order in which the counting can stop early.
 */
import { ROW_COUNT_MAX } from './limits.ts';
import type { Snapshot } from './snapshot.ts';

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

/** The runs of the first `count` rows of a snapshot, at most 2^16. */
export function companyRunsOf({ employer, employerCompany }: Snapshot, count: number): CompanyRuns {
  const numberOf = new Map<number, number>();
  const codes: number[] = [];
  const sizes: number[] = [];
  const numbers = new Uint16Array(count);
  for (let row = 0; row < count; row++) {
    const code = employerCompany[employer[row]!]!;
    let number = numberOf.get(code);
    if (number === undefined) {
      number = codes.length;
      numberOf.set(code, number);
      codes.push(code);
      sizes.push(0);
    }
    numbers[row] = number;
    sizes[number] = sizes[number]! + 1;
  }
  // Size and code in one whole number, so that the sort is a native one over doubles; codes are less than ROW_COUNT_MAX.
  const keys = new Float64Array(codes.length);
  for (let number = 0; number < keys.length; number++) {
    keys[number] = (count - sizes[number]!) * ROW_COUNT_MAX + codes[number]!;
  }
  keys.sort();
  const companies = new Uint32Array(keys.length);
  const offsets = new Uint32Array(keys.length + 1);
  /** By number: the position of the company's next row. */
  const next = new Uint32Array(keys.length);
  for (let place = 0; place < keys.length; place++) {
    const code = keys[place]! % ROW_COUNT_MAX;
    const number = numberOf.get(code)!;
    companies[place] = code;
    next[number] = offsets[place]!;
    offsets[place + 1] = offsets[place]! + sizes[number]!;
  }
  const rows = new Uint32Array(count);
  const positionOf = new Uint16Array(count);
  for (let row = 0; row < count; row++) {
    const position = next[numbers[row]!]!;
    next[numbers[row]!] = position + 1;
    rows[position] = row;
    positionOf[row] = position;
  }
  return { companies, offsets, rows, positionOf };
}
