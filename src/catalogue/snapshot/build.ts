/**
 * Jobs into a snapshot (decisions §3, "Snapshot"). Jobs arrive in any order and go into columns at once; at the end
 * the builder sorts rows and numbers codes again, so that the file follows from the set of jobs, the events and the facts
 * alone. Descriptions and the texts of events go to a spill.
 *
 * Memory: for each job the bytes of its new texts (id and URL always) and about 70 bytes of columns, and for a moment the index; nothing is kept as an
 * object. Bun peaks higher than Node, because it is late in returning outgrown arrays (bench/synthetic-catalogue.ts).
 */
import { keepTop } from '../../base/top-list.ts';
import type { CompanyDomain } from '../company-domain.ts';
import type { Job } from '../job.ts';
import { EMPLOYMENT_TYPES, REMOTE_STATUSES } from '../job.ts';
import { CHECKED_CHUNK_BYTES, PUBLIC_POOL_SIZE, ROW_COUNT_MAX } from '../limits.ts';
import type { BlockFacts } from '../packed/block-packer.ts';
import { type DescriptionSources, Descriptions, type StoredDescription } from '../packed/description-build.ts';
import {
  derivedHistory,
  type EventCompanies,
  type EventJob,
  HistoryEvents,
  type RecordedEvent,
} from '../packed/history-build.ts';
import { MemorySpill, type Spill } from '../packed/spill.ts';
import { buildWholeIndex } from '../whole/build-index.ts';
import { bytesOf, type Column, gathered, grown, inverseOf, narrowed, typeOf } from './column-arrays.ts';
import { companySignaturesOf } from './company-signatures.ts';
import { type EmployerIdentity, Employers } from './employers.ts';
import { SECTIONS, type SectionName } from './layout.ts';
import { IdDigests, rowComparator } from './row-order.ts';
import { SnapshotError } from './snapshot-error.ts';
import { type BuildFacts, type BuiltSnapshot, type Content, snapshotFile } from './snapshot-file.ts';
import { aliasSections, codesByAppearance, codesByText, companiesOf, textSections } from './text-codes.ts';
import { TextBytes, TextTable } from './text-table.ts';

export interface BuilderSettings extends DescriptionSources {
  /** Where descriptions wait; the caller closes it after the file was written. Default: memory. */
  readonly spill?: Spill;
  /** Default: true. */
  readonly keepsDescriptions?: boolean;
  /** Bytes of text in a block of descriptions; another than the usual only for comparison. */
  readonly blockBytes?: number;
}

export interface FinishedSnapshot extends BuiltSnapshot {
  /** Aliases that several companies would have, so that none has them; ascending. */
  readonly disputedAliases: readonly string[];
  /** The blocks of descriptions, in the order of the file. */
  readonly descriptionBlocks: readonly BlockFacts[];
}

/** The columns of one element a row or code, and of numbers. */
type ColumnName = Exclude<SectionName, 'coldText' | 'descriptionBlocks' | 'historyBlocks'>;

type Contents = Record<SectionName, Content>;

const ACTIVE_FLAG = 1;

export class SnapshotBuilder {
  readonly #spill: Spill;
  readonly #blockBytes: number | undefined;
  /** undefined: none are kept. */
  readonly #descriptions: Descriptions | undefined;
  readonly #events: HistoryEvents;

  /** The ordinal of a job is the number of its id. */
  readonly #ids = new TextTable();
  readonly #urls = new TextBytes();
  readonly #titles = new TextTable();
  readonly #employers = new Employers();
  readonly #locations = new TextTable();
  readonly #departments = new TextTable();
  readonly #skills = new TextTable();

  // One element a job, in order of arrival. Location and department: number in the table + 1, 0 = not recorded.
  #lastObserved = new Float64Array(1024);
  #firstObserved = new Float64Array(1024);
  /** NaN = active. */
  #closedAt = new Float64Array(1024);
  #title = new Uint32Array(1024);
  #employer = new Uint32Array(1024);
  #location = new Uint32Array(1024);
  #department = new Uint32Array(1024);
  #remoteStatus = new Uint8Array(1024);
  #employmentType = new Uint8Array(1024);
  #flags = new Uint8Array(1024);
  #urlEnds = new Uint32Array(1024);
  #skillEnds = new Uint32Array(1024);
  /** Skill numbers of all jobs, job after job. */
  #skillNumbers = new Uint32Array(4096);
  #skillCount = 0;
  #activeCount = 0;
  #disputedAliases: readonly string[] = [];
  #blockFacts: readonly BlockFacts[] = [];
  /** By domain, once the columns are made. */
  #companyOfDomain: ReadonlyMap<string, number> = new Map();

  constructor({ blockBytes, keepsDescriptions = true, spill = new MemorySpill(), ...sources }: BuilderSettings = {}) {
    this.#spill = spill;
    this.#blockBytes = blockBytes;
    this.#descriptions = keepsDescriptions ? new Descriptions(spill, sources) : undefined;
    this.#events = new HistoryEvents(spill);
  }

  /** Jobs added so far. */
  get rowCount(): number {
    return this.#ids.size;
  }

  /**
   * Adds a job, unless one with the same id was added before.
   * @param group of jobs whose company `reassignCompanies` finds; 0 = the job's own company is final
   * @param stored in place of the job's description
   * @returns undefined when it was added; otherwise the ordinal (0-based, in order of additions) of the other job
   * @throws SnapshotError past the limits of a snapshot
   */
  add(job: Job, group = 0, stored?: StoredDescription): number | undefined {
    const row = this.#ids.size;
    const ordinal = this.#ids.numberOf(job.id);
    if (ordinal < row) return ordinal;
    if (row === ROW_COUNT_MAX) throw new SnapshotError(`the catalogue has more than ${ROW_COUNT_MAX} jobs`);
    if (row === this.#title.length) this.#grow();
    this.#lastObserved[row] = job.lastObservedMs;
    this.#firstObserved[row] = job.firstObservedMs;
    this.#closedAt[row] = job.closedAtMs ?? Number.NaN;
    this.#title[row] = this.#titles.numberOf(job.title);
    this.#employer[row] = this.#employers.numberOf(job, group);
    this.#location[row] = job.location === null ? 0 : this.#locations.numberOf(job.location) + 1;
    this.#department[row] = job.department === null ? 0 : this.#departments.numberOf(job.department) + 1;
    this.#remoteStatus[row] = REMOTE_STATUSES.indexOf(job.remoteStatus);
    this.#employmentType[row] = EMPLOYMENT_TYPES.indexOf(job.employmentType);
    if (job.status === 'active') {
      this.#flags[row] = ACTIVE_FLAG;
      this.#activeCount++;
    }
    this.#urls.append(job.sourceUrl);
    this.#urlEnds[row] = this.#urls.length;
    for (const skill of job.skills) {
      if (this.#skillCount === this.#skillNumbers.length) this.#skillNumbers = grown(this.#skillNumbers);
      this.#skillNumbers[this.#skillCount++] = this.#skills.numberOf(skill);
    }
    this.#skillEnds[row] = this.#skillCount;
    if (stored !== undefined) this.#descriptions?.addStored(row, stored);
    else if (job.description !== null) this.#descriptions?.add(row, job.description, job.descriptionTruncated);
    return undefined;
  }

  /** Gives the jobs of every group but 0 their company. @throws nothing; call it once, before `finish` */
  reassignCompanies(
    identityOf: (group: number, company: string, domain: CompanyDomain | null) => EmployerIdentity,
  ): void {
    this.#employers.reassign(identityOf, this.#employer.subarray(0, this.rowCount));
  }

  /**
   * Adds the next event that a catalogue recorded, in that order, after all jobs. Without any, the history of each job follows
   * from the job.
   * @param job that was added, or that the snapshot is to name without holding it
   * @throws SnapshotError past the limits of a snapshot
   */
  addEvent(event: RecordedEvent, job: EventJob): void {
    this.#events.add(event, this.#ids.find(job.id) ?? job);
  }

  /**
   * The finished file. Call it once, after the last job.
   * @param factsOf gets the content digest, which is the same for the same set of jobs
   * @throws SnapshotError when the columns are larger than a reader accepts
   */
  finish(factsOf: (contentDigest: string) => BuildFacts): FinishedSnapshot {
    const byId = this.#byId();
    const idRank = inverseOf(byId);
    const digests = new IdDigests(this.#ids);
    const contents = this.#contents(this.#rowOrder(digests), byId, idRank, digests);
    const built = snapshotFile(contents, this.rowCount, this.#activeCount, factsOf);
    return { ...built, disputedAliases: this.#disputedAliases, descriptionBlocks: this.#blockFacts };
  }

  /** Ordinals in the order of their ids, by code unit. */
  #byId(): Uint32Array<ArrayBuffer> {
    const byId = new Uint32Array(this.rowCount);
    for (let ordinal = 0; ordinal < byId.length; ordinal++) byId[ordinal] = ordinal;
    return byId.sort((a, b) => this.#ids.compare(a, b));
  }

  /** Ordinals in the order of the file: active first, then as row-order.ts says. */
  #rowOrder(digests: IdDigests): Uint32Array {
    const order = new Uint32Array(this.rowCount);
    let active = 0;
    let closed = this.#activeCount;
    for (let ordinal = 0; ordinal < order.length; ordinal++) {
      if (this.#flags[ordinal] === ACTIVE_FLAG) order[active++] = ordinal;
      else order[closed++] = ordinal;
    }
    const compare = rowComparator(this.#lastObserved, digests);
    order.subarray(0, this.#activeCount).sort(compare);
    order.subarray(this.#activeCount).sort(compare);
    return order;
  }

  /** @param byId ordinals @param idRank by ordinal */
  #contents(
    order: Uint32Array,
    byId: Uint32Array<ArrayBuffer>,
    idRank: Uint32Array<ArrayBuffer>,
    digests: IdDigests,
  ): Contents {
    const codes = this.#columns(order);
    const companies = codes.employer.map((employer) => codes.employerCompany[employer]!);
    const descriptions = this.#descriptions ?? new Descriptions(this.#spill);
    const compare = (job: number, other: number): number => digests.compare(job, other);
    const { blockFacts, descriptionBlocks, descriptionPlaces } = descriptions.sections(
      { order, companies, compare },
      this.#blockBytes,
    );
    this.#blockFacts = blockFacts;
    const rowOf = inverseOf(order);
    const eventCompanies = {
      companyCount: codes.companyOrder.length,
      companyOf: companies,
      companyOfDomain: this.#companyOfDomain,
    };
    const { historyBlocks, ...history } = this.#history(rowOf, idRank, eventCompanies);
    const columns: Record<ColumnName, Column> = {
      ...codes,
      ...this.#closings(order, idRank),
      idRank: gathered(idRank, order),
      publicPool: this.#publicPool(order, digests),
      rowsById: gathered(rowOf, byId),
      ...history,
      descriptionPlaces,
      descriptionBlockOffsets: descriptionBlocks.offsets,
      historyBlockOffsets: historyBlocks.offsets,
    };
    const contents: Partial<Record<SectionName, Content>> = {
      coldText: {
        type: 'u8',
        chunks: { [Symbol.iterator]: () => this.#coldChunks(order, false) },
        reusedChunks: { [Symbol.iterator]: () => this.#coldChunks(order, true) },
      },
      descriptionBlocks: { type: 'u8', chunks: descriptionBlocks.chunks, blocks: descriptionBlocks },
      historyBlocks: { type: 'u8', chunks: historyBlocks.chunks, blocks: historyBlocks },
    };
    for (const { name, types } of SECTIONS) {
      if (name === 'coldText' || name === 'descriptionBlocks' || name === 'historyBlocks') continue;
      contents[name] = { type: typeOf(columns[name], types), chunks: [bytesOf(columns[name])] };
    }
    return contents as Contents;
  }

  /** The active rows with the smallest digests of their ids (`/v1/public/search`, siblings §4). */
  #publicPool(order: Uint32Array, digests: IdDigests): Uint32Array<ArrayBuffer> {
    const rows: number[] = [];
    const comesBefore = (left: number, right: number): boolean => digests.compare(order[left]!, order[right]!) < 0;
    for (let row = 0; row < this.#activeCount; row++) keepTop(rows, row, PUBLIC_POOL_SIZE, comesBefore);
    return Uint32Array.from(rows);
  }

  #closings(order: Uint32Array, idRank: Uint32Array): Record<'closedAt' | 'closings', Column> {
    const closed = order.subarray(this.#activeCount);
    const closings = Uint32Array.from(closed, (_, index) => this.#activeCount + index);
    const times = this.#closedAt;
    closings.sort((a, b) => times[order[b]!]! - times[order[a]!]! || idRank[order[a]!]! - idRank[order[b]!]!);
    return { closedAt: gathered(times, closed), closings };
  }

  #history(rowOf: Uint32Array, idRank: Uint32Array, companies: EventCompanies) {
    if (this.#events.count > 0) return this.#events.sections(rowOf, companies);
    const count = rowOf.length;
    const firstObserved = this.#firstObserved.subarray(0, count);
    const closedAt = this.#closedAt.subarray(0, count);
    return derivedHistory({ firstObserved, closedAt, idRank }, rowOf, companies, this.#spill);
  }

  #columns(order: Uint32Array) {
    const title = codesByAppearance(this.#titles, gathered(this.#title, order), 0);
    const location = codesByAppearance(this.#locations, gathered(this.#location, order), 1);
    const department = codesByText(this.#departments, gathered(this.#department, order), 1);
    const skillRows = this.#skillRows(order);
    const skills = codesByText(this.#skills, skillRows.numbers, 0);
    const employer = codesByAppearance(this.#employers.table, gathered(this.#employer, order), 0);
    const companies = companiesOf(this.#employers.table, employer.dictionary);
    const aliases = aliasSections(this.#employers, companies);
    this.#disputedAliases = aliases.disputed;
    this.#companyOfDomain = aliases.companyOfDomain;
    const { order: companyOrder, signatures } = companySignaturesOf(employer.codes, this.#activeCount, companies);
    const titleTexts = textSections(this.#titles, title.dictionary, 0);
    const locationTexts = textSections(this.#locations, location.dictionary, 1);
    const departmentTexts = textSections(this.#departments, department.dictionary, 1);
    const skillTexts = textSections(this.#skills, skills.dictionary, 0);
    const nameTexts = textSections(companies.names, Uint32Array.from(companies.nameOfEmployer), 0);
    const keyTexts = textSections(companies.keys, Uint32Array.from(companies.keyOfCompany), 0);
    const columns = {
      lastObserved: gathered(this.#lastObserved, order),
      firstObserved: gathered(this.#firstObserved, order),
      title: title.codes,
      employer: employer.codes,
      location: location.codes,
      department: narrowed(department.codes, department.dictionary.length + 1),
      remoteStatus: gathered(this.#remoteStatus, order),
      employmentType: gathered(this.#employmentType, order),
      skillOffsets: skillRows.offsets,
      skills: narrowed(skills.codes, skills.dictionary.length),
      titleOffsets: titleTexts.offsets,
      titleText: titleTexts.text,
      employerCompany: companies.companyOfEmployer,
      employerNameOffsets: nameTexts.offsets,
      employerNameText: nameTexts.text,
      employerEvidence: companies.evidenceOfEmployer,
      aliasCompany: aliases.company,
      aliasOffsets: aliases.offsets,
      aliasText: aliases.text,
      companyOrder,
      companySignatures: signatures,
      companyHasDomain: companies.hasDomain,
      companyKeyOffsets: keyTexts.offsets,
      companyKeyText: keyTexts.text,
      locationOffsets: locationTexts.offsets,
      locationText: locationTexts.text,
      departmentOffsets: departmentTexts.offsets,
      departmentText: departmentTexts.text,
      skillTextOffsets: skillTexts.offsets,
      skillText: skillTexts.text,
      coldOffsets: this.#coldOffsets(order),
    };
    return { ...columns, ...buildWholeIndex(columns) };
  }

  #skillRows(order: Uint32Array): { offsets: Uint32Array<ArrayBuffer>; numbers: Uint32Array<ArrayBuffer> } {
    const offsets = new Uint32Array(order.length + 1);
    const numbers = new Uint32Array(this.#skillCount);
    let end = 0;
    for (let row = 0; row < order.length; row++) {
      const ordinal = order[row]!;
      const until = this.#skillEnds[ordinal]!;
      for (let i = ordinal === 0 ? 0 : this.#skillEnds[ordinal - 1]!; i < until; i++) {
        numbers[end++] = this.#skillNumbers[i]!;
      }
      offsets[row + 1] = end;
    }
    return { offsets, numbers };
  }

  #coldOffsets(order: Uint32Array): Uint32Array<ArrayBuffer> {
    const offsets = new Uint32Array(order.length * 2 + 1);
    let end = 0;
    for (let row = 0; row < order.length; row++) {
      const ordinal = order[row]!;
      end += this.#ids.endOf(ordinal) - this.#ids.startOf(ordinal);
      offsets[row * 2 + 1] = end;
      end += this.#urlEnds[ordinal]! - this.#urlStart(ordinal);
      if (end > 0xffffffff) throw new SnapshotError('ids and source URLs of the catalogue take more than 4 GiB');
      offsets[row * 2 + 2] = end;
    }
    return offsets;
  }

  /**
   * Ids and URLs in row order, about a mebibyte at a time, so that there is no second copy of the whole.
   * @param reused whether each chunk may be overwritten when the next is asked for
   */
  *#coldChunks(order: Uint32Array, reused: boolean): Generator<Uint8Array> {
    let chunk = new Uint8Array(CHECKED_CHUNK_BYTES);
    let filled = 0;
    for (const ordinal of order) {
      const id = this.#ids.bytes.subarray(this.#ids.startOf(ordinal), this.#ids.endOf(ordinal));
      const url = this.#urls.bytes.subarray(this.#urlStart(ordinal), this.#urlEnds[ordinal]!);
      const length = id.length + url.length;
      if (filled + length > chunk.length) {
        yield chunk.subarray(0, filled);
        if (!reused || length > chunk.length) chunk = new Uint8Array(Math.max(CHECKED_CHUNK_BYTES, length));
        filled = 0;
      }
      chunk.set(id, filled);
      chunk.set(url, filled + id.length);
      filled += length;
    }
    yield chunk.subarray(0, filled);
  }

  #urlStart(ordinal: number): number {
    return ordinal === 0 ? 0 : this.#urlEnds[ordinal - 1]!;
  }

  #grow(): void {
    this.#lastObserved = grown(this.#lastObserved);
    this.#firstObserved = grown(this.#firstObserved);
    this.#closedAt = grown(this.#closedAt);
    this.#title = grown(this.#title);
    this.#employer = grown(this.#employer);
    this.#location = grown(this.#location);
    this.#department = grown(this.#department);
    this.#remoteStatus = grown(this.#remoteStatus);
    this.#employmentType = grown(this.#employmentType);
    this.#flags = grown(this.#flags);
    this.#urlEnds = grown(this.#urlEnds);
    this.#skillEnds = grown(this.#skillEnds);
  }
}
