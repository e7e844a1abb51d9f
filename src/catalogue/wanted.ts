/** What a question asks of a row, taken from filters as they were written (decisions §3, "Order, cohort, matching"). */
import type { EmploymentType, RemoteStatus } from './job.ts';
import { comparedText, TERM_COUNT_MAX } from './terms.ts';

const BLANK = 0x20;

/**
 * What a question asks of a row. Texts are in compared form; no terms and `undefined` ask nothing. Terms may be put in another order
 * by whoever looks for them.
 */
export interface Wanted {
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
function distinctTerms(text: string | undefined): string[] {
  if (text === undefined) return [];
  const compared = comparedText(text);
  if (!compared.includes(' ')) return compared === '' ? [] : [compared];
  const terms: string[] = [];
  /** Of each term one bit for every unit modulo 32: most terms have one that another term lacks, and need no look inside. */
  const bits: number[] = [];
  let termBits = 0;
  for (let i = 0, start = 0; i <= compared.length; i++) {
    const unit = i < compared.length ? compared.charCodeAt(i) : BLANK;
    if (unit !== BLANK) {
      termBits |= 1 << (unit & 31);
      continue;
    }
    const term = compared.slice(start, i);
    if (!terms.includes(term)) {
      terms.push(term);
      bits.push(termBits);
    }
    start = i + 1;
    termBits = 0;
  }
  if (terms.length > TERM_COUNT_MAX) throw new RangeError(`a filter has ${terms.length} terms`);
  let needed: string[] | undefined;
  for (let i = 0; i < terms.length; i++) {
    if (!isInside(i, terms, bits)) needed?.push(terms[i]!);
    else needed ??= terms.slice(0, i);
  }
  return needed ?? terms;
}

function isInside(place: number, terms: readonly string[], bits: readonly number[]): boolean {
  const term = terms[place]!;
  for (let i = 0; i < terms.length; i++) {
    if ((bits[place]! & ~bits[i]!) === 0 && terms[i]!.length > term.length && terms[i]!.includes(term)) return true;
  }
  return false;
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
