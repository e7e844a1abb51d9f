/** Compiles the filters of a request into a row filter (decisions §3, "Order, cohort, matching"). */
import type { EmploymentType, RemoteStatus } from '../job.ts';
import { comparedText, TERM_COUNT_MAX, termsOf } from '../terms.ts';

/** The conditions on a row. Texts are in compared form; an empty list or `undefined` is no condition. */
export interface RowFilter {
  readonly title: readonly string[];
  readonly location: readonly string[];
  /** Terms that title, company name, department or a skill must contain; each term in any of these. */
  readonly keyword: readonly string[];
  /** The whole department. */
  readonly department: string | undefined;
  readonly remoteStatus: RemoteStatus | undefined;
  readonly employmentType: EmploymentType | undefined;
}

/** Filters as the request has them. */
interface WrittenFilters {
  role?: string | undefined;
  location?: string | undefined;
  keyword?: string | undefined;
  department?: string | undefined;
  /** `false` asks for on-site jobs only (specification, "Methodology statements"). */
  remote?: boolean | undefined;
  employmentType?: EmploymentType | undefined;
}

export function rowFilterOf(filters: WrittenFilters): RowFilter {
  return {
    title: distinctTerms(filters.role),
    location: distinctTerms(filters.location),
    keyword: distinctTerms(filters.keyword),
    department: filters.department === undefined ? undefined : comparedText(filters.department),
    remoteStatus: filters.remote === undefined ? undefined : filters.remote ? 'remote' : 'on_site',
    employmentType: filters.employmentType,
  };
}

/** Distinct terms, without those inside another: a text that contains `senior` also contains `e`. */
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

/**
 * A bit for each code unit modulo 32: most terms have a bit that the other term lacks, which saves a search inside it.
 */
function unitBitsOf(term: string): number {
  let bits = 0;
  for (let i = 0; i < term.length; i++) bits |= 1 << (term.charCodeAt(i) & 31);
  return bits;
}

/** Whether another term contains the term at an index. @param units by term: its `unitBitsOf` */
function isInside(index: number, terms: readonly string[], units: readonly number[]): boolean {
  const term = terms[index]!;
  for (let i = 0; i < terms.length; i++) {
    if (terms[i]!.length > term.length && (units[index]! & ~units[i]!) === 0 && terms[i]!.includes(term)) return true;
  }
  return false;
}

export function isUnfiltered(filter: RowFilter): boolean {
  return (
    filter.title.length === 0 &&
    filter.location.length === 0 &&
    filter.keyword.length === 0 &&
    filter.department === undefined &&
    filter.remoteStatus === undefined &&
    filter.employmentType === undefined
  );
}
