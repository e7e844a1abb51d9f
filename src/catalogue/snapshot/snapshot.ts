/**
 * A snapshot that is open for questions (decisions §3, "Snapshot"; the file's form is in layout.ts).
 *
 * The columns are read at once and viewed as typed arrays, not parsed. Ids and source URLs stay in the file and are
 * read for the few rows of an answer. Opening checks every byte against its checksum and every code and offset against
 * what it points into, so that no later read can leave its array; what is only a matter of meaning (ties in order of
 * id, one code for one text) rests on the checksum. Nothing is allocated by a number out of the file before that
 * number has been compared with the file's real length.
 *
 * Cost: 70 bytes a job in memory for a million synthetic jobs, 59 for ten million (bench/snapshot-load.ts). The columns are frozen by agreement: nobody writes to them.
 */
import { Buffer, isAscii } from 'node:buffer';
import * as v from 'valibot';
import type { CompanyDomain } from '../company-domain.ts';
import { EMPLOYMENT_TYPES, type Job, REMOTE_STATUSES } from '../job.ts';
import { CHECKED_CHUNK_BYTES, HEADER_BYTES_MAX, HOT_BYTES_MAX, SNAPSHOT_BYTES_MAX, TEXT_BYTES_MAX } from '../limits.ts';
import {
  aligned,
  checksumOf,
  contentDigestOf,
  ELEMENT_BYTES,
  FIRST_COLD_SECTION,
  FORMAT_VERSION,
  type Header,
  headerSchema,
  MAGIC,
  PREFIX_BYTES,
  SECTIONS,
  type Section,
  type SectionName,
} from './layout.ts';
import { TextColumn } from './text-column.ts';

/** A snapshot that cannot be built, read or written. The message is one line for the operator. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError';
}

/** The file was altered in place after it was opened, so that what it holds no longer fits what was loaded. */
export class SnapshotChangedError extends Error {
  override readonly name = 'SnapshotChangedError';
}

/** Where the bytes of a snapshot are. Reading is synchronous: the rows of an answer belong to one moment. */
export interface SnapshotSource {
  /** What errors call it: a path, or whatever the operator knows it by. */
  readonly name: string;
  readonly byteLength: number;
  /** The bytes from `offset` on: `length` of them, or fewer where the source ends early. Not modified afterwards. */
  read(offset: number, length: number): Uint8Array;
  /** The same for what is only looked at: good until the next call of this method. */
  glance(offset: number, length: number): Uint8Array;
  /** Whether the bytes are, as far as can be told cheaply, those that were there when the source was opened. */
  intact(): boolean;
  close(): void;
}

/** Bytes in memory as a source. They are not copied, so they must not be changed afterwards. */
export function memorySource(name: string, bytes: Uint8Array): SnapshotSource {
  return {
    name,
    byteLength: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
    glance: (offset, length) => bytes.subarray(offset, offset + length),
    intact: () => true,
    close: () => {},
  };
}

/**
 * Reads and checks a whole snapshot.
 * throws  SnapshotError, and closes the source, when anything about it is wrong
 */
export function openSnapshot(source: SnapshotSource): Snapshot {
  try {
    return new Snapshot(source, readHeader(source));
  } catch (error) {
    source.close();
    throw error;
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

/** The largest distance from the epoch that a Date can show (ECMA-262, "Time Values and Time Range"), milliseconds. */
const TIME_MAX_MS = 8.64e15;

/** What stays in the file. */
export interface ColdRow {
  readonly id: string;
  readonly sourceUrl: string;
}

/** What of it is kept in memory, of rows below `count`. */
export interface KeptColdRows {
  readonly count: number;
  rowAt(row: number): ColdRow;
  /** The same, where possible as `TextColumn.pieceOf` gives texts. */
  piecesAt(row: number): ColdRow;
}

export class Snapshot {
  readonly #source: SnapshotSource;
  readonly #coldOffsetsAt: number;
  readonly #coldTextAt: number;
  readonly #coldTextLength: number;
  readonly #header: Header;

  readonly rowCount: number;
  /** Rows 0 .. activeCount - 1 are active, the rest closed; both newest last observation first. */
  readonly activeCount: number;
  /** Companies with a job, active or closed. */
  readonly companyCount: number;
  readonly facts: Header['facts'];
  /** Of the file. */
  readonly byteLength: number;
  /** Last observations over all rows, closed ones included; `null` when there is no row. */
  readonly newestObservedMs: number | null;
  readonly oldestObservedMs: number | null;

  // One element a row. Times are milliseconds since the epoch; codes are places in the texts below; code 0 of location
  // and department is "not recorded".
  readonly lastObserved: Float64Array;
  readonly firstObserved: Float64Array;
  readonly title: Uint32Array;
  readonly employer: Uint32Array;
  readonly location: Uint32Array;
  readonly department: Uint16Array | Uint32Array;
  /** Place in REMOTE_STATUSES. */
  readonly remoteStatus: Uint8Array;
  /** Place in EMPLOYMENT_TYPES. */
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
   * active ones come first. Made here by counting (11 ms for 300000 rows), so that it cannot disagree with the rows.
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

  /** For `openSnapshot` alone, which closes the source when this throws. */
  constructor(source: SnapshotSource, opened: OpenedHeader) {
    const { header, sections } = opened;
    this.#source = source;
    this.rowCount = header.rows;
    this.activeCount = header.active;
    this.facts = header.facts;
    this.byteLength = source.byteLength;
    this.#header = header;

    const hot = readHot(source, opened);
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

    const refuse = hot.refuse;
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

    // Both runs are in order, so the ends of the runs are enough.
    const firsts = [0, this.activeCount].filter((row) => row < rowCount);
    const lasts = [this.activeCount - 1, rowCount - 1].filter((row) => row >= 0);
    this.newestObservedMs = rowCount === 0 ? null : Math.max(...firsts.map((row) => this.lastObserved[row]!));
    this.oldestObservedMs = rowCount === 0 ? null : Math.min(...lasts.map((row) => this.lastObserved[row]!));

    const coldOffsets = sections.coldOffsets;
    const coldText = sections.coldText;
    requireCold(source, coldOffsets, coldText, rowCount);
    this.#coldOffsetsAt = coldOffsets.offset;
    this.#coldTextAt = coldText.offset;
    this.#coldTextLength = coldText.byteLength;
  }

  /** SHA-256 in hex; the same for the same set of jobs. Made when it is asked for: a server never does. */
  get contentDigest(): string {
    return contentDigestOf(this.#header);
  }

  /** The company of a domain, when a job, active or closed, has it. About 20 comparisons of bytes. */
  companyOf(domain: CompanyDomain): number | undefined {
    const key = encoder.encode(domain);
    let low = 0;
    let high = this.companyCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.companyKeys.compareTo(middle, key) < 0) low = middle + 1;
      else high = middle;
    }
    // A name that equals a domain comes after it, so the first of equal keys is the domain if either is.
    const found =
      low < this.companyCount && this.companyHasDomain[low] === 1 && this.companyKeys.compareTo(low, key) === 0;
    return found ? low : undefined;
  }

  /** How many of a company's rows, which are its first ones, are active. */
  activeRowsOf(company: number): number {
    const start = this.companyOffsets[company]!;
    let low = start;
    let high = this.companyOffsets[company + 1]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.companyRows[middle]! < this.activeCount) low = middle + 1;
      else high = middle;
    }
    return low - start;
  }

  /** The domain of a company, or `null` when it has none. */
  domainOf(company: number): CompanyDomain | null {
    return this.companyHasDomain[company] === 1 ? (this.companyKeys.textOf(company) as CompanyDomain) : null;
  }

  /** The company's name as its first row has it: the most recent active job, else the most recent closed one. */
  shownNameOf(company: number): string {
    return this.employerNames.textOf(this.employer[this.companyRows[this.companyOffsets[company]!]!]!);
  }

  /**
   * Id and source URL of rows, in their order: two reads a row and one look at the file's state. Meant for the at most ten
   * rows of an answer.
   * throws  SnapshotChangedError when the file was altered in place
   */
  coldRows(rows: ArrayLike<number>): ColdRow[] {
    const found = Array.from(rows, (row) => {
      const places = this.#readCold(this.#coldOffsetsAt + row * 8, 12);
      const idAt = uint32At(places, 0);
      const urlAt = uint32At(places, 4);
      const end = uint32At(places, 8);
      if (idAt > urlAt || urlAt > end || end > this.#coldTextLength) throw this.#changed();
      const text = this.#readCold(this.#coldTextAt + idAt, end - idAt);
      return { id: textIn(text, 0, urlAt - idAt), sourceUrl: textIn(text, urlAt - idAt, end - idAt) };
    });
    // Afterwards: a file that was altered before or between the reads shows it now.
    if (!this.#source.intact()) throw this.#changed();
    return found;
  }

  coldRow(row: number): ColdRow {
    return this.coldRows([row])[0]!;
  }

  /**
   * Ids and source URLs of the first `count` rows, in two reads, to be kept; `undefined` when they are longer than
   * `bytesMax` together.
   * throws  SnapshotChangedError when the file was altered in place
   */
  firstColdRows(count: number, bytesMax: number): KeptColdRows | undefined {
    const places = uint32sIn(this.#readCold(this.#coldOffsetsAt, (count * 2 + 1) * 4));
    for (let i = 1; i < places.length; i++) if (places[i]! < places[i - 1]!) throw this.#changed();
    const length = places[count * 2]!;
    if (places[0] !== 0 || length > this.#coldTextLength) throw this.#changed();
    if (length > bytesMax) return undefined;
    const bytes = this.#readCold(this.#coldTextAt, length);
    if (!this.#source.intact()) throw this.#changed();
    const rowAt = (row: number): ColdRow => ({
      id: textIn(bytes, places[row * 2]!, places[row * 2 + 1]!),
      sourceUrl: textIn(bytes, places[row * 2 + 1]!, places[row * 2 + 2]!),
    });
    if (!isAscii(bytes)) return { count, rowAt, piecesAt: rowAt };
    const units = bytes.toString('latin1');
    const piecesAt = (row: number): ColdRow => ({
      id: units.slice(places[row * 2]!, places[row * 2 + 1]!),
      sourceUrl: units.slice(places[row * 2 + 1]!, places[row * 2 + 2]!),
    });
    return { count, rowAt, piecesAt };
  }

  #readCold(offset: number, length: number): Buffer {
    const bytes = this.#source.read(offset, length);
    if (bytes.length !== length) throw this.#changed();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** A whole job as it was added, for the export. throws SnapshotChangedError as `coldRow` does */
  job(row: number): Job {
    const { id, sourceUrl } = this.coldRow(row);
    const employer = this.employer[row]!;
    const skills: string[] = [];
    for (let i = this.skillOffsets[row]!; i < this.skillOffsets[row + 1]!; i++) {
      skills.push(this.skillNames.textOf(this.skills[i]!));
    }
    return {
      id,
      title: this.titles.textOf(this.title[row]!),
      company: this.employerNames.textOf(employer),
      companyDomain: this.domainOf(this.employerCompany[employer]!),
      location: this.location[row] === 0 ? null : this.locations.textOf(this.location[row]!),
      department: this.department[row] === 0 ? null : this.departments.textOf(this.department[row]!),
      remoteStatus: REMOTE_STATUSES[this.remoteStatus[row]!]!,
      employmentType: EMPLOYMENT_TYPES[this.employmentType[row]!]!,
      sourceUrl,
      skills,
      firstObservedMs: this.firstObserved[row]!,
      lastObservedMs: this.lastObserved[row]!,
      status: row < this.activeCount ? 'active' : 'closed',
    };
  }

  /** Lets go of the file. The columns stay readable, cold rows do not. */
  close(): void {
    this.#source.close();
  }

  #changed(): SnapshotChangedError {
    return new SnapshotChangedError(`${this.#source.name}: was changed in place while it was in use`);
  }

  /**
   * Every code points into its texts. One loop with a place in the code for each column: a function that is called with
   * arrays of several types looks their type up at each element (72 ms for a million jobs on Bun, 20 in this way).
   */
  #requireCodes(refuse: (reason: string) => SnapshotError): void {
    const { department, employer, employerCompany, employmentType, location, remoteStatus, skills, title } = this;
    const titleCount = this.titles.size;
    const locationCount = this.locations.size;
    const departmentCount = this.departments.size;
    const employerCount = this.employerNames.size;
    for (let row = 0; row < this.rowCount; row++) {
      if (title[row]! >= titleCount) throw refuse('a title code points nowhere');
      if (location[row]! >= locationCount) throw refuse('a location code points nowhere');
      if (department[row]! >= departmentCount) throw refuse('a department code points nowhere');
      if (employer[row]! >= employerCount) throw refuse('an employer code points nowhere');
      if (remoteStatus[row]! >= REMOTE_STATUSES.length) throw refuse('a workplace code points nowhere');
      if (employmentType[row]! >= EMPLOYMENT_TYPES.length) throw refuse('an employment code points nowhere');
    }
    const skillCount = this.skillNames.size;
    for (let i = 0; i < skills.length; i++) if (skills[i]! >= skillCount) throw refuse('a skill code points nowhere');
    for (let i = 0; i < employerCompany.length; i++) {
      if (employerCompany[i]! >= this.companyCount) throw refuse('a company code points nowhere');
    }
  }

  #requireRowsInOrder(start: number, end: number, refuse: (reason: string) => SnapshotError): void {
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

  #requireCompaniesInOrder(refuse: (reason: string) => SnapshotError): void {
    for (let company = 0; company < this.companyCount; company++) {
      if (this.companyHasDomain[company]! > 1) throw refuse('a company is neither domain nor name');
      if (company === 0) continue;
      const order = this.companyKeys.compare(company - 1, company);
      const domainFirst = this.companyHasDomain[company - 1]! > this.companyHasDomain[company]!;
      if (order > 0 || (order === 0 && !domainFirst)) throw refuse('companies are not in order');
    }
  }

  #rowsByCompany(refuse: (reason: string) => SnapshotError): { offsets: Uint32Array; rows: Uint32Array } {
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

interface OpenedHeader {
  readonly header: Header;
  readonly sections: Readonly<Record<SectionName, Section>>;
  /** Bytes before the first section. */
  readonly length: number;
}

/** The header, when it and the sections' places are exactly as layout.ts says. */
function readHeader(source: SnapshotSource): OpenedHeader {
  const refuse = (reason: string): SnapshotError => new SnapshotError(`${source.name}: ${reason}`);
  if (source.byteLength > SNAPSHOT_BYTES_MAX) {
    throw refuse(`is ${source.byteLength} bytes long, more than the ${SNAPSHOT_BYTES_MAX} that are read`);
  }
  if (new Uint8Array(Uint16Array.of(1).buffer)[0] !== 1) throw refuse('snapshots need a little-endian machine');
  const prefix = source.read(0, PREFIX_BYTES);
  for (let i = 0; i < MAGIC.length; i++) if (prefix[i] !== MAGIC[i]) throw refuse('is not a snapshot');
  if (prefix.length < PREFIX_BYTES) throw refuse('is cut off inside its header');
  const version = uint32At(prefix, 8);
  if (version !== FORMAT_VERSION) {
    throw refuse(`has format version ${version}; this program reads version ${FORMAT_VERSION}`);
  }
  const jsonLength = uint32At(prefix, 12);
  if (jsonLength > HEADER_BYTES_MAX || jsonLength % 8 !== 0 || uint32At(prefix, 20) !== 0) {
    throw refuse('has a damaged header');
  }
  const json = source.read(PREFIX_BYTES, jsonLength);
  if (json.length !== jsonLength) throw refuse('is cut off inside its header');
  if (checksumOf(json) !== uint32At(prefix, 16)) throw refuse('has a damaged header (checksum)');
  let parsed: unknown;
  try {
    parsed = JSON.parse(decoder.decode(json));
  } catch {
    throw refuse('has a header that is not JSON');
  }
  const result = v.safeParse(headerSchema, parsed);
  if (!result.success) throw refuse('has a header that does not describe a snapshot');
  const header = result.output;
  if (header.active > header.rows) throw refuse('has a header with more active rows than rows');

  const sections = {} as Record<SectionName, Section>;
  let end = PREFIX_BYTES + jsonLength;
  if (header.sections.length !== SECTIONS.length) throw refuse('has a header with other sections than expected');
  for (const [index, { name, types }] of SECTIONS.entries()) {
    const section = header.sections[index]!;
    const known = section.name === name && (types as readonly string[]).includes(section.type);
    if (!known) throw refuse('has a header with other sections than expected');
    if (section.offset !== aligned(end) || section.byteLength % ELEMENT_BYTES[section.type] !== 0) {
      throw refuse(`has section ${name} in a wrong place`);
    }
    if (section.type === 'u8' && section.byteLength > TEXT_BYTES_MAX) throw refuse(`has an oversized section ${name}`);
    end = section.offset + section.byteLength;
    if (end > source.byteLength) throw refuse(`is cut off: section ${name} ends past the end of the file`);
    sections[name] = section;
  }
  if (end !== source.byteLength) throw refuse(`has ${source.byteLength - end} bytes after its end`);
  if (header.sections[FIRST_COLD_SECTION]!.offset > HOT_BYTES_MAX) throw refuse('has more columns than are read');
  return { header, sections, length: PREFIX_BYTES + jsonLength };
}

interface HotSections {
  refuse(reason: string): SnapshotError;
  u8(name: SectionName, count: number): Uint8Array;
  u32(name: SectionName, count: number): Uint32Array;
  f64(name: SectionName, count: number): Float64Array;
  codes(name: SectionName, count?: number): Uint16Array | Uint32Array;
  /** Offsets into something of `length` elements; one more than `count` when that is given. */
  offsets(name: SectionName, length: number, count?: number): Uint32Array;
  texts(offsets: SectionName, text: SectionName): TextColumn;
}

/** The kept sections, read at once, checked, and viewed where they lie. */
function readHot(source: SnapshotSource, { header, sections, length }: OpenedHeader): HotSections {
  const refuse = (reason: string): SnapshotError => new SnapshotError(`${source.name}: ${reason}`);
  const hotEnd = header.sections[FIRST_COLD_SECTION]!.offset;
  let bytes = source.read(length, hotEnd - length);
  if (bytes.length !== hotEnd - length) throw refuse('is cut off inside its columns');
  // Typed arrays can only start at a multiple of their element's size.
  if (bytes.byteOffset % 8 !== 0) bytes = Uint8Array.from(bytes);
  let end = length;
  for (const section of header.sections.slice(0, FIRST_COLD_SECTION)) {
    requireZeros(bytes.subarray(end - length, section.offset - length), refuse);
    end = section.offset + section.byteLength;
    const checksum = checksumOf(bytes.subarray(section.offset - length, end - length));
    if (checksum !== section.checksum) throw refuse(`is damaged in section ${section.name} (checksum)`);
  }
  requireZeros(bytes.subarray(end - length), refuse);

  const place = (name: SectionName): number => bytes.byteOffset + sections[name].offset - length;
  const counted = <C extends { length: number }>(name: SectionName, column: C, count: number | undefined): C => {
    if (count !== undefined && column.length !== count) throw refuse(`has ${column.length} elements in ${name}`);
    return column;
  };
  const u32 = (name: SectionName, count?: number): Uint32Array =>
    counted(name, new Uint32Array(bytes.buffer, place(name), sections[name].byteLength / 4), count);
  const u8 = (name: SectionName, count?: number): Uint8Array =>
    counted(name, new Uint8Array(bytes.buffer, place(name), sections[name].byteLength), count);
  const offsets = (name: SectionName, total: number, count?: number): Uint32Array => {
    const places = u32(name, count === undefined ? undefined : count + 1);
    if (places.length === 0 || places[0] !== 0 || places.at(-1) !== total) throw refuse(`has wrong ends in ${name}`);
    let before = 0;
    for (let i = 0; i < places.length; i++) {
      const place = places[i]!;
      if (place < before) throw refuse(`has ${name} out of order`);
      before = place;
    }
    return places;
  };
  return {
    refuse,
    u8,
    u32,
    f64: (name, count) =>
      counted(name, new Float64Array(bytes.buffer, place(name), sections[name].byteLength / 8), count),
    codes: (name, count) =>
      sections[name].type === 'u16'
        ? counted(name, new Uint16Array(bytes.buffer, place(name), sections[name].byteLength / 2), count)
        : u32(name, count),
    offsets,
    texts: (offsetsName, textName) => {
      const text = u8(textName);
      return new TextColumn(offsets(offsetsName, text.length), text);
    },
  };
}

/** Goes through the cold sections a piece at a time, keeping nothing. */
function requireCold(source: SnapshotSource, offsets: Section, text: Section, rowCount: number): void {
  const refuse = (reason: string): SnapshotError => new SnapshotError(`${source.name}: ${reason}`);
  if (offsets.byteLength !== (rowCount * 2 + 1) * 4) throw refuse('has a wrong number of elements in coldOffsets');
  let before = 0;
  let isFirst = true;
  const see = (bytes: Uint8Array): void => {
    const places = uint32sIn(bytes);
    if (isFirst && places[0] !== 0) throw refuse('has coldOffsets out of order');
    isFirst = false;
    for (let i = 0; i < places.length; i++) {
      const place = places[i]!;
      if (place < before) throw refuse('has coldOffsets out of order');
      before = place;
    }
  };
  requireChecked(source, offsets, see, refuse);
  if (before !== text.byteLength) throw refuse('has wrong ends in coldOffsets');
  const end = offsets.offset + offsets.byteLength;
  requireZeros(source.read(end, text.offset - end), refuse);
  requireChecked(source, text, () => {}, refuse);
}

function requireChecked(
  source: SnapshotSource,
  section: Section,
  see: (bytes: Uint8Array) => void,
  refuse: (reason: string) => SnapshotError,
): void {
  let checksum = 0;
  for (let done = 0; done < section.byteLength; done += CHECKED_CHUNK_BYTES) {
    const length = Math.min(CHECKED_CHUNK_BYTES, section.byteLength - done);
    const bytes = source.glance(section.offset + done, length);
    if (bytes.length !== length) throw refuse(`is cut off inside section ${section.name}`);
    checksum = checksumOf(bytes, checksum);
    see(bytes);
  }
  if (checksum !== section.checksum) throw refuse(`is damaged in section ${section.name} (checksum)`);
}

function requireZeros(bytes: Uint8Array, refuse: (reason: string) => SnapshotError): void {
  for (const byte of bytes) if (byte !== 0) throw refuse('has bytes between its sections');
}

function requireAscending(texts: TextColumn, first: number, refusal: () => SnapshotError): void {
  for (let code = first + 1; code < texts.size; code++) if (texts.compare(code - 1, code) >= 0) throw refusal();
}

/** UTF-8 text; as in text-column.ts, quicker than a TextDecoder. */
function textIn(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('utf8', start, end);
}

/** Numbers where they lie, or copied where no typed array can start. @param bytes a multiple of 4 long */
function uint32sIn(bytes: Uint8Array): Uint32Array {
  const { buffer, byteOffset } = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes);
  return new Uint32Array(buffer, byteOffset, bytes.length / 4);
}

function uint32At(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}
