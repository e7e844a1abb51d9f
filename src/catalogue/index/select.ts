/**
 * Which positions of a part of a cohort match a filter (decisions §3, "Order, cohort, matching"): every term must be inside
 * one of the fields that its part of the filter names. By the index, or row by row where there is none; both give the same
 * positions.
 */
import type { CohortPart } from './cohort-part.ts';
import type { RowFilter } from './row-filter.ts';
import { RowScan } from './row-scan.ts';
import type { FoundTerm, RowBitmap, TermIndex } from './term-index.ts';

/** What an aggregate asks of the rows of a cohort. */
export type CohortFilter = Pick<RowFilter, 'title' | 'location' | 'department'>;

/**
 * Leaves the matches in `part.matches`, valid until the part's next question.
 * @param enough how many matches the caller needs; past that number later ones may be missing
 */
export function select(part: CohortPart, filter: CohortFilter, enough: number): void {
  if (!selectByIndex(part, filter, enough)) selectByScan(part, filter, enough);
}

/**
 * Applies the rarest term first, so that the others see fewer rows; a term that no row contains ends the search before
 * any row is read.
 * @returns false when a group of fields that the filter needs has too much text for an index
 */
export function selectByIndex(part: CohortPart, filter: CohortFilter, enough: number): boolean {
  const { matches } = part;
  const title = filter.title.length === 0 ? undefined : part.titleIndex;
  const location = filter.location.length === 0 ? undefined : part.locationIndex;
  if (title === null || location === null) return false;
  matches.startWithNone();
  /** The bitmaps that contain every match, and the terms without a bitmap; each list rarest first. */
  const bitmaps: RowBitmap[] = [];
  const listed: FoundTerm[] = [];
  const areAllFound =
    addTerms(filter.title, title, bitmaps, listed) && addTerms(filter.location, location, bitmaps, listed);
  if (!areAllFound) return true;

  // A term without a bitmap is in few rows, so its rows form the first list; each further such term must become a set,
  // so it comes last.
  let next = 0;
  if (filter.department !== undefined) {
    const { numberOf, offsets, positions } = part.positionsByDepartment;
    const number = numberOf.get(filter.department);
    if (number === undefined) return true;
    matches.startWith(positions, offsets[number]!, offsets[number + 1]!);
  } else if (listed.length > 0) matches.startWithTerm(listed[next++]!);
  else if (bitmaps.length > 0) {
    matches.startWithSets(bitmaps, enough);
    return true;
  } else matches.startWithAll();
  let isAny = true;
  for (let i = 0; isAny && i < bitmaps.length; i++) isAny = matches.keepSet(bitmaps[i]!);
  while (isAny && next < listed.length) isAny = matches.keepTerm(listed[next++]!);
  if (!isAny) matches.startWithNone();
  return true;
}

/** Looks up terms and adds them to the two lists. @returns whether every term is in some row */
function addTerms(
  texts: readonly string[],
  index: TermIndex | undefined,
  bitmaps: RowBitmap[],
  listed: FoundTerm[],
): boolean {
  for (const text of texts) {
    const found = index?.find(text);
    if (found === undefined) return false;
    if (found.wordsStart < 0) addByCount(found, listed);
    else addByCount(found, bitmaps);
  }
  return true;
}

/** Inserts after all entries with as many rows or fewer. */
function addByCount<T extends RowBitmap>(added: T, into: T[]): void {
  let place = into.length;
  into.push(added);
  for (; place > 0 && into[place - 1]!.rowCountMax > added.rowCountMax; place--) into[place] = into[place - 1]!;
  into[place] = added;
}

/** The same result as `selectByIndex`, row by row. */
export function selectByScan({ matches, rows, snapshot }: CohortPart, filter: CohortFilter, enough: number): void {
  matches.startWithNone();
  const { department, location, title } = filter;
  const whole: RowFilter = {
    department,
    location,
    title,
    keyword: [],
    remoteStatus: undefined,
    employmentType: undefined,
  };
  for (const position of new RowScan(snapshot, whole, rows.length).matchesAmong(rows, enough)) matches.add(position);
}
