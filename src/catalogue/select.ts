/**
 * Which positions of a part of a cohort a question matches (decisions §3, "Order, cohort, matching"): every term of every filter
 * must lie inside one of the fields that the filter looks in. By the index, or row by row where there is none; both
 * give the same positions.
 */
import type { CohortPart } from './cohort-part.ts';
import { RowScan } from './row-scan.ts';
import type { FoundTerm, TermIndex } from './term-index.ts';
import type { Wanted } from './wanted.ts';

/**
 * Leaves the matches in `part.matches`, good until the part's next question.
 * enough  matches after which the rest is of no interest; there may then be only the first ones
 */
export function select(part: CohortPart, wanted: Wanted, enough: number): void {
  if (!selectByIndex(part, wanted)) selectByScan(part, wanted, enough);
}

/**
 * The rarest first: the rest looks at fewer rows, and a term that lies nowhere ends it before any row is looked at. Says
 * whether it could be done: not when a group that is asked for has too much text for an index.
 */
export function selectByIndex(part: CohortPart, wanted: Wanted): boolean {
  const { matches } = part;
  const title = wanted.title.length === 0 ? undefined : part.titleIndex;
  const location = wanted.location.length === 0 ? undefined : part.locationIndex;
  const keyword = wanted.keyword.length === 0 ? undefined : part.keywordIndex;
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
    const positions = part.positionsByDepartment.get(wanted.department);
    if (positions === undefined) return true;
    matches.startWith(positions);
  } else if (terms.length > 0) matches.startWithTerm(terms[next++]!);
  else matches.startWithAll();
  let isAny = true;
  while (isAny && next < terms.length) isAny = matches.keepTerm(terms[next++]!);
  const { employmentType, remoteStatus } = wanted;
  if (isAny && remoteStatus !== undefined) isAny = matches.keepSet(part.withRemoteStatus(remoteStatus));
  if (isAny && employmentType !== undefined) isAny = matches.keepSet(part.withEmploymentType(employmentType));
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

/** The same row by row. */
export function selectByScan({ matches, rows, snapshot }: CohortPart, wanted: Wanted, enough: number): void {
  matches.startWithNone();
  for (const position of new RowScan(snapshot, wanted, rows.length).matchesAmong(rows, enough)) matches.add(position);
}
