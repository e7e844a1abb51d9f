/**
 * The rows of the catalogue's cohort by company, place and department, as questions group them: places and departments
 * by compared text, so that several spellings form one group.
 */
import type { Snapshot } from '../snapshot/snapshot.ts';

export interface RowGroups {
  /** By row of the cohort: its group, numbered from 1 on by first appearance; 0 = none. */
  readonly groupOf: Uint16Array;
  /** One more than the largest number. */
  readonly groupCount: number;
}

export interface CohortGroups {
  readonly company: RowGroups;
  readonly location: RowGroups;
  readonly department: RowGroups;
}

/** The groups of the first `count` rows of a snapshot, at most COHORT_ROWS_MAX. */
export function cohortGroupsOf(snapshot: Snapshot, count: number): CohortGroups {
  const { department, departments, employer, employerCompany, location, locations } = snapshot;
  return {
    company: groupsOf(
      count,
      (row) => employer[row]!,
      (code) => employerCompany[code]!,
    ),
    location: groupsOf(
      count,
      (row) => location[row]!,
      (code) => (code === 0 ? null : locations.comparedOf(code)),
    ),
    department: groupsOf(
      count,
      (row) => department[row]!,
      (code) => (code === 0 ? null : departments.comparedOf(code)),
    ),
  };
}

/** @param codeOf by row @param keyOf by code: equal for codes of one group; null = no group */
function groupsOf(
  count: number,
  codeOf: (row: number) => number,
  keyOf: (code: number) => string | number | null,
): RowGroups {
  const groupOf = new Uint16Array(count);
  const ofCode = new Map<number, number>();
  const ofKey = new Map<string | number, number>();
  for (let row = 0; row < count; row++) {
    const code = codeOf(row);
    let group = ofCode.get(code);
    if (group === undefined) {
      const key = keyOf(code);
      group = key === null ? 0 : (ofKey.get(key) ?? ofKey.size + 1);
      if (key !== null) ofKey.set(key, group);
      ofCode.set(code, group);
    }
    groupOf[row] = group;
  }
  return { groupOf, groupCount: ofKey.size + 1 };
}
