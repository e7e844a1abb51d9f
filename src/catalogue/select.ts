/**
 * Which positions of a cohort a question matches (decisions §3, "Order, cohort, matching"): every term of every filter
 * must lie inside one of the fields that the filter looks in. By the index, or row by row where there is none; both
 * give the same positions.
 */
import type { Cohort } from './cohort.ts';
import { EMPLOYMENT_TYPES, type EmploymentType, REMOTE_STATUSES, type RemoteStatus } from './job.ts';
import { SCANNED_ROWS_MAX } from './limits.ts';
import type { Matches } from './matches.ts';
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

/** Each term once, and none that lies inside another one: a text that holds `senior` holds `e`. */
function distinctTerms(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const terms = termsOf(text);
  if (terms.length < 2) return terms;
  const distinct = terms.filter((term, place) => terms.indexOf(term) === place);
  if (distinct.length > TERM_COUNT_MAX) throw new RangeError(`a filter has ${distinct.length} terms`);
  return distinct.filter((term) => !distinct.some((other) => other.length > term.length && other.includes(term)));
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
 * The matching positions, good until the cohort's next question.
 * indexed  whether an index is worth building for this cohort
 * enough   matches after which the rest is of no interest; there may then be only the newest ones
 */
export function select(cohort: Cohort, wanted: Wanted, indexed: boolean, enough: number): Matches {
  if (!(indexed && selectByIndex(cohort, wanted))) selectByScan(cohort, wanted, enough);
  return cohort.matches;
}

export function isWorthAnIndex(cohort: Cohort): boolean {
  return cohort.rows.length > SCANNED_ROWS_MAX;
}

/**
 * The rarest first: the rest looks at fewer rows, and a term that lies nowhere ends it before any row is looked at. Says
 * whether it could be done: not when a group that is asked for has too much text for an index.
 */
function selectByIndex(cohort: Cohort, wanted: Wanted): boolean {
  const { matches } = cohort;
  const title = wanted.title.length === 0 ? undefined : cohort.titleIndex;
  const location = wanted.location.length === 0 ? undefined : cohort.locationIndex;
  const keyword = wanted.keyword.length === 0 ? undefined : cohort.keywordIndex;
  if (title === null || location === null || keyword === null) return false;
  matches.startWithNone();
  /** Rarest first. */
  const terms: FoundTerm[] = [];
  const areSomewhere =
    addTerms(wanted.title, title, terms) &&
    addTerms(wanted.location, location, terms) &&
    addTerms(wanted.keyword, keyword, terms);
  if (!areSomewhere) return true;

  let next = 0;
  if (wanted.department !== undefined) {
    const positions = cohort.positionsByDepartment.get(wanted.department);
    if (positions === undefined) return true;
    matches.startWith(positions);
  } else if (terms.length > 0) matches.startWithTerm(terms[next++]!);
  else matches.startWithAll();
  const { employmentType, remoteStatus } = wanted;
  let isAny = true;
  if (remoteStatus !== undefined) isAny = matches.keepSet(cohort.withRemoteStatus(remoteStatus));
  if (isAny && employmentType !== undefined) isAny = matches.keepSet(cohort.withEmploymentType(employmentType));
  while (isAny && next < terms.length) isAny = matches.keepTerm(terms[next++]!);
  if (!isAny) matches.startWithNone();
  return true;
}

/** Puts terms among those that were found already, rarest first. Says whether each lies somewhere. */
function addTerms(texts: readonly string[], index: TermIndex | undefined, into: FoundTerm[]): boolean {
  for (const text of texts) {
    const found = index?.find(text);
    if (found === undefined) return false;
    let place = into.length;
    into.push(found);
    for (; place > 0 && into[place - 1]!.rowCountMax > found.rowCountMax; place--) into[place] = into[place - 1]!;
    into[place] = found;
  }
  return true;
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

function selectByScan(cohort: Cohort, wanted: Wanted, enough: number): void {
  const { matches, rows, snapshot } = cohort;
  matches.startWithNone();
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
    matches.add(position);
    count++;
  }
}
