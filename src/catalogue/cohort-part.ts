/**
 * Rows that are selected together: the whole cohort of the catalogue, or a piece of a company's (cohort.ts). A place in a part
 * is called a position; the row at it is a place in the snapshot. In a piece of a company's cohort positions are newest
 * observation first, in the catalogue's company after company (company-runs.ts).
 *
 * What an index needs is made the first time it is asked for and kept as long as the part.
 */
import { BitSet } from '../base/bitset.ts';
import { EMPLOYMENT_TYPES, type EmploymentType, REMOTE_STATUSES, type RemoteStatus } from './job.ts';
import { Matches } from './matches.ts';
import type { Snapshot } from './snapshot.ts';
import { buildTermIndex, type IndexedField, type TermIndex } from './term-index.ts';
import { comparedText } from './terms.ts';
import type { TextColumn } from './text-column.ts';
import type { Wanted } from './wanted.ts';

/** Texts of the rows of a part: `codes`, row after row, those of row r between `offsets[r]` and `offsets[r + 1]`. */
function fieldOf(offsets: Uint32Array, codes: ArrayLike<number>, column: TextColumn): IndexedField {
  const numberOf = new Map<number, number>();
  const texts: string[] = [];
  const numbers = new Uint32Array(codes.length);
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!;
    let number = numberOf.get(code);
    if (number === undefined) {
      number = texts.length;
      numberOf.set(code, number);
      texts.push(comparedText(column.textOf(code)));
    }
    numbers[i] = number;
  }
  return { texts, numbers, offsets };
}

/** One code a row, where code 0 may mean that the row has none. */
function singleField(
  rows: Uint32Array,
  codes: Uint16Array | Uint32Array,
  column: TextColumn,
  firstCode: 0 | 1,
): IndexedField {
  const offsets = new Uint32Array(rows.length + 1);
  const kept = new Uint32Array(rows.length);
  let count = 0;
  for (let position = 0; position < rows.length; position++) {
    const code = codes[rows[position]!]!;
    if (code >= firstCode) kept[count++] = code;
    offsets[position + 1] = count;
  }
  return fieldOf(offsets, kept.subarray(0, count), column);
}

function skillField(rows: Uint32Array, { skillOffsets, skills, skillNames }: Snapshot): IndexedField {
  const offsets = new Uint32Array(rows.length + 1);
  const codes: number[] = [];
  for (let position = 0; position < rows.length; position++) {
    const row = rows[position]!;
    for (let i = skillOffsets[row]!; i < skillOffsets[row + 1]!; i++) codes.push(skills[i]!);
    offsets[position + 1] = codes.length;
  }
  return fieldOf(offsets, codes, skillNames);
}

/** Matches are rare when, after so many rows or a multiple of it, there was not one among RARE_ROWS. */
const TRIED_ROWS = 64;
const RARE_ROWS = 64;

export class CohortPart {
  readonly snapshot: Snapshot;
  /** The row at each position; owned by the part. */
  readonly rows: Uint32Array;
  /** Positions newest observation first, which is the order of rows; `undefined` = in their own order. */
  readonly #newestFirst: Uint16Array | undefined;
  /** What `select` found last. */
  readonly matches: Matches;

  /** The index of each group, `null` = the group's text is too long for one. */
  readonly #indexes = new Map<'title' | 'location' | 'keyword', TermIndex | null>();
  readonly #remote = new Map<RemoteStatus, BitSet>();
  readonly #employment = new Map<EmploymentType, BitSet>();
  /** Until the last index that needs them is built. */
  #titles: IndexedField | undefined;
  #positionsByDepartment: ReadonlyMap<string, Uint16Array> | undefined;

  /**
   * rows         the row at each position
   * newestFirst  positions in ascending order of their rows, where that is not their own order
   */
  constructor(snapshot: Snapshot, rows: Uint32Array, newestFirst?: Uint16Array) {
    this.snapshot = snapshot;
    this.rows = rows;
    this.#newestFirst = newestFirst;
    this.matches = new Matches(rows.length);
  }

  /** The position of the newest observation (0), of the next one (1) and so on. */
  positionByAge(age: number): number {
    return this.#newestFirst === undefined ? age : this.#newestFirst[age]!;
  }

  /** Rows of the `limit` matches with the newest observations, or of all when there are fewer, newest first. */
  newestMatches(limit: number): number[] {
    const { matches, rows } = this;
    if (matches.listedCount >= 0) return this.#newestListed(limit);
    const { words } = matches.toSet();
    const newestFirst = this.#newestFirst;
    const found: number[] = [];
    /** The age at which to see whether matches are rare. */
    let look = TRIED_ROWS;
    for (let age = 0; age < rows.length; age++) {
      const position = newestFirst === undefined ? age : newestFirst[age]!;
      const isMatch = ((words[position >>> 5]! >>> (position & 31)) & 1) !== 0;
      if (isMatch && found.push(rows[position]!) === limit) break;
      if (age !== look) continue;
      // Most answers are complete among the newest rows. When matches turn out to be rare, all of them are looked at.
      const areRare = found.length * RARE_ROWS < age;
      if (areRare && matches.toList()) return this.#newestListed(limit);
      look = areRare ? rows.length : age + TRIED_ROWS;
    }
    return found;
  }

  #newestListed(limit: number): number[] {
    const { matches, rows } = this;
    const newest: number[] = [];
    for (let i = 0; i < matches.listedCount; i++) {
      const row = rows[matches.listedAt(i)]!;
      let place = newest.length;
      if (place === limit && row > newest[limit - 1]!) continue;
      if (place === limit) place--;
      for (; place > 0 && newest[place - 1]! > row; place--) newest[place] = newest[place - 1]!;
      newest[place] = row;
    }
    return newest;
  }

  get titleIndex(): TermIndex | null {
    return this.#index('title', () => [this.#titleField()]);
  }

  get locationIndex(): TermIndex | null {
    const { rows, snapshot } = this;
    return this.#index('location', () => [singleField(rows, snapshot.location, snapshot.locations, 1)]);
  }

  /** Over title, company, department and skills. */
  get keywordIndex(): TermIndex | null {
    const { rows, snapshot } = this;
    const index = this.#index('keyword', () => [
      this.#titleField(),
      singleField(rows, snapshot.employer, snapshot.employerNames, 0),
      singleField(rows, snapshot.department, snapshot.departments, 1),
      skillField(rows, snapshot),
    ]);
    this.#titles = undefined;
    return index;
  }

  /** Whether the indexes that a question needs are there. */
  isIndexedFor({ keyword, location, title }: Wanted): boolean {
    return (
      (keyword.length === 0 || this.#indexes.has('keyword')) &&
      (location.length === 0 || this.#indexes.has('location')) &&
      (title.length === 0 || this.#indexes.has('title'))
    );
  }

  /** Positions, ascending, by the compared form of their department. */
  get positionsByDepartment(): ReadonlyMap<string, Uint16Array> {
    if (this.#positionsByDepartment === undefined) {
      const { rows, snapshot } = this;
      const { numbers, offsets, texts } = singleField(rows, snapshot.department, snapshot.departments, 1);
      const positions = new Map<string, number[]>();
      for (let position = 0; position < rows.length; position++) {
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

  /** Makes everything that is otherwise made by the first question that needs it. */
  warm(): void {
    for (const status of REMOTE_STATUSES) this.withRemoteStatus(status);
    for (const type of EMPLOYMENT_TYPES) this.withEmploymentType(type);
    void [this.titleIndex, this.locationIndex, this.keywordIndex, this.positionsByDepartment];
  }

  #titleField(): IndexedField {
    this.#titles ??= singleField(this.rows, this.snapshot.title, this.snapshot.titles, 0);
    return this.#titles;
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
