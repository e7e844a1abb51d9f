/**
 * The columns of a snapshot: read at once, viewed as typed arrays, and checked. Every code and offset is compared with what
 * it points into, so that no later read can leave its array; what is only a matter of meaning (ties in order of id, one
 * code for one text) rests on the checksum. They are read only afterwards.
 */
import { EMPLOYMENT_TYPES, REMOTE_STATUSES } from '../job.ts';
import type { OpenedHeader } from './header.ts';
import { readHotSections } from './hot-sections.ts';
import type { Refuse } from './snapshot-error.ts';
import type { SnapshotSource } from './source.ts';
import type { TextColumn } from './text-column.ts';

/** The largest distance from the epoch that a Date can show (ECMA-262, "Time Values and Time Range"), milliseconds. */
const TIME_MAX_MS = 8.64e15;

export class SnapshotColumns {
  readonly rowCount: number;
  /** Rows 0 .. activeCount - 1 are active, the rest closed; both newest last observation first. */
  readonly activeCount: number;
  /** Companies with a job, active or closed. */
  readonly companyCount: number;

  // One element a row. Times are milliseconds since the epoch; codes are indexes of the texts below; code 0 of location
  // and department is "not recorded".
  readonly lastObserved: Float64Array;
  readonly firstObserved: Float64Array;
  readonly title: Uint32Array;
  readonly employer: Uint32Array;
  readonly location: Uint32Array;
  readonly department: Uint16Array | Uint32Array;
  /** Index in REMOTE_STATUSES. */
  readonly remoteStatus: Uint8Array;
  /** Index in EMPLOYMENT_TYPES. */
  readonly employmentType: Uint8Array;
  /** Skills of row r are `skills[skillOffsets[r]] .. skills[skillOffsets[r + 1] - 1]`, in the order recorded. */
  readonly skillOffsets: Uint32Array;
  readonly skills: Uint16Array | Uint32Array;
  /** One element an employer: its company. */
  readonly employerCompany: Uint32Array;
  /** One element a company: 1 = its key is a domain, 0 = its key is a compared name. */
  readonly companyHasDomain: Uint8Array;
  /**
   * Rows of company c are `companyRows[companyOffsets[c]] .. companyRows[companyOffsets[c + 1] - 1]`, ascending, so
   * active ones come first. Counted here instead of stored, so that it cannot disagree with the rows.
   */
  readonly companyOffsets: Uint32Array;
  readonly companyRows: Uint32Array;

  readonly titles: TextColumn;
  /** One text an employer: the company's name as recorded. */
  readonly employerNames: TextColumn;
  /** One text a company, ascending by code unit, a domain before an equal name: comparing codes compares keys. */
  readonly companyKeys: TextColumn;
  readonly locations: TextColumn;
  /** Ascending by code unit from code 1 on. */
  readonly departments: TextColumn;
  /** Ascending by code unit. */
  readonly skillNames: TextColumn;

  /** @throws SnapshotError when a column is wrong */
  constructor(source: SnapshotSource, opened: OpenedHeader, refuse: Refuse) {
    const { header } = opened;
    this.rowCount = header.rows;
    this.activeCount = header.active;

    const hot = readHotSections(source, opened, refuse);
    const { rowCount } = this;
    this.lastObserved = hot.f64('lastObserved', rowCount);
    this.firstObserved = hot.f64('firstObserved', rowCount);
    this.title = hot.u32('title', rowCount);
    this.employer = hot.u32('employer', rowCount);
    this.location = hot.u32('location', rowCount);
    this.department = hot.codes('department', rowCount);
    this.remoteStatus = hot.u8('remoteStatus', rowCount);
    this.employmentType = hot.u8('employmentType', rowCount);
    this.skills = hot.codes('skills');
    this.skillOffsets = hot.offsets('skillOffsets', this.skills.length, rowCount);
    this.titles = hot.texts('titleOffsets', 'titleText');
    this.employerNames = hot.texts('employerNameOffsets', 'employerNameText');
    this.employerCompany = hot.u32('employerCompany', this.employerNames.size);
    this.companyKeys = hot.texts('companyKeyOffsets', 'companyKeyText');
    this.companyCount = this.companyKeys.size;
    this.companyHasDomain = hot.u8('companyHasDomain', this.companyCount);
    this.locations = hot.texts('locationOffsets', 'locationText');
    this.departments = hot.texts('departmentOffsets', 'departmentText');
    this.skillNames = hot.texts('skillTextOffsets', 'skillText');

    if (this.locations.size === 0 || this.departments.size === 0) throw refuse('a dictionary is empty');
    this.#requireCodes(refuse);
    requireAscending(this.departments, 1, () => refuse('departments are not in order'));
    requireAscending(this.skillNames, 0, () => refuse('skills are not in order'));
    this.#requireCompaniesInOrder(refuse);
    this.#requireRowsInOrder(0, this.activeCount, refuse);
    this.#requireRowsInOrder(this.activeCount, rowCount, refuse);

    const byCompany = this.#rowsByCompany(refuse);
    this.companyOffsets = byCompany.offsets;
    this.companyRows = byCompany.rows;
  }

  /**
   * Every code points into its texts. One loop, and one statement for each column: a function that is called with arrays of
   * several types looks up their type at each element, which takes several times as long on Bun (bench/snapshot-load.ts).
   */
  #requireCodes(refuse: Refuse): void {
    const { department, employer, employerCompany, employmentType, location, remoteStatus, skills, title } = this;
    const titleCount = this.titles.size;
    const locationCount = this.locations.size;
    const departmentCount = this.departments.size;
    const employerCount = this.employerNames.size;
    for (let row = 0; row < this.rowCount; row++) {
      if (title[row]! >= titleCount) throw refuse('a title code is out of range');
      if (location[row]! >= locationCount) throw refuse('a location code is out of range');
      if (department[row]! >= departmentCount) throw refuse('a department code is out of range');
      if (employer[row]! >= employerCount) throw refuse('an employer code is out of range');
      if (remoteStatus[row]! >= REMOTE_STATUSES.length) throw refuse('a workplace code is out of range');
      if (employmentType[row]! >= EMPLOYMENT_TYPES.length) throw refuse('an employment code is out of range');
    }
    const skillCount = this.skillNames.size;
    for (let i = 0; i < skills.length; i++) if (skills[i]! >= skillCount) throw refuse('a skill code is out of range');
    for (let i = 0; i < employerCompany.length; i++) {
      if (employerCompany[i]! >= this.companyCount) throw refuse('a company code is out of range');
    }
  }

  #requireRowsInOrder(start: number, end: number, refuse: Refuse): void {
    const { firstObserved, lastObserved } = this;
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

  #requireCompaniesInOrder(refuse: Refuse): void {
    for (let company = 0; company < this.companyCount; company++) {
      if (this.companyHasDomain[company]! > 1) throw refuse('a company is neither domain nor name');
      if (company === 0) continue;
      const order = this.companyKeys.compare(company - 1, company);
      const domainFirst = this.companyHasDomain[company - 1]! > this.companyHasDomain[company]!;
      if (order > 0 || (order === 0 && !domainFirst)) throw refuse('companies are not in order');
    }
  }

  #rowsByCompany(refuse: Refuse): { offsets: Uint32Array; rows: Uint32Array } {
    const { companyCount, employer, employerCompany, rowCount } = this;
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
}

function requireAscending(texts: TextColumn, first: number, refusal: () => Error): void {
  for (let code = first + 1; code < texts.size; code++) if (texts.compare(code - 1, code) >= 0) throw refusal();
}
