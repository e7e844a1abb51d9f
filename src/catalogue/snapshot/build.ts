/**
 * Jobs into a snapshot (decisions §3, "Snapshot"). Jobs arrive in any order and go into columns at once; at the end
 * rows are sorted and codes numbered again, so that the file follows from the set of jobs and the facts alone.
 *
 * Memory: per job its texts' bytes where they are new (id and URL always), and about 70 bytes of columns; nothing is
 * kept as an object. A million synthetic jobs peaked at 600 MiB of RSS on Node 26.10.0 and at
 * 1040 MiB on Bun 1.4.5, which is late in returning the arrays that were outgrown.
 */
import type { Job } from '../job.ts';
import { EMPLOYMENT_TYPES, REMOTE_STATUSES } from '../job.ts';
import { CHECKED_CHUNK_BYTES, HOT_BYTES_MAX, ROW_COUNT_MAX } from '../limits.ts';
import { comparedText } from '../terms.ts';
import {
  aligned,
  checksumOf,
  contentDigestOf,
  ELEMENT_BYTES,
  type ElementType,
  encodeHeader,
  FIRST_COLD_SECTION,
  type Header,
  SECTIONS,
  type Section,
  type SectionName,
} from './layout.ts';
import { SnapshotError } from './snapshot-error.ts';
import { TextBytes, TextTable } from './text-table.ts';

/** What a build says about itself. Part of the file, not of the content digest. */
export interface BuildFacts {
  /** Milliseconds since the epoch. */
  readonly builtAtMs: number;
  /** Input records, rejected ones included. */
  readonly sourceRows: number;
  readonly rejectedRows: number;
  /** Version of the dictionary that skills were extracted with; at most 200 code units. */
  readonly skillsVersion: string;
}

export interface BuiltSnapshot {
  readonly byteLength: number;
  /** The file's bytes in order; may be gone through more than once. */
  readonly chunks: Iterable<Uint8Array>;
  readonly contentDigest: string;
}

const ACTIVE_FLAG = 1;

type Column = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

export class SnapshotBuilder {
  /** The ordinal of a job is the number of its id. */
  readonly #ids = new TextTable();
  readonly #urls = new TextBytes();
  readonly #titles = new TextTable();
  /** Domain (empty where there is none), line feed, recorded name. A domain has no line feed, so the first one splits. */
  readonly #employers = new TextTable();
  readonly #locations = new TextTable();
  readonly #departments = new TextTable();
  readonly #skills = new TextTable();

  // One element a job, in order of arrival. Location and department: number in the table + 1, 0 = not recorded.
  #lastObserved = new Float64Array(1024);
  #firstObserved = new Float64Array(1024);
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

  /** Jobs added so far. */
  get rowCount(): number {
    return this.#ids.size;
  }

  /**
   * Adds a job, unless one with the same id was added before.
   * returns  undefined when it was added; otherwise the ordinal (0-based, in order of additions) of the other job
   * throws   SnapshotError past the limits of a snapshot
   */
  add(job: Job): number | undefined {
    const row = this.#ids.size;
    const ordinal = this.#ids.numberOf(job.id);
    if (ordinal < row) return ordinal;
    if (row === ROW_COUNT_MAX) throw new SnapshotError(`the catalogue has more than ${ROW_COUNT_MAX} jobs`);
    if (row === this.#title.length) this.#grow();
    this.#lastObserved[row] = job.lastObservedMs;
    this.#firstObserved[row] = job.firstObservedMs;
    this.#title[row] = this.#titles.numberOf(job.title);
    this.#employer[row] = this.#employers.numberOf(`${job.companyDomain ?? ''}\n${job.company}`);
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
    return undefined;
  }

  /**
   * The finished file. To be called once, after the last job.
   * factsOf  is handed the content digest, which the same set of jobs always has
   * throws   SnapshotError when the columns are larger than a reader would take
   */
  finish(factsOf: (contentDigest: string) => BuildFacts): BuiltSnapshot {
    const order = this.#rowOrder();
    const columns = this.#columns(order);
    const contents = SECTIONS.map(({ name, types }) =>
      name === 'coldText'
        ? { name, type: 'u8' as const, chunks: { [Symbol.iterator]: () => this.#coldChunks(order, false) } }
        : { name, type: typeOf(columns[name], types), chunks: [bytesOf(columns[name])] },
    );
    const sections: Section[] = contents.map(({ name, type, chunks }) => {
      let checksum = 0;
      let byteLength = 0;
      // The checksum is done with each chunk before it asks for the next, whoever writes the file may not be.
      for (const chunk of name === 'coldText' ? this.#coldChunks(order, true) : chunks) {
        checksum = checksumOf(chunk, checksum);
        byteLength += chunk.length;
      }
      return { name, type, offset: 0, byteLength, checksum };
    });
    const content = { rows: this.rowCount, active: this.#activeCount, sections };
    const contentDigest = contentDigestOf(content);
    const header = placed({ ...content, facts: exactFacts(factsOf(contentDigest)) });
    const headerBytes = encodeHeader(header);
    const last = header.sections.at(-1)!;
    if (header.sections[FIRST_COLD_SECTION]!.offset > HOT_BYTES_MAX) {
      throw new SnapshotError('the columns of the catalogue take more than 2 GiB');
    }
    return {
      byteLength: last.offset + last.byteLength,
      contentDigest,
      chunks: {
        *[Symbol.iterator]() {
          yield headerBytes;
          let position = headerBytes.length;
          for (const [index, { chunks }] of contents.entries()) {
            const { offset, byteLength } = header.sections[index]!;
            if (offset > position) yield new Uint8Array(offset - position);
            yield* chunks;
            position = offset + byteLength;
          }
        },
      },
    };
  }

  /** Ordinals in the order of the file: active first, newest last observation first, then id by code unit. */
  #rowOrder(): Uint32Array {
    const order = new Uint32Array(this.rowCount);
    let active = 0;
    let closed = this.#activeCount;
    for (let ordinal = 0; ordinal < order.length; ordinal++) {
      if (this.#flags[ordinal] === ACTIVE_FLAG) order[active++] = ordinal;
      else order[closed++] = ordinal;
    }
    const times = this.#lastObserved;
    const ids = this.#ids;
    const compare = (a: number, b: number): number => times[b]! - times[a]! || ids.compare(a, b);
    order.subarray(0, this.#activeCount).sort(compare);
    order.subarray(this.#activeCount).sort(compare);
    return order;
  }

  #columns(order: Uint32Array): Record<Exclude<SectionName, 'coldText'>, Column> {
    const title = byAppearance(this.#titles, gathered(this.#title, order), 0);
    const location = byAppearance(this.#locations, gathered(this.#location, order), 1);
    const department = byText(this.#departments, gathered(this.#department, order), 1);
    const skillRows = this.#skillRows(order);
    const skills = byText(this.#skills, skillRows.numbers, 0);
    const employer = byAppearance(this.#employers, gathered(this.#employer, order), 0);
    const companies = companiesOf(this.#employers, employer.dictionary);
    const titleTexts = textSections(this.#titles, title.dictionary, 0);
    const locationTexts = textSections(this.#locations, location.dictionary, 1);
    const departmentTexts = textSections(this.#departments, department.dictionary, 1);
    const skillTexts = textSections(this.#skills, skills.dictionary, 0);
    const nameTexts = textSections(companies.names, Uint32Array.from(companies.nameOfEmployer), 0);
    const keyTexts = textSections(companies.keys, Uint32Array.from(companies.keyOfCompany), 0);
    return {
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
   * Ids and URLs in row order, about a mebibyte at a time: the whole is never held a second time.
   * reused  whether each chunk may be written over once the next is asked for
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

function emptyLike<C extends Column>(column: C, length: number): C {
  return new (column.constructor as new (length: number) => C)(length);
}

/** Twice as long; the shorter column is gone, its memory at once and not when it is next collected. */
function grown<C extends Column>(column: C): C {
  return new (column.constructor as new (buffer: ArrayBuffer) => C)(column.buffer.transfer(column.byteLength * 2));
}

function gathered<C extends Column>(column: C, order: Uint32Array): C {
  const rows = emptyLike(column, order.length);
  for (let row = 0; row < order.length; row++) rows[row] = column[order[row]!]!;
  return rows;
}

interface Numbered {
  /** `numbers`, in place: the new code of each, plus `first`; where `first` is 1, 0 stayed 0. */
  readonly codes: Uint32Array<ArrayBuffer>;
  /** The number in the table of each new code, in order of codes. */
  readonly dictionary: Uint32Array;
}

/** Numbers texts by their first appearance. `numbers` are numbers of the table plus `first`, and are overwritten. */
function byAppearance(table: TextTable, numbers: Uint32Array<ArrayBuffer>, first: 0 | 1): Numbered {
  const newCodes = new Uint32Array(table.size);
  const dictionary = new Uint32Array(table.size);
  let known = 0;
  for (let row = 0; row < numbers.length; row++) {
    const number = numbers[row]! - first;
    if (number < 0) continue;
    let code = newCodes[number]!;
    if (code === 0) {
      dictionary[known] = number;
      code = ++known;
      newCodes[number] = code;
    }
    numbers[row] = code - 1 + first;
  }
  return { codes: numbers, dictionary };
}

/** As `byAppearance`, numbering texts in code-unit order. */
function byText(table: TextTable, numbers: Uint32Array<ArrayBuffer>, first: 0 | 1): Numbered {
  const dictionary = new Uint32Array(table.size);
  for (let number = 0; number < dictionary.length; number++) dictionary[number] = number;
  dictionary.sort((a, b) => table.compare(a, b));
  const newCodes = new Uint32Array(table.size);
  for (let code = 0; code < dictionary.length; code++) newCodes[dictionary[code]!] = code;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]! - first;
    if (number >= 0) numbers[i] = newCodes[number]! + first;
  }
  return { codes: numbers, dictionary };
}

/** Codes below `codeCount` in 16 bits when they fit. */
function narrowed(codes: Uint32Array<ArrayBuffer>, codeCount: number): Column {
  return codeCount <= 0x10000 ? Uint16Array.from(codes) : codes;
}

/** Texts in the order of `dictionary`, after `blanks` empty ones. */
function textSections(
  table: TextTable,
  dictionary: Uint32Array,
  blanks: 0 | 1,
): { offsets: Uint32Array<ArrayBuffer>; text: Uint8Array<ArrayBuffer> } {
  const offsets = new Uint32Array(dictionary.length + blanks + 1);
  let end = 0;
  for (let i = 0; i < dictionary.length; i++) {
    const number = dictionary[i]!;
    end += table.endOf(number) - table.startOf(number);
    offsets[i + blanks + 1] = end;
  }
  const text = new Uint8Array(end);
  for (let i = 0; i < dictionary.length; i++) {
    const number = dictionary[i]!;
    text.set(table.bytes.subarray(table.startOf(number), table.endOf(number)), offsets[i + blanks]!);
  }
  return { offsets, text };
}

interface Companies {
  readonly names: TextTable;
  /** Number in `names` of each employer. */
  readonly nameOfEmployer: readonly number[];
  readonly keys: TextTable;
  /** Number in `keys` of each company; ascending by text, a domain before a name. */
  readonly keyOfCompany: readonly number[];
  readonly companyOfEmployer: Uint32Array<ArrayBuffer>;
  readonly hasDomain: Uint8Array<ArrayBuffer>;
}

/** Groups employers into companies: by domain, or by compared name where there is none (decisions §3). */
function companiesOf(employers: TextTable, dictionary: Uint32Array): Companies {
  const names = new TextTable();
  const keys = new TextTable();
  const nameOfEmployer: number[] = [];
  /** Twice the key's number, plus one for a key that is a name. */
  const identities: number[] = [];
  for (const number of dictionary) {
    const text = employers.textOf(number);
    const split = text.indexOf('\n');
    const name = text.slice(split + 1);
    nameOfEmployer.push(names.numberOf(name));
    identities.push(split > 0 ? keys.numberOf(text.slice(0, split)) * 2 : keys.numberOf(comparedText(name)) * 2 + 1);
  }
  const sorted = [...new Set(identities)].sort((a, b) => keys.compare(a >>> 1, b >>> 1) || a - b);
  const codes = new Map(sorted.map((identity, code) => [identity, code]));
  return {
    names,
    nameOfEmployer,
    keys,
    keyOfCompany: sorted.map((identity) => identity >>> 1),
    companyOfEmployer: Uint32Array.from(identities, (identity) => codes.get(identity)!),
    hasDomain: Uint8Array.from(sorted, (identity) => 1 - (identity & 1)),
  };
}

function bytesOf(column: Column): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}

function typeOf(column: Column, types: readonly ElementType[]): ElementType {
  return types.find((type) => ELEMENT_BYTES[type] === column.BYTES_PER_ELEMENT)!;
}

/** Only the four facts, in one order, whatever else the caller's object holds. */
function exactFacts({ builtAtMs, sourceRows, rejectedRows, skillsVersion }: BuildFacts): BuildFacts {
  return { builtAtMs, sourceRows, rejectedRows, skillsVersion };
}

/** Gives each section its place. Larger numbers can lengthen the header that they stand in, so this is repeated. */
function placed(header: Header): Header {
  let start = 0;
  for (;;) {
    let offset = start;
    const sections = header.sections.map((section) => {
      const at = aligned(offset);
      offset = at + section.byteLength;
      return { ...section, offset: at };
    });
    const settled = { rows: header.rows, active: header.active, facts: header.facts, sections };
    const length = encodeHeader(settled).length;
    if (length === start) return settled;
    start = length;
  }
}
