/** What a question asks of a row, taken from filters as they were written (decisions §3, "Order, cohort, matching"). */
import type { EmploymentType, RemoteStatus } from '../job.ts';
import { comparedText, TERM_COUNT_MAX, termsOf } from '../terms.ts';

/**
 * What a question asks of a row. Texts are in compared form; no terms and `undefined` ask nothing. Terms may be put in another order
 * by whoever looks for them.
 */
export interface RowFilter {
  readonly title: string[];
  readonly location: string[];
  /** In title, company name, department and skills, each term in any of them. */
  readonly keyword: string[];
  /** The whole department. */
  readonly department: string | undefined;
  readonly remoteStatus: RemoteStatus | undefined;
  readonly employmentType: EmploymentType | undefined;
}

/** Filters as they were written. */
interface WrittenFilters {
  role?: string | undefined;
  location?: string | undefined;
  keyword?: string | undefined;
  department?: string | undefined;
  /** `false` asks for on-site jobs alone (specification, "Methodology statements"). */
  remote?: boolean | undefined;
  employmentType?: EmploymentType | undefined;
}

export function wantedOf(filters: WrittenFilters): RowFilter {
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
function distinctTerms(text: string | undefined): string[] {
  if (text === undefined) return [];
  const terms = termsOf(text);
  if (terms.length < 2) return terms;
  const distinct: string[] = [];
  for (const term of terms) if (!distinct.includes(term)) distinct.push(term);
  if (distinct.length > TERM_COUNT_MAX) throw new RangeError(`a filter has ${distinct.length} terms`);
  const units: number[] = [];
  for (const term of distinct) units.push(unitBitsOf(term));
  const needed: string[] = [];
  for (let i = 0; i < distinct.length; i++) if (!isInside(i, distinct, units)) needed.push(distinct[i]!);
  return needed;
}

/** One bit for every unit modulo 32: most terms have one that another term lacks, and need no look inside. */
function unitBitsOf(term: string): number {
  let bits = 0;
  for (let i = 0; i < term.length; i++) bits |= 1 << (term.charCodeAt(i) & 31);
  return bits;
}

/** units  of each term what `unitBitsOf` says */
function isInside(place: number, terms: readonly string[], units: readonly number[]): boolean {
  const term = terms[place]!;
  for (let i = 0; i < terms.length; i++) {
    if (terms[i]!.length > term.length && (units[place]! & ~units[i]!) === 0 && terms[i]!.includes(term)) return true;
  }
  return false;
}

export function isUnfiltered(wanted: RowFilter): boolean {
  return (
    wanted.title.length === 0 &&
    wanted.location.length === 0 &&
    wanted.keyword.length === 0 &&
    wanted.department === undefined &&
    wanted.remoteStatus === undefined &&
    wanted.employmentType === undefined
  );
}
