/**
 * The checks of a snapshot's columns, and what is counted from them once. Every code and offset is compared with what it
 * points into, so that no later read can leave its array; what is only a matter of meaning (ties in order of id, one code for
 * one text) rests on the checksum. Cost: some passes over all rows, so a server reloads in a thread (adapters/files).
 */
import { DOMAIN_EVIDENCE } from '../domain-evidence.ts';
import { EMPLOYMENT_TYPES, REMOTE_STATUSES } from '../job.ts';
import type { SnapshotColumns } from './columns.ts';
import type { Refuse } from './snapshot-error.ts';
import type { TextColumn } from './text-column.ts';

/** The largest distance from the epoch that a Date can show (ECMA-262, "Time Values and Time Range"), milliseconds. */
const TIME_MAX_MS = 8.64e15;

/**
 * Rows of company c are `rows[offsets[c]] .. rows[offsets[c + 1] - 1]`, ascending, so active ones come first. Counted instead of
 * stored, so that it cannot disagree with the rows.
 */
export interface RowsByCompany {
  readonly offsets: Uint32Array;
  readonly rows: Uint32Array;
}

/** @throws SnapshotError when a column is wrong */
export function checkColumns(columns: SnapshotColumns, refuse: Refuse): RowsByCompany {
  const { activeCount, departments, locations, rowCount, skillNames } = columns;
  requireOffsetsInOrder('skillOffsets', columns.skillOffsets, refuse);
  requireTextsInOrder('titleOffsets', columns.titles, refuse);
  requireTextsInOrder('employerNameOffsets', columns.employerNames, refuse);
  requireTextsInOrder('companyKeyOffsets', columns.companyKeys, refuse);
  requireTextsInOrder('aliasOffsets', columns.aliases, refuse);
  requireTextsInOrder('locationOffsets', locations, refuse);
  requireTextsInOrder('departmentOffsets', departments, refuse);
  requireTextsInOrder('skillTextOffsets', skillNames, refuse);
  if (locations.size === 0 || departments.size === 0) throw refuse('a dictionary is empty');
  requireCodes(columns, refuse);
  requireAscending(departments, 1, () => refuse('departments are not in order'));
  requireAscending(skillNames, 0, () => refuse('skills are not in order'));
  requireCompaniesInOrder(columns, refuse);
  requireIdentities(columns, refuse);
  requireRowsInOrder(columns, 0, activeCount, refuse);
  requireRowsInOrder(columns, activeCount, rowCount, refuse);
  requireClosings(columns, refuse);
  requirePool(columns, refuse);
  return rowsByCompany(columns, refuse);
}

function requireOffsetsInOrder(name: string, offsets: Uint32Array, refuse: Refuse): void {
  let before = 0;
  for (let i = 0; i < offsets.length; i++) {
    const offset = offsets[i]!;
    if (offset < before) throw refuse(`has ${name} out of order`);
    before = offset;
  }
}

const requireTextsInOrder = (name: string, { offsets }: TextColumn, refuse: Refuse): void =>
  requireOffsetsInOrder(name, offsets, refuse);

/**
 * Every code points into its texts. One loop, and one statement for each column: a function that is called with arrays of
 * several types looks up their type at each element, which takes several times as long on Bun (bench/snapshot-load.ts).
 */
function requireCodes(columns: SnapshotColumns, refuse: Refuse): void {
  const { department, employer, employerCompany, employmentType, location, remoteStatus, skills, title } = columns;
  const titleCount = columns.titles.size;
  const locationCount = columns.locations.size;
  const departmentCount = columns.departments.size;
  const employerCount = columns.employerNames.size;
  for (let row = 0; row < columns.rowCount; row++) {
    if (title[row]! >= titleCount) throw refuse('a title code is out of range');
    if (location[row]! >= locationCount) throw refuse('a location code is out of range');
    if (department[row]! >= departmentCount) throw refuse('a department code is out of range');
    if (employer[row]! >= employerCount) throw refuse('an employer code is out of range');
    if (remoteStatus[row]! >= REMOTE_STATUSES.length) throw refuse('a workplace code is out of range');
    if (employmentType[row]! >= EMPLOYMENT_TYPES.length) throw refuse('an employment code is out of range');
  }
  const skillCount = columns.skillNames.size;
  for (let i = 0; i < skills.length; i++) if (skills[i]! >= skillCount) throw refuse('a skill code is out of range');
  for (let i = 0; i < employerCompany.length; i++) {
    if (employerCompany[i]! >= columns.companyCount) throw refuse('a company code is out of range');
  }
}

function requireRowsInOrder(
  { firstObserved, lastObserved }: SnapshotColumns,
  start: number,
  end: number,
  refuse: Refuse,
): void {
  let before = TIME_MAX_MS;
  for (let row = start; row < end; row++) {
    const last = lastObserved[row]!;
    const first = firstObserved[row]!;
    // Written so that NaN, which no comparison holds for, is refused.
    if (!(last <= before && first <= last && first >= -TIME_MAX_MS)) {
      throw refuse('observation times are not in order');
    }
    before = last;
  }
}

/** Every closed row is in `closings` once: they are as many, of the right rows, and no row comes twice. */
function requireClosings(
  { activeCount, closedAtByClosedRow, closings, lastObserved, rowCount }: SnapshotColumns,
  refuse: Refuse,
): void {
  const isListed = new Uint8Array(rowCount - activeCount);
  let before = TIME_MAX_MS;
  for (let place = 0; place < closings.length; place++) {
    const row = closings[place]!;
    const index = row - activeCount;
    if (index < 0 || row >= rowCount || isListed[index] === 1) throw refuse('closings are not the closed rows');
    isListed[index] = 1;
    const closedAt = closedAtByClosedRow[index]!;
    // Written so that NaN, which no comparison holds for, is refused.
    if (!(closedAt <= before && closedAt >= lastObserved[row]!)) throw refuse('closings are not in order');
    before = closedAt;
  }
}

/** Samples are active jobs, each once. */
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

/** Evidence stands with a domain and only there; the order has companies; aliases are in order and find a company with a domain. */
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

function rowsByCompany(
  { companyCount, employer, employerCompany, rowCount }: SnapshotColumns,
  refuse: Refuse,
): RowsByCompany {
  const offsets = new Uint32Array(companyCount + 1);
  for (let row = 0; row < rowCount; row++) {
    const place = employerCompany[employer[row]!]! + 1;
    offsets[place] = offsets[place]! + 1;
  }
  for (let company = 0; company < companyCount; company++) {
    if (offsets[company + 1] === 0) throw refuse('a company has no job');
    offsets[company + 1] = offsets[company]! + offsets[company + 1]!;
  }
  const next = offsets.slice();
  const rows = new Uint32Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const company = employerCompany[employer[row]!]!;
    const place = next[company]!;
    rows[place] = row;
    next[company] = place + 1;
  }
  return { offsets, rows };
}

function requireAscending(texts: TextColumn, first: number, refusal: () => Error): void {
  for (let code = first + 1; code < texts.size; code++) if (texts.compare(code - 1, code) >= 0) throw refusal();
}
