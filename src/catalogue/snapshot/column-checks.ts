/**
 * Checks of a snapshot's columns, and counts made from them once. Every code and offset is compared with what it points
 * into, so that no read can leave its array; for rules that only affect meaning (ties in order of id, one code for one
 * text) the checksum suffices. Cost: some passes over all rows, so a server reloads in a thread (adapters/files).
 */
import { TIME_MS_MAX } from '../../base/iso-time.ts';
import { DOMAIN_EVIDENCE } from '../domain-evidence.ts';
import { EMPLOYMENT_TYPES, REMOTE_STATUSES } from '../job.ts';
import type { SnapshotColumns } from './columns.ts';
import type { SnapshotDetails } from './details.ts';
import type { Refuse } from './snapshot-error.ts';
import type { TextColumn } from './text-column.ts';

/**
 * Rows of company c are `rows[offsets[c]] .. rows[offsets[c + 1] - 1]`, ascending, so active ones come first. Computed
 * instead of stored, so that it cannot disagree with the rows.
 */
export interface RowsByCompany {
  readonly offsets: Uint32Array;
  readonly rows: Uint32Array;
}

/** Rows, or elements of a long list, in one step: about a millisecond. */
const STEP_ROWS = 2 ** 16;

/** Calls `check` for runs of the numbers below `count`, one a step. */
function* inRuns(count: number, check: (start: number, end: number) => void): Generator<void, void> {
  for (let start = 0; start < count; start += STEP_ROWS) {
    check(start, Math.min(start + STEP_ROWS, count));
    yield;
  }
}

/** In steps. @throws SnapshotError when a column is wrong */
export function* checkingColumns(columns: SnapshotColumns, refuse: Refuse): Generator<void, void> {
  const { activeCount, departments, locations, rowCount, skillNames } = columns;
  yield* checkingOffsets('employerNameOffsets', columns.employerNames.offsets, refuse);
  yield* checkingOffsets('companyKeyOffsets', columns.companyKeys.offsets, refuse);
  yield* checkingOffsets('aliasOffsets', columns.aliases.offsets, refuse);
  yield* checkingOffsets('locationOffsets', locations.offsets, refuse);
  yield* checkingOffsets('departmentOffsets', departments.offsets, refuse);
  yield* checkingOffsets('skillTextOffsets', skillNames.offsets, refuse);
  if (locations.size === 0 || departments.size === 0) throw refuse('a dictionary is empty');
  yield* checkingCodes(columns, refuse);
  requireAscending(departments, 1, () => refuse('departments are not in order'));
  requireAscending(skillNames, 0, () => refuse('skills are not in order'));
  yield;
  requireCompaniesInOrder(columns, refuse);
  yield;
  requireIdentities(columns, refuse);
  yield;
  yield* checkingRows(columns, 0, activeCount, refuse);
  yield* checkingRows(columns, activeCount, rowCount, refuse);
  yield* checkingClosings(columns, refuse);
  requirePool(columns, refuse);
}

/** In steps. @throws SnapshotError when a title or a skill points nowhere */
export function* checkingDetails(
  { rowCount, skillNames, title }: SnapshotColumns,
  { skillOffsets, skills, titles }: SnapshotDetails,
  refuse: Refuse,
): Generator<void, void> {
  yield* checkingOffsets('titleOffsets', titles.offsets, refuse);
  yield* checkingOffsets('skillOffsets', skillOffsets, refuse);
  const titleCount = titles.size;
  yield* inRuns(rowCount, (start, end) => {
    for (let row = start; row < end; row++) if (title[row]! >= titleCount) throw refuse('a title code is out of range');
  });
  const skillCount = skillNames.size;
  yield* inRuns(skills.length, (start, end) => {
    for (let i = start; i < end; i++) if (skills[i]! >= skillCount) throw refuse('a skill code is out of range');
  });
}

function checkingOffsets(name: string, offsets: Uint32Array, refuse: Refuse): Generator<void, void> {
  let before = 0;
  return inRuns(offsets.length, (start, end) => {
    for (let i = start; i < end; i++) {
      const offset = offsets[i]!;
      if (offset < before) throw refuse(`has ${name} out of order`);
      before = offset;
    }
  });
}

/**
 * Checks that every code points into its texts. One loop with a statement for each column: a function called with arrays of
 * several types looks up the type at each element, which takes several times as long on Bun (bench/snapshot-load.ts).
 */
function* checkingCodes(columns: SnapshotColumns, refuse: Refuse): Generator<void, void> {
  const { department, employer, employerCompany, employmentType, location, remoteStatus } = columns;
  const locationCount = columns.locations.size;
  const departmentCount = columns.departments.size;
  const employerCount = columns.employerNames.size;
  yield* inRuns(columns.rowCount, (start, end) => {
    for (let row = start; row < end; row++) {
      if (location[row]! >= locationCount) throw refuse('a location code is out of range');
      if (department[row]! >= departmentCount) throw refuse('a department code is out of range');
      if (employer[row]! >= employerCount) throw refuse('an employer code is out of range');
      if (remoteStatus[row]! >= REMOTE_STATUSES.length) throw refuse('a workplace code is out of range');
      if (employmentType[row]! >= EMPLOYMENT_TYPES.length) throw refuse('an employment code is out of range');
    }
  });
  for (let i = 0; i < employerCompany.length; i++) {
    if (employerCompany[i]! >= columns.companyCount) throw refuse('a company code is out of range');
  }
}

function checkingRows(
  { firstObserved, lastObserved }: SnapshotColumns,
  firstRow: number,
  rowEnd: number,
  refuse: Refuse,
): Generator<void, void> {
  let before = TIME_MS_MAX;
  return inRuns(rowEnd - firstRow, (start, end) => {
    for (let row = firstRow + start; row < firstRow + end; row++) {
      const last = lastObserved[row]!;
      const first = firstObserved[row]!;
      // Written so that NaN, which no comparison holds for, is refused.
      if (!(last <= before && first <= last && first >= -TIME_MS_MAX)) {
        throw refuse('observation times are not in order');
      }
      before = last;
    }
  });
}

/** Checks that every closed row is in `closings` once: equal counts, valid rows, and no row twice. */
function checkingClosings(
  { activeCount, closedAtByClosedRow, closings, lastObserved, rowCount }: SnapshotColumns,
  refuse: Refuse,
): Generator<void, void> {
  const isListed = new Uint8Array(rowCount - activeCount);
  let before = TIME_MS_MAX;
  return inRuns(closings.length, (start, end) => {
    for (let place = start; place < end; place++) {
      const row = closings[place]!;
      const index = row - activeCount;
      if (index < 0 || row >= rowCount || isListed[index] === 1) throw refuse('closings are not the closed rows');
      isListed[index] = 1;
      const closedAt = closedAtByClosedRow[index]!;
      // Written so that NaN, which no comparison holds for, is refused.
      if (!(closedAt <= before && closedAt >= lastObserved[row]!)) throw refuse('closings are not in order');
      before = closedAt;
    }
  });
}

/** Checks that samples are active jobs, each once. */
function requirePool({ activeCount, publicPool }: SnapshotColumns, refuse: Refuse): void {
  if (publicPool.some((row) => row >= activeCount)) throw refuse('a public sample is no active job');
  if (new Set(publicPool).size < publicPool.length) throw refuse('a public sample comes twice');
}

function requireCompaniesInOrder(
  { companyCount, companyHasDomain, companyKeys }: SnapshotColumns,
  refuse: Refuse,
): void {
  for (let company = 0; company < companyCount; company++) {
    if (companyHasDomain[company]! > 1) throw refuse('a company is neither domain nor name');
    if (company === 0) continue;
    const order = companyKeys.compare(company - 1, company);
    const domainFirst = companyHasDomain[company - 1]! > companyHasDomain[company]!;
    if (order > 0 || (order === 0 && !domainFirst)) throw refuse('companies are not in order');
  }
}

/**
 * Checks that evidence exists exactly where a domain does, that the order has only companies, and that aliases are
 * sorted and belong to companies with a domain.
 */
function requireIdentities(columns: SnapshotColumns, refuse: Refuse): void {
  const { aliasCompany, companyCount, companyHasDomain, employerCompany, employerEvidence } = columns;
  for (let employer = 0; employer < employerCompany.length; employer++) {
    const evidence = employerEvidence[employer]!;
    if (evidence > DOMAIN_EVIDENCE.length) throw refuse('an evidence code is out of range');
    if (evidence > 0 !== (companyHasDomain[employerCompany[employer]!] === 1)) {
      throw refuse('evidence and domain of an employer do not go together');
    }
  }
  const { companyOrder } = columns;
  for (let place = 0; place < companyCount; place++) {
    if (companyOrder[place]! >= companyCount) throw refuse('a company of the order is out of range');
  }
  requireAscending(columns.aliases, 0, () => refuse('aliases are not in order'));
  for (let alias = 0; alias < aliasCompany.length; alias++) {
    const company = aliasCompany[alias]!;
    if (company >= companyCount || companyHasDomain[company] !== 1) throw refuse('an alias finds no company');
  }
}

/**
 * In steps.
 * @throws SnapshotError when a company has no job
 */
export function* groupingByCompany(
  { companyCount, employer, employerCompany, rowCount }: SnapshotColumns,
  refuse: Refuse,
): Generator<void, RowsByCompany> {
  const offsets = new Uint32Array(companyCount + 1);
  yield* inRuns(rowCount, (start, end) => {
    for (let row = start; row < end; row++) {
      const place = employerCompany[employer[row]!]! + 1;
      offsets[place] = offsets[place]! + 1;
    }
  });
  for (let company = 0; company < companyCount; company++) {
    if (offsets[company + 1] === 0) throw refuse('a company has no job');
    offsets[company + 1] = offsets[company]! + offsets[company + 1]!;
  }
  const next = offsets.slice();
  const rows = new Uint32Array(rowCount);
  yield* inRuns(rowCount, (start, end) => {
    for (let row = start; row < end; row++) {
      const company = employerCompany[employer[row]!]!;
      const place = next[company]!;
      rows[place] = row;
      next[company] = place + 1;
    }
  });
  return { offsets, rows };
}

function requireAscending(texts: TextColumn, first: number, refusal: () => Error): void {
  for (let code = first + 1; code < texts.size; code++) if (texts.compare(code - 1, code) >= 0) throw refusal();
}
