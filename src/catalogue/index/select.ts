/**
 * Which positions of a part of a cohort a question matches (decisions §3, "Order, cohort, matching"): every term of every filter
 * must lie inside one of the fields that the filter looks in. By the index, or row by row where there is none; both
 * give the same positions.
 */
import type { CohortPart } from './cohort-part.ts';
import type { RowFilter } from './row-filter.ts';
import { RowScan } from './row-scan.ts';
import type { FoundTerm, RowBitmap, TermIndex } from './term-index.ts';

/**
 * Leaves the matches in `part.matches`, good until the part's next question.
 * enough  matches after which the rest is of no interest; there may then be only the first ones
 */
export function select(part: CohortPart, wanted: RowFilter, enough: number): void {
  if (!selectByIndex(part, wanted, enough)) selectByScan(part, wanted, enough);
}

/**
 * The rarest first: the rest looks at fewer rows, and a term that lies nowhere ends it before any row is looked at. Says
 * whether it could be done: not when a group that is asked for has too much text for an index.
 */
export function selectByIndex(part: CohortPart, wanted: RowFilter, enough: number): boolean {
  const { matches } = part;
  const title = wanted.title.length === 0 ? undefined : part.titleIndex;
  const location = wanted.location.length === 0 ? undefined : part.locationIndex;
  const keyword = wanted.keyword.length === 0 ? undefined : part.keywordIndex;
  if (title === null || location === null || keyword === null) return false;
  matches.startWithNone();
  /** What is asked for as bitmaps, and terms that have none; each rarest first. */
  const bitmaps: RowBitmap[] = [];
  const listed: FoundTerm[] = [];
  const areSomewhere =
    addTerms(wanted.title, title, bitmaps, listed) &&
    addTerms(wanted.location, location, bitmaps, listed) &&
    addTerms(wanted.keyword, keyword, bitmaps, listed);
  if (!areSomewhere) return true;
  if (wanted.remoteStatus !== undefined) addByCount(part.withRemoteStatus(wanted.remoteStatus), bitmaps);
  if (wanted.employmentType !== undefined) addByCount(part.withEmploymentType(wanted.employmentType), bitmaps);

  // A term without a bitmap lies in few rows, so they are listed; the next such one has to be made a set of, so it comes last.
  let next = 0;
  if (wanted.department !== undefined) {
    const positions = part.positionsByDepartment.get(wanted.department);
    if (positions === undefined) return true;
    matches.startWith(positions);
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

/**
 * Puts terms among what was found already. Says whether each lies somewhere; one that does not is the first of `texts` from then on,
 * since it is likely to be the one that ends the question in the next part too.
 */
function addTerms(texts: string[], index: TermIndex | undefined, bitmaps: RowBitmap[], listed: FoundTerm[]): boolean {
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i]!;
    const found = index?.find(text);
    if (found === undefined) {
      texts[i] = texts[0]!;
      texts[0] = text;
      return false;
    }
    if (found.wordsStart < 0) addByCount(found, listed);
    else addByCount(found, bitmaps);
  }
  return true;
}

/** Puts one behind those with as few rows or fewer. */
function addByCount<T extends RowBitmap>(added: T, into: T[]): void {
  let place = into.length;
  into.push(added);
  for (; place > 0 && into[place - 1]!.rowCountMax > added.rowCountMax; place--) into[place] = into[place - 1]!;
  into[place] = added;
}

/** The same row by row. */
export function selectByScan({ matches, rows, snapshot }: CohortPart, wanted: RowFilter, enough: number): void {
  matches.startWithNone();
  for (const position of new RowScan(snapshot, wanted, rows.length).matchesAmong(rows, enough)) matches.add(position);
}
