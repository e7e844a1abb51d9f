/**
 * The rows that a question looks at (decisions §3, "Order, cohort, matching"): at most 10000 active ones. A place in a
 * cohort is called a position; the row at it is a place in the snapshot. In a company's cohort positions are newest
 * observation first, in the catalogue's company after company (company-runs.ts).
 *
 * What an index needs is made the first time it is asked for and kept as long as the cohort: the texts of its rows,
 * decoded, and an index for each group of fields.
 */
import { BitSet } from '../base/bitset.ts';
import type { FoundJob } from './found-job.ts';
import { EMPLOYMENT_TYPES, type EmploymentType, REMOTE_STATUSES, type RemoteStatus } from './job.ts';
import { KEPT_COLD_BYTES_MAX } from './limits.ts';
import { Matches } from './matches.ts';
import type { ColdRow, Snapshot } from './snapshot.ts';
import { buildTermIndex, type IndexedField, type TermIndex } from './term-index.ts';
import { comparedText } from './terms.ts';
import type { TextColumn } from './text-column.ts';

/** What an answer says about the rows it was taken from. */
export interface CohortFacts {
  readonly scope: 'requested company' | 'monitored catalogue';
  /** Whether the scope has more active jobs than the cohort, so that counts are no totals. */
  readonly sampled: boolean;
  readonly candidateJobs: number;
  /** Last observations in the cohort, before filters, milliseconds; `null` when it is empty. */
  readonly newestObservedMs: number | null;
  readonly oldestObservedMs: number | null;
}

/** A field of the rows of a cohort, decoded. */
class FieldTexts implements IndexedField {
  readonly numbers: Uint16Array | Uint32Array;
  readonly offsets: Uint32Array;
  /** As recorded, distinct. */
  readonly recorded: readonly string[];
  #compared: readonly string[] | undefined;

  constructor(offsets: Uint32Array, codes: ArrayLike<number>, column: TextColumn) {
    const numberOf = new Map<number, number>();
    const recorded: string[] = [];
    const numbers = new Uint32Array(codes.length);
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i]!;
      let number = numberOf.get(code);
      if (number === undefined) {
        number = recorded.length;
        numberOf.set(code, number);
        recorded.push(column.textOf(code));
      }
      numbers[i] = number;
    }
    this.offsets = offsets;
    this.numbers = numbers;
    this.recorded = recorded;
  }

  /** `recorded` in the form in which texts compare. */
  get texts(): readonly string[] {
    this.#compared ??= this.recorded.map(comparedText);
    return this.#compared;
  }

  /** The only text of a position, or `null` when it has none. */
  recordedAt(position: number): string | null {
    const start = this.offsets[position]!;
    return start === this.offsets[position + 1] ? null : this.recorded[this.numbers[start]!]!;
  }
}

/** One code a row, where code 0 may mean that the row has none. */
function singleField(
  rows: Uint32Array,
  codes: Uint16Array | Uint32Array,
  column: TextColumn,
  firstCode: 0 | 1,
): FieldTexts {
  const offsets = new Uint32Array(rows.length + 1);
  const kept = new Uint32Array(rows.length);
  let count = 0;
  for (let position = 0; position < rows.length; position++) {
    const code = codes[rows[position]!]!;
    if (code >= firstCode) kept[count++] = code;
    offsets[position + 1] = count;
  }
  return new FieldTexts(offsets, kept.subarray(0, count), column);
}

function skillField(rows: Uint32Array, { skillOffsets, skills, skillNames }: Snapshot): FieldTexts {
  const offsets = new Uint32Array(rows.length + 1);
  const codes: number[] = [];
  for (let position = 0; position < rows.length; position++) {
    const row = rows[position]!;
    for (let i = skillOffsets[row]!; i < skillOffsets[row + 1]!; i++) codes.push(skills[i]!);
    offsets[position + 1] = codes.length;
  }
  return new FieldTexts(offsets, codes, skillNames);
}

/** Matches are rare when, after so many rows or a multiple of it, there was not one among RARE_ROWS. */
const TRIED_ROWS = 64;
const RARE_ROWS = 64;

export class Cohort {
  readonly snapshot: Snapshot;
  /** The row at each position; owned by the cohort. */
  readonly rows: Uint32Array;
  /** Positions newest observation first, which is the order of rows; `undefined` = in their own order. */
  readonly #newestFirst: Uint16Array | undefined;
  readonly facts: CohortFacts;
  /** What `select` found last. */
  readonly matches: Matches;

  /** The index of each group, `null` = the group's text is too long for one. */
  readonly #indexes = new Map<'title' | 'location' | 'keyword', TermIndex | null>();
  readonly #remote = new Map<RemoteStatus, BitSet>();
  readonly #employment = new Map<EmploymentType, BitSet>();
  #titles: FieldTexts | undefined;
  #companies: FieldTexts | undefined;
  #locations: FieldTexts | undefined;
  #departments: FieldTexts | undefined;
  #positionsByDepartment: ReadonlyMap<string, Uint16Array> | undefined;
  /** By row; for a cohort that is the first rows of the snapshot, once it is warm. */
  #keptCold: ((row: number) => ColdRow) | undefined;
  /** By position, where cold rows are kept and the job was in an answer. */
  #found: (FoundJob | undefined)[] = [];

  /**
   * rows         the row at each position
   * newestFirst  positions in ascending order of their rows, where that is not their own order
   */
  constructor(
    snapshot: Snapshot,
    rows: Uint32Array,
    scope: CohortFacts['scope'],
    sampled: boolean,
    newestFirst?: Uint16Array,
  ) {
    const count = rows.length;
    this.snapshot = snapshot;
    this.rows = rows;
    this.#newestFirst = newestFirst;
    this.matches = new Matches(count);
    this.facts = {
      scope,
      sampled,
      candidateJobs: count,
      newestObservedMs: count === 0 ? null : snapshot.lastObserved[rows[this.positionByAge(0)]!]!,
      oldestObservedMs: count === 0 ? null : snapshot.lastObserved[rows[this.positionByAge(count - 1)]!]!,
    };
  }

  /** The position of the newest observation (0), of the next one (1) and so on. */
  positionByAge(age: number): number {
    return this.#newestFirst === undefined ? age : this.#newestFirst[age]!;
  }

  /** Positions of the `limit` newest observations, or of all when there are fewer, newest first. */
  newest(limit: number): number[] {
    const positions: number[] = [];
    for (let age = 0; age < limit && age < this.rows.length; age++) positions.push(this.positionByAge(age));
    return positions;
  }

  /** Positions of the `limit` matches with the newest observations, or of all when there are fewer, newest first. */
  newestMatches(limit: number): number[] {
    const { matches } = this;
    if (matches.listedCount >= 0) return this.#newestListed(limit);
    const { words } = matches.toSet();
    const newestFirst = this.#newestFirst;
    const count = this.rows.length;
    const found: number[] = [];
    /** The age at which to see whether matches are rare. */
    let look = TRIED_ROWS;
    for (let age = 0; age < count; age++) {
      const position = newestFirst === undefined ? age : newestFirst[age]!;
      if (((words[position >>> 5]! >>> (position & 31)) & 1) !== 0 && found.push(position) === limit) break;
      if (age !== look) continue;
      // Most answers are complete among the newest rows. When matches turn out to be rare, all of them are looked at.
      const areRare = found.length * RARE_ROWS < age;
      if (areRare && matches.toList()) return this.#newestListed(limit);
      look = areRare ? count : age + TRIED_ROWS;
    }
    return found;
  }

  #newestListed(limit: number): number[] {
    const { matches, rows } = this;
    const { list, listedCount } = matches;
    const newest: number[] = [];
    for (let i = 0; i < listedCount; i++) {
      const position = list[i]!;
      const row = rows[position]!;
      let place = newest.length;
      if (place === limit && row > rows[newest[limit - 1]!]!) continue;
      if (place === limit) place--;
      for (; place > 0 && rows[newest[place - 1]!]! > row; place--) newest[place] = newest[place - 1]!;
      newest[place] = position;
    }
    return newest;
  }

  get titles(): FieldTexts {
    this.#titles ??= singleField(this.rows, this.snapshot.title, this.snapshot.titles, 0);
    return this.#titles;
  }

  /** Names as recorded on the jobs. */
  get companies(): FieldTexts {
    this.#companies ??= singleField(this.rows, this.snapshot.employer, this.snapshot.employerNames, 0);
    return this.#companies;
  }

  get locations(): FieldTexts {
    this.#locations ??= singleField(this.rows, this.snapshot.location, this.snapshot.locations, 1);
    return this.#locations;
  }

  get departments(): FieldTexts {
    this.#departments ??= singleField(this.rows, this.snapshot.department, this.snapshot.departments, 1);
    return this.#departments;
  }

  // Decoded on the spot while no index has needed the whole field.
  #titleAt(position: number): string {
    const { title, titles } = this.snapshot;
    return this.#titles?.recordedAt(position) ?? titles.textOf(title[this.rows[position]!]!);
  }

  #companyNameAt(position: number): string {
    const { employer, employerNames } = this.snapshot;
    return this.#companies?.recordedAt(position) ?? employerNames.textOf(employer[this.rows[position]!]!);
  }

  #locationAt(position: number): string | null {
    if (this.#locations !== undefined) return this.#locations.recordedAt(position);
    const code = this.snapshot.location[this.rows[position]!]!;
    return code === 0 ? null : this.snapshot.locations.textOf(code);
  }

  /**
   * The jobs at some positions, in their order, not to be modified. Where ids and source URLs are kept, so is what was made
   * of them: the newest jobs are in most answers.
   * throws  SnapshotChangedError when they are not kept and the snapshot's file was altered in place
   */
  foundJobsAt(positions: readonly number[]): FoundJob[] {
    const kept = this.#keptCold;
    if (kept === undefined) {
      const cold = this.snapshot.coldRows(positions.map((position) => this.rows[position]!));
      return cold.map((row, i) => this.#foundJob(positions[i]!, row));
    }
    const jobs: FoundJob[] = [];
    for (const position of positions) {
      let job = this.#found[position];
      if (job === undefined) {
        job = this.#foundJob(position, kept(this.rows[position]!));
        this.#found[position] = job;
      }
      jobs.push(job);
    }
    return jobs;
  }

  #foundJob(position: number, { id, sourceUrl }: ColdRow): FoundJob {
    const { snapshot } = this;
    const row = this.rows[position]!;
    return {
      id,
      title: this.#titleAt(position),
      company: this.#companyNameAt(position),
      companyDomain: snapshot.domainOf(snapshot.employerCompany[snapshot.employer[row]!]!),
      location: this.#locationAt(position),
      remoteStatus: REMOTE_STATUSES[snapshot.remoteStatus[row]!]!,
      employmentType: EMPLOYMENT_TYPES[snapshot.employmentType[row]!]!,
      sourceUrl,
      lastObservedMs: snapshot.lastObserved[row]!,
    };
  }

  get titleIndex(): TermIndex | null {
    return this.#index('title', () => [this.titles]);
  }

  get locationIndex(): TermIndex | null {
    return this.#index('location', () => [this.locations]);
  }

  /** Over title, company, department and skills. */
  get keywordIndex(): TermIndex | null {
    const { rows, snapshot } = this;
    return this.#index('keyword', () => [this.titles, this.companies, this.departments, skillField(rows, snapshot)]);
  }

  /** Positions, ascending, by the compared form of their department. */
  get positionsByDepartment(): ReadonlyMap<string, Uint16Array> {
    if (this.#positionsByDepartment === undefined) {
      const { numbers, offsets, texts } = this.departments;
      const positions = new Map<string, number[]>();
      for (let position = 0; position < this.rows.length; position++) {
        if (offsets[position] === offsets[position + 1]) continue;
        const text = texts[numbers[offsets[position]!]!]!;
        const those = positions.get(text);
        if (those === undefined) positions.set(text, [position]);
        else those.push(position);
      }
      this.#positionsByDepartment = new Map([...positions].map(([text, those]) => [text, Uint16Array.from(those)]));
    }
    return this.#positionsByDepartment;
  }

  /** Positions of a workplace type. Not to be modified. */
  withRemoteStatus(status: RemoteStatus): BitSet {
    return this.#withCode(this.#remote, status, this.snapshot.remoteStatus, REMOTE_STATUSES.indexOf(status));
  }

  /** Positions of an employment type. Not to be modified. */
  withEmploymentType(type: EmploymentType): BitSet {
    return this.#withCode(this.#employment, type, this.snapshot.employmentType, EMPLOYMENT_TYPES.indexOf(type));
  }

  /** Makes everything that is otherwise made by the first question that needs it; for the first rows of the snapshot. */
  warm(): void {
    for (const status of REMOTE_STATUSES) this.withRemoteStatus(status);
    for (const type of EMPLOYMENT_TYPES) this.withEmploymentType(type);
    void [this.titleIndex, this.locationIndex, this.keywordIndex, this.positionsByDepartment];
    this.#keptCold = this.snapshot.firstColdRows(this.rows.length, KEPT_COLD_BYTES_MAX);
    // Of its length from the start: an array that is filled here and there becomes a hash table.
    this.#found = new Array<undefined>(this.rows.length).fill(undefined);
  }

  #index(group: 'title' | 'location' | 'keyword', fields: () => readonly IndexedField[]): TermIndex | null {
    let index = this.#indexes.get(group);
    if (index === undefined) {
      index = buildTermIndex(this.rows.length, fields()) ?? null;
      this.#indexes.set(group, index);
    }
    return index;
  }

  #withCode<Category>(sets: Map<Category, BitSet>, category: Category, codes: Uint8Array, code: number): BitSet {
    let set = sets.get(category);
    if (set === undefined) {
      set = new BitSet(this.rows.length);
      for (let position = 0; position < this.rows.length; position++) {
        if (codes[this.rows[position]!] === code) set.add(position);
      }
      sets.set(category, set);
    }
    return set;
  }
}
