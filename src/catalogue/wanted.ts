/** What a question asks of a row, taken from filters as they were written (decisions §3, "Order, cohort, matching"). */
import type { EmploymentType, RemoteStatus } from './job.ts';
import { comparedText, TERM_COUNT_MAX, termsOf } from './terms.ts';

/** What a question asks of a row. Texts are in compared form; no terms and `undefined` ask nothing. */
export interface Wanted {
  readonly title: readonly string[];
  readonly location: readonly string[];
  /** In title, company name, department and skills, each term in any of them. */
  readonly keyword: readonly string[];
  /** The whole department. */
  readonly department: string | undefined;
  readonly remoteStatus: RemoteStatus | undefined;
  readonly employmentType: EmploymentType | undefined;
}

/** Filters as they were written. */
export interface WrittenFilters {
  role?: string | undefined;
  location?: string | undefined;
  keyword?: string | undefined;
  department?: string | undefined;
  /** `false` asks for on-site jobs alone (specification, "Methodology statements"). */
  remote?: boolean | undefined;
  employmentType?: EmploymentType | undefined;
}

export function wantedOf(filters: WrittenFilters): Wanted {
  return {
    title: distinctTerms(filters.role),
    location: distinctTerms(filters.location),
    keyword: distinctTerms(filters.keyword),
    department: filters.department === undefined ? undefined : comparedText(filters.department),
    remoteStatus: filters.remote === undefined ? undefined : filters.remote ? 'remote' : 'on_site',
    employmentType: filters.employmentType,
  };
}

/** Each term once, and none that lies inside another one: a text that holds `senior` holds `e`. */
function distinctTerms(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const terms = termsOf(text);
  if (terms.length < 2) return terms;
  const distinct: string[] = [];
  for (const term of terms) if (!distinct.includes(term)) distinct.push(term);
  if (distinct.length > TERM_COUNT_MAX) throw new RangeError(`a filter has ${distinct.length} terms`);
  // One bit for what a unit is modulo 32: most terms have a bit that another one lacks, and need no look inside.
  const units = distinct.map(unitBitsOf);
  const needed: string[] = [];
  for (let i = 0; i < distinct.length; i++) {
    const term = distinct[i]!;
    let isNeeded = true;
    for (let j = 0; j < distinct.length; j++) {
      if ((units[i]! & ~units[j]!) === 0 && distinct[j]!.length > term.length && distinct[j]!.includes(term))
        isNeeded = false;
    }
    if (isNeeded) needed.push(term);
  }
  return needed;
}

function unitBitsOf(term: string): number {
  let bits = 0;
  for (let i = 0; i < term.length; i++) bits |= 1 << (term.charCodeAt(i) & 31);
  return bits;
}

export function isUnfiltered(wanted: Wanted): boolean {
  return (
    wanted.title.length === 0 &&
    wanted.location.length === 0 &&
    wanted.keyword.length === 0 &&
    wanted.department === undefined &&
    wanted.remoteStatus === undefined &&
    wanted.employmentType === undefined
  );
}
