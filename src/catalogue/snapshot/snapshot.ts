/**
 * A snapshot that is open for questions (decisions §3, "Snapshot"; the file's form is in layout.ts): its columns, details and
 * the index over all jobs in memory, ids, source URLs, descriptions and the history in the file. Every byte is checked against
 * its checksum before an answer uses it: when the snapshot is opened, or part by part afterwards (unchecked.ts).
 *
 * Cost: memory for columns and details, about 75 bytes a job, and for the index, about 65 (bench/snapshot-load.ts).
 */
import { Buffer } from 'node:buffer';
import { firstWhere } from '../../base/first-where.ts';
import type { CompanyDomain } from '../company-domain.ts';
import { DOMAIN_EVIDENCE, type DomainEvidence } from '../domain-evidence.ts';
import { EMPLOYMENT_TYPES, type Job, REMOTE_STATUSES } from '../job.ts';
import { History } from '../packed/history.ts';
import { type PackedSections, PackedTexts } from '../packed/packed-texts.ts';
import { WholeIndex } from '../whole/whole-index.ts';
import { ColdRows } from './cold-rows.ts';
import type { RowsByCompany } from './column-checks.ts';
import { SnapshotColumns } from './columns.ts';
import { SnapshotDetails } from './details.ts';
import { type OpenedHeader, readHeader } from './header.ts';
import { COLUMNS, readingHot } from './hot-sections.ts';
import { contentDigestOf, type Header } from './layout.ts';
import { RowsById } from './rows-by-id.ts';
import { DamagedSnapshotError, type Refuse } from './snapshot-error.ts';
import type { SnapshotSource } from './source.ts';
import type { TextColumn } from './text-column.ts';
import { type ReadIndex, Unchecked } from './unchecked.ts';

/**
 * The columns of a source, compared with their checksums. Only valid together with the same bytes of the same source.
 */
export interface ReadSnapshot {
  readonly opened: OpenedHeader;
  readonly columnBytes: Uint8Array;
}

/** The result of reading and checking a whole source: plain data, which a thread can hand over. */
export interface CheckedSnapshot extends ReadSnapshot {
  readonly detailBytes: Uint8Array;
  readonly indexBytes: Uint8Array;
  readonly byCompany: RowsByCompany;
}

const refusalsOf =
  (source: SnapshotSource): Refuse =>
  (reason) =>
    new DamagedSnapshotError(`${source.name}: ${reason}`);

const descriptionSections = ({ sections }: OpenedHeader): PackedSections => ({
  places: sections.descriptionPlaces,
  blockOffsets: sections.descriptionBlockOffsets,
  blocks: sections.descriptionBlocks,
});

function readColumns(source: SnapshotSource): ReadSnapshot {
  const refuse = refusalsOf(source);
  const opened = readHeader(source, refuse);
  const reading = readingHot(source, opened, COLUMNS, refuse);
  for (;;) {
    const step = reading.next();
    if (step.done === true) return { opened, columnBytes: step.value };
  }
}

/**
 * Reads and checks a whole snapshot: every byte against its checksum, every code and offset against what it points into.
 * @throws SnapshotError when anything about it is wrong
 */
export function checkSnapshot(source: SnapshotSource): CheckedSnapshot {
  const refuse = refusalsOf(source);
  const read = readColumns(source);
  const columns = new SnapshotColumns(read.columnBytes, read.opened, refuse);
  const { byCompany, details, index } = new Unchecked(source, read.opened, columns, refuse).finish();
  return { ...read, detailBytes: details.bytes, indexBytes: index.bytes, byCompany };
}

const closingOnFailure = (source: SnapshotSource, open: () => Snapshot): Snapshot => {
  try {
    return open();
  } catch (error) {
    source.close();
    throw error;
  }
};

/**
 * Reads and checks a whole snapshot.
 * @throws SnapshotError, after closing the source, when anything about it is wrong
 */
export const openSnapshot = (source: SnapshotSource): Snapshot =>
  closingOnFailure(source, () => new Snapshot(source, checkSnapshot(source)));

/**
 * Reads the columns only, and leaves the rest to `Snapshot.checking` or to the first question that needs it.
 * @throws SnapshotError, after closing the source, when header or columns are damaged
 */
export const openColumns = (source: SnapshotSource): Snapshot =>
  closingOnFailure(source, () => new Snapshot(source, readColumns(source)));

/** `text` is null if the source gave none or the file was built without descriptions. */
export interface Description {
  readonly text: string | null;
  readonly isTruncated: boolean;
}

/** Length of {@link Snapshot.mark}. */
export const SNAPSHOT_MARK_BYTES = 8;

const NO_DESCRIPTION: Description = { text: null, isTruncated: false };

const encoder = new TextEncoder();

export class Snapshot extends SnapshotColumns {
  readonly cold: ColdRows;
  readonly #rowsById: RowsById;
  readonly descriptions: PackedTexts;
  readonly history: History;
  readonly facts: Header['facts'];
  /** Of the file. */
  readonly byteLength: number;
  /** Last observations over all rows, closed ones included; `null` when there is no row. */
  readonly newestObservedMs: number | null;
  readonly oldestObservedMs: number | null;
  readonly #source: SnapshotSource;
  readonly #header: Header;
  readonly #columnBytes: Uint8Array;
  /** undefined: everything was checked before. */
  readonly #unchecked: Unchecked | undefined;
  #details: SnapshotDetails | undefined;
  #byCompany: RowsByCompany | undefined;
  #index: ReadIndex | undefined;
  #mark: string | undefined;
  #aliasesByCompany: ReadonlyMap<number, readonly number[]> | undefined;

  /**
   * Takes microseconds, because the work was done before, here or in a thread. @param source owned by the snapshot,
   * which closes it
   */
  constructor(source: SnapshotSource, read: ReadSnapshot | CheckedSnapshot) {
    const { columnBytes, opened } = read;
    const refuse = refusalsOf(source);
    super(columnBytes, opened, refuse);
    if ('byCompany' in read) {
      this.#details = new SnapshotDetails(read.detailBytes, opened, refuse);
      this.#byCompany = read.byCompany;
      this.#index = { bytes: read.indexBytes, index: new WholeIndex(read.indexBytes, opened, refuse) };
    } else {
      this.#unchecked = new Unchecked(source, opened, this, refuse);
    }
    this.#source = source;
    this.#header = opened.header;
    this.#columnBytes = columnBytes;
    this.facts = opened.header.facts;
    this.byteLength = source.byteLength;

    // Active and closed rows are each in order, so the first and last rows of both suffice.
    const { activeCount, lastObserved, rowCount } = this;
    const firsts = [0, activeCount].filter((row) => row < rowCount);
    const lasts = [activeCount - 1, rowCount - 1].filter((row) => row >= 0);
    this.newestObservedMs = rowCount === 0 ? null : Math.max(...firsts.map((row) => lastObserved[row]!));
    this.oldestObservedMs = rowCount === 0 ? null : Math.min(...lasts.map((row) => lastObserved[row]!));

    const checked = this.#unchecked?.source ?? source;
    this.cold = new ColdRows(checked, opened);
    this.#rowsById = new RowsById(checked, opened.sections.rowsById, this.cold);
    this.descriptions = new PackedTexts(checked, descriptionSections(opened));
    this.history = new History(checked, opened.sections, {
      titleOf: (row) => this.titles.textOf(this.title[row]!),
      idsOf: (rows) => this.cold.rowsAt(rows).map(({ id }) => id),
    });
  }

  get titles(): TextColumn {
    return this.#checkedDetails().titles;
  }

  /** Skills of row r are `skills[skillOffsets[r]] .. skills[skillOffsets[r + 1] - 1]`, in the order recorded. */
  get skillOffsets(): Uint32Array {
    return this.#checkedDetails().skillOffsets;
  }

  get skills(): Uint16Array | Uint32Array {
    return this.#checkedDetails().skills;
  }

  /** One element a row: the place of its id among all ids, by code unit, so that comparing ranks compares ids. */
  get idRank(): Uint32Array {
    return this.#checkedDetails().idRank;
  }

  #checkedDetails(): SnapshotDetails {
    this.#details ??= this.#unchecked!.details();
    return this.#details;
  }

  // Rows of company c are `companyRows[companyOffsets[c]] .. companyRows[companyOffsets[c + 1] - 1]` (column-checks.ts).

  get companyOffsets(): Uint32Array {
    return this.#rowsByCompany().offsets;
  }

  get companyRows(): Uint32Array {
    return this.#rowsByCompany().rows;
  }

  #rowsByCompany(): RowsByCompany {
    this.#byCompany ??= this.#unchecked!.byCompany();
    return this.#byCompany;
  }

  /** The index over all rows. @throws as `checking` */
  get whole(): WholeIndex {
    this.#index ??= this.#unchecked!.index();
    return this.#index.index;
  }

  /**
   * Checks in steps what opening left unchecked: about a millisecond each for a million jobs. If a question needs a
   * part earlier, that part is checked then.
   * @throws SnapshotError when it is damaged, SnapshotChangedError when its file changed meanwhile
   */
  *checking(): Generator<void, void> {
    if (this.#unchecked === undefined) return;
    yield* this.#unchecked.checking();
    this.#details = this.#unchecked.details();
    this.#byCompany = this.#unchecked.byCompany();
    this.#index = this.#unchecked.index();
  }

  /** SHA-256 in hex; the same for the same set of jobs. Computed on each access. */
  get contentDigest(): string {
    return contentDigestOf(this.#header);
  }

  /**
   * The first SNAPSHOT_MARK_BYTES of that digest, in code units 0..255: snapshots with the same mark have the same rows.
   */
  get mark(): string {
    this.#mark ??= Buffer.from(this.contentDigest, 'hex').toString('latin1', 0, SNAPSHOT_MARK_BYTES);
    return this.#mark;
  }

  /**
   * The company with a domain, if any job, active or closed, has it; else the company with that alias. About 20 byte
   * comparisons each.
   */
  companyOf(domain: CompanyDomain): number | undefined {
    const key = encoder.encode(domain);
    // A name equal to a domain comes after it, so if one of two equal keys is a domain, it is the first.
    const company = this.companyKeys.firstEqual(key);
    if (company !== undefined && this.companyHasDomain[company] === 1) return company;
    const alias = this.aliases.firstEqual(key);
    return alias === undefined ? undefined : this.aliasCompany[alias];
  }

  /** Rows of a company, active and closed, ascending. Owned by the snapshot. */
  rowsIn(company: number): Uint32Array {
    const { offsets, rows } = this.#rowsByCompany();
    return rows.subarray(offsets[company]!, offsets[company + 1]!);
  }

  /** How many of a company's rows are active; they are its first ones. */
  activeCountOf(company: number): number {
    const { offsets, rows } = this.#rowsByCompany();
    const start = offsets[company]!;
    let low = start;
    let high = offsets[company + 1]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (rows[middle]! < this.activeCount) low = middle + 1;
      else high = middle;
    }
    return low - start;
  }

  /** Active rows of a company, ascending; none without one. Owned by the snapshot. */
  activeRowsIn(company: number | undefined): Uint32Array {
    if (company === undefined) return this.companyRows.subarray(0, 0);
    const start = this.companyOffsets[company]!;
    return this.companyRows.subarray(start, start + this.activeCountOf(company));
  }

  /** The domain of a company, or `null` when it has none. */
  domainOf(company: number): CompanyDomain | null {
    return this.companyHasDomain[company] === 1 ? (this.companyKeys.textOf(company) as CompanyDomain) : null;
  }

  /** Where an employer's domain is from; `null` when it has none. */
  evidenceOf(employer: number): DomainEvidence | null {
    return DOMAIN_EVIDENCE[this.employerEvidence[employer]! - 1] ?? null;
  }

  /** The aliases of a company, ascending. A pass over all aliases the first time. */
  aliasesOf(company: number): CompanyDomain[] {
    this.#aliasesByCompany ??= Map.groupBy(this.aliasCompany.keys(), (alias) => this.aliasCompany[alias]!);
    return (this.#aliasesByCompany.get(company) ?? []).map((alias) => this.aliases.textOf(alias) as CompanyDomain);
  }

  /** The company's name as its first row has it: the most recent active job, else the most recent closed one. */
  shownNameOf(company: number): string {
    return this.employerNames.textOf(this.employer[this.companyRows[this.companyOffsets[company]!]!]!);
  }

  /** The row of the job with an id, active or closed. @throws SnapshotChangedError when the file changed after it was opened */
  rowOf(id: string): number | undefined {
    return this.#rowsById.find(id);
  }

  /** When a job closed, milliseconds since the epoch; null for an active one. */
  closedAt(row: number): number | null {
    return row < this.activeCount ? null : this.closedAtByClosedRow[row - this.activeCount]!;
  }

  /** The rows that closed from `startMs` to `endMs`, both included, newest closing first, then by id; a view. */
  closedBetween(startMs: number, endMs: number): Uint32Array {
    const { activeCount, closedAtByClosedRow, closings } = this;
    const closedAt = (place: number): number => closedAtByClosedRow[closings[place]! - activeCount]!;
    const first = firstWhere(0, closings.length, (place) => closedAt(place) <= endMs);
    return closings.subarray(
      first,
      firstWhere(first, closings.length, (place) => closedAt(place) < startMs),
    );
  }

  /** @throws SnapshotChangedError when the file changed after it was opened */
  descriptionOf(row: number): Description {
    const found = this.descriptions.at(row);
    return found === null ? NO_DESCRIPTION : { text: found.text, isTruncated: found.isFlagged };
  }

  /**
   * A whole job as it was added, with its description from the file; a company's aliases are on its first job.
   * @throws SnapshotChangedError when the file changed after it was opened
   */
  job(row: number): Job {
    const { id, sourceUrl } = this.cold.rowAt(row);
    const { isTruncated, text } = this.descriptionOf(row);
    const employer = this.employer[row]!;
    const company = this.employerCompany[employer]!;
    const skills: string[] = [];
    for (let i = this.skillOffsets[row]!; i < this.skillOffsets[row + 1]!; i++) {
      skills.push(this.skillNames.textOf(this.skills[i]!));
    }
    return {
      id,
      title: this.titles.textOf(this.title[row]!),
      company: this.employerNames.textOf(employer),
      companyDomain: this.domainOf(company),
      ...this.#identityOf(row, company),
      location: this.location[row] === 0 ? null : this.locations.textOf(this.location[row]!),
      department: this.department[row] === 0 ? null : this.departments.textOf(this.department[row]!),
      remoteStatus: REMOTE_STATUSES[this.remoteStatus[row]!]!,
      employmentType: EMPLOYMENT_TYPES[this.employmentType[row]!]!,
      sourceUrl,
      skills,
      firstObservedMs: this.firstObserved[row]!,
      lastObservedMs: this.lastObserved[row]!,
      status: row < this.activeCount ? 'active' : 'closed',
      closedAtMs: this.closedAt(row),
      description: text,
      descriptionTruncated: isTruncated,
    };
  }

  /** A job's evidence and aliases, only where `Job` needs them. */
  #identityOf(row: number, company: number): Pick<Job, 'companyDomainEvidence' | 'companyAliases'> {
    const evidence = this.evidenceOf(this.employer[row]!);
    const isFirst = this.companyRows[this.companyOffsets[company]!] === row;
    const aliases = isFirst ? this.aliasesOf(company) : [];
    return {
      ...(evidence === null || evidence === 'source' ? {} : { companyDomainEvidence: evidence }),
      ...(aliases.length === 0 ? {} : { companyAliases: aliases }),
    };
  }

  /** Closes the file. The columns stay readable, cold rows do not. */
  close(): void {
    this.#source.close();
  }

  /**
   * Closes the file and gives away the memory of columns, details and index: nothing of this snapshot may be read afterwards.
   * If left to the garbage collector, a replaced catalogue's memory would stay long after the next one is served.
   */
  release(): ArrayBuffer[] {
    this.#source.close();
    return [this.#columnBytes, this.#details?.bytes, this.#index?.bytes]
      .filter((bytes) => bytes !== undefined)
      .map(({ buffer }) => (buffer as ArrayBuffer).transfer());
  }
}
