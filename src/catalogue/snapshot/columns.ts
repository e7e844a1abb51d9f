/**
 * The columns of a snapshot, as typed arrays over the bytes in place: making the views costs microseconds, whatever the
 * number of jobs. column-checks.ts checks their contents once. They are read only.
 */
import { PUBLIC_POOL_SIZE } from '../limits.ts';
import { SIGNATURE_WORDS } from './company-signatures.ts';
import type { OpenedHeader } from './header.ts';
import { COLUMNS, hotSectionsIn } from './hot-sections.ts';
import type { Refuse } from './snapshot-error.ts';
import type { TextColumn } from './text-column.ts';

export class SnapshotColumns {
  readonly rowCount: number;
  /** Rows 0 .. activeCount - 1 are active, the rest closed; both newest last observation first. */
  readonly activeCount: number;
  /** Companies with a job, active or closed. */
  readonly companyCount: number;

  // One element a row. Times are milliseconds since the epoch; codes are indexes of the texts below (titles are in
  // details.ts); code 0 of location and department is "not recorded".
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
  /** One element a closed row, from row `activeCount` on. `Snapshot.closedAt` reads it by row. */
  readonly closedAtByClosedRow: Float64Array;
  /** The closed rows, newest closing first, then by id. */
  readonly closings: Uint32Array;
  /** Active rows that public samples are drawn from, by the SHA-256 of the id, at most PUBLIC_POOL_SIZE. */
  readonly publicPool: Uint32Array;
  /** One element an employer: its company. */
  readonly employerCompany: Uint32Array;
  /** One element an employer: where its domain is from, the index in DOMAIN_EVIDENCE plus one; 0 = it has none. */
  readonly employerEvidence: Uint8Array;
  /** One element an alias: the company that it finds. */
  readonly aliasCompany: Uint32Array;
  /** Other domains of companies, ascending by code unit. */
  readonly aliases: TextColumn;
  /** Codes of the companies, those with the most active jobs first, equal ones ascending. */
  readonly companyOrder: Uint32Array;
  /** SIGNATURE_WORDS elements a company, in that order (company-signatures.ts). */
  readonly companySignatures: Uint32Array;
  /** One element a company: 1 = its key is a domain, 0 = its key is a compared name. */
  readonly companyHasDomain: Uint8Array;

  /** One text an employer: the company's name as recorded. */
  readonly employerNames: TextColumn;
  /** One text a company, ascending by code unit, a domain before an equal name: comparing codes compares keys. */
  readonly companyKeys: TextColumn;
  readonly locations: TextColumn;
  /** Ascending by code unit from code 1 on. */
  readonly departments: TextColumn;
  /** Ascending by code unit. */
  readonly skillNames: TextColumn;

  /** @param columnBytes of `readingHot` @throws SnapshotError when a column has a wrong number of elements */
  constructor(columnBytes: Uint8Array, opened: OpenedHeader, refuse: Refuse) {
    const { header } = opened;
    this.rowCount = header.rows;
    this.activeCount = header.active;

    const hot = hotSectionsIn(columnBytes, opened, COLUMNS, refuse);
    const { rowCount } = this;
    this.lastObserved = hot.f64('lastObserved', rowCount);
    this.firstObserved = hot.f64('firstObserved', rowCount);
    this.title = hot.u32('title', rowCount);
    this.employer = hot.u32('employer', rowCount);
    this.location = hot.u32('location', rowCount);
    this.department = hot.codes('department', rowCount);
    this.remoteStatus = hot.u8('remoteStatus', rowCount);
    this.employmentType = hot.u8('employmentType', rowCount);
    this.closedAtByClosedRow = hot.f64('closedAt', rowCount - this.activeCount);
    this.closings = hot.u32('closings', rowCount - this.activeCount);
    this.publicPool = hot.u32('publicPool', Math.min(this.activeCount, PUBLIC_POOL_SIZE));
    this.employerNames = hot.texts('employerNameOffsets', 'employerNameText');
    this.employerCompany = hot.u32('employerCompany', this.employerNames.size);
    this.employerEvidence = hot.u8('employerEvidence', this.employerNames.size);
    this.aliases = hot.texts('aliasOffsets', 'aliasText');
    this.aliasCompany = hot.u32('aliasCompany', this.aliases.size);
    this.companyKeys = hot.texts('companyKeyOffsets', 'companyKeyText');
    this.companyCount = this.companyKeys.size;
    this.companyOrder = hot.u32('companyOrder', this.companyCount);
    this.companySignatures = hot.u32('companySignatures', this.companyCount * SIGNATURE_WORDS);
    this.companyHasDomain = hot.u8('companyHasDomain', this.companyCount);
    this.locations = hot.texts('locationOffsets', 'locationText');
    this.departments = hot.texts('departmentOffsets', 'departmentText');
    this.skillNames = hot.texts('skillTextOffsets', 'skillText');
  }
}
