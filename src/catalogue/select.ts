/**
 * Which positions of a cohort a question matches (decisions §3, "Order, cohort, matching"): every term of every filter
 * must lie inside one of the fields that the filter looks in. By the index, or row by row where there is none; both
 * give the same positions.
 */
import type { BitSet } from '../base/bitset.ts';
import type { Cohort } from './cohort.ts';
import { EMPLOYMENT_TYPES, type EmploymentType, REMOTE_STATUSES, type RemoteStatus } from './job.ts';
import { SCANNED_ROWS_MAX } from './limits.ts';
import type { FoundTerm, TermIndex } from './term-index.ts';
import { comparedText, TERM_COUNT_MAX, termsOf } from './terms.ts';
import type { TextColumn } from './text-column.ts';

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

/** Terms that lie inside another one ask nothing of their own: a text that holds `senior` holds `e`. */
function distinctTerms(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const terms = [...new Set(termsOf(text))];
  if (terms.length > TERM_COUNT_MAX) throw new RangeError(`a filter has ${terms.length} terms`);
  if (terms.length < 2) return terms;
  return terms.filter((term) => !terms.some((other) => other.length > term.length && other.includes(term)));
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

/**
 * The matching positions, in a set of the cohort that is good until the next question.
 * indexed  whether an index is worth building for this cohort
 * enough   matches after which the rest is of no interest; a set may then hold only the newest ones
 */
export function select(cohort: Cohort, wanted: Wanted, indexed: boolean, enough: number): BitSet {
  return (indexed && selectByIndex(cohort, wanted)) || selectByScan(cohort, wanted, enough);
}

export function isWorthAnIndex(cohort: Cohort): boolean {
  return cohort.rows.length > SCANNED_ROWS_MAX;
}

/**
 * The rarest first: the rest looks at fewer rows, and a term that lies nowhere ends it before any row is looked at.
 * `undefined` when a group that is asked for has too much text for an index.
 */
function selectByIndex(cohort: Cohort, wanted: Wanted): BitSet | undefined {
  const { matching, one } = cohort;
  const terms: FoundTerm[] = [];
  let isNowhere = false;
  /** Whether the group has an index. */
  const find = (texts: readonly string[], indexOf: () => TermIndex | null): boolean => {
    if (texts.length === 0) return true;
    const index = indexOf();
    if (index === null) return false;
    for (const text of texts) {
      const found = index.find(text);
      if (found === undefined) isNowhere = true;
      else terms.push(found);
    }
    return true;
  };
  const isIndexed =
    find(wanted.title, () => cohort.titleIndex) &&
    find(wanted.location, () => cohort.locationIndex) &&
    find(wanted.keyword, () => cohort.keywordIndex);
  if (!isIndexed) return undefined;
  matching.clear();
  if (isNowhere) return matching;
  const department = wanted.department === undefined ? undefined : cohort.positionsByDepartment.get(wanted.department);
  if (wanted.department !== undefined && department === undefined) return matching;

  terms.sort((a, b) => a.rowCountMax - b.rowCountMax);
  let next = 0;
  if (department !== undefined) matching.addFrom(department, 0, department.length);
  else if (terms.length > 0) terms[next]!.index.addRows(terms[next++]!, matching);
  else matching.fill();
  const { remoteStatus, employmentType } = wanted;
  if (remoteStatus !== undefined && !matching.intersect(cohort.withRemoteStatus(remoteStatus))) return matching;
  if (employmentType !== undefined && !matching.intersect(cohort.withEmploymentType(employmentType))) return matching;
  while (next < terms.length) {
    const term = terms[next++]!;
    if (!term.index.keepRows(term, matching, one)) break;
  }
  return matching;
}

/**
 * Which of a few terms lie inside the texts of a dictionary, one bit a term. A text is decoded once a scan, however
 * many rows have it.
 */
class TermFinder {
  readonly #terms: readonly string[];
  readonly #column: TextColumn;
  readonly #found = new Map<number, number>();

  constructor(terms: readonly string[], column: TextColumn) {
    this.#terms = terms;
    this.#column = column;
  }

  in(code: number): number {
    let found = this.#found.get(code);
    if (found === undefined) {
      const text = this.#column.comparedOf(code);
      found = 0;
      for (let i = 0; i < this.#terms.length; i++) if (text.includes(this.#terms[i]!)) found |= 1 << i;
      this.#found.set(code, found);
    }
    return found;
  }
}

function selectByScan(cohort: Cohort, wanted: Wanted, enough: number): BitSet {
  const { matching, rows, snapshot } = cohort;
  matching.clear();
  const { department, employer, employmentType, location, remoteStatus, skillOffsets, skills, title } = snapshot;
  const remoteCode = wanted.remoteStatus === undefined ? -1 : REMOTE_STATUSES.indexOf(wanted.remoteStatus);
  const employmentCode = wanted.employmentType === undefined ? -1 : EMPLOYMENT_TYPES.indexOf(wanted.employmentType);
  const role = new TermFinder(wanted.title, snapshot.titles);
  const place = new TermFinder(wanted.location, snapshot.locations);
  const inTitle = new TermFinder(wanted.keyword, snapshot.titles);
  const inName = new TermFinder(wanted.keyword, snapshot.employerNames);
  const inDepartment = new TermFinder(wanted.keyword, snapshot.departments);
  const inSkill = new TermFinder(wanted.keyword, snapshot.skillNames);
  const allTitle = 2 ** wanted.title.length - 1;
  const allLocation = 2 ** wanted.location.length - 1;
  const allKeyword = 2 ** wanted.keyword.length - 1;
  const departments = new Map<number, boolean>();
  const isDepartment = (code: number): boolean => {
    let is = departments.get(code);
    if (is === undefined) {
      is = code !== 0 && snapshot.departments.comparedOf(code) === wanted.department;
      departments.set(code, is);
    }
    return is;
  };
  let count = 0;
  for (let age = 0; age < rows.length && count < enough; age++) {
    const position = cohort.positionByAge(age);
    const row = rows[position]!;
    if (remoteCode >= 0 && remoteStatus[row] !== remoteCode) continue;
    if (employmentCode >= 0 && employmentType[row] !== employmentCode) continue;
    if (wanted.department !== undefined && !isDepartment(department[row]!)) continue;
    // The empty text that code 0 stands for holds no term.
    if (allLocation !== 0 && place.in(location[row]!) !== allLocation) continue;
    if (allTitle !== 0 && role.in(title[row]!) !== allTitle) continue;
    if (allKeyword !== 0) {
      let found = inTitle.in(title[row]!) | inName.in(employer[row]!) | inDepartment.in(department[row]!);
      for (let i = skillOffsets[row]!; i < skillOffsets[row + 1]! && found !== allKeyword; i++) {
        found |= inSkill.in(skills[i]!);
      }
      if (found !== allKeyword) continue;
    }
    matching.add(position);
    count++;
  }
  return matching;
}
