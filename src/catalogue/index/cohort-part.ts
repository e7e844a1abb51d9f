/**
 * Rows that are selected together: the whole cohort of the catalogue, or a piece of a company's (cohort.ts). A place in a part
 * is called a position; the row at it is a place in the snapshot. For searches positions are newest observation first, which
 * is the order of rows; for signals company after company (company-runs.ts).
 *
 * What an index needs is made the first time it is asked for and kept as long as the part.
 */
import { BitSet } from '../../base/bitset.ts';
import { EMPLOYMENT_TYPES, type EmploymentType, REMOTE_STATUSES, type RemoteStatus } from '../job.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { TextColumn } from '../snapshot/text-column.ts';
import { comparedText } from '../terms.ts';
import { Matches } from './matches.ts';
import type { RowFilter } from './row-filter.ts';
import { buildTermIndex, type IndexedField, type RowBitmap, type TermIndex } from './term-index.ts';

/** Texts of the rows of a part: `codes`, row after row, those of row r between `offsets[r]` and `offsets[r + 1]`. */
function fieldOf(offsets: Uint32Array, codes: ArrayLike<number>, column: TextColumn): IndexedField {
  const numberOf = new Map<number, number>();
  const texts: string[][] = [];
  const numbers = new Uint32Array(codes.length);
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!;
    let number = numberOf.get(code);
    if (number === undefined) {
      number = texts.length;
      numberOf.set(code, number);
      texts.push(comparedText(column.textOf(code)).split(' '));
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

/** A part of the same rows in another order. */
interface SourcePart {
  readonly part: CohortPart;
  /** By position in that part: the position in this one. */
  readonly positionOf: Uint16Array;
}

export class CohortPart {
  readonly snapshot: Snapshot;
  /** The row at each position; owned by the part. */
  readonly rows: Uint32Array;
  readonly #source: SourcePart | undefined;
  /** What `select` found last. */
  readonly matches: Matches;

  /** `null` = the group's text is too long for an index. */
  #titleIndex: TermIndex | null | undefined;
  #locationIndex: TermIndex | null | undefined;
  #keywordIndex: TermIndex | null | undefined;
  /** By place in REMOTE_STATUSES and in EMPLOYMENT_TYPES. */
  readonly #remote: (RowBitmap | undefined)[] = [];
  readonly #employment: (RowBitmap | undefined)[] = [];
  /** Until the index for keywords is built, so that they are decoded once for two indexes. */
  #titles: IndexedField | undefined;
  #positionsByDepartment: ReadonlyMap<string, Uint16Array> | undefined;

  /** source  whose decoded texts and indexes are put in order instead of being made again */
  constructor(snapshot: Snapshot, rows: Uint32Array, source?: SourcePart) {
    this.snapshot = snapshot;
    this.rows = rows;
    this.#source = source;
    this.matches = new Matches(rows.length);
  }

  /** Rows of the `limit` newest matches, newest first, or of all when there are fewer; where rows ascend. */
  newestMatches(limit: number): number[] {
    const newest = this.matches.first(limit);
    for (let i = 0; i < newest.length; i++) newest[i] = this.rows[newest[i]!]!;
    return newest;
  }

  get titleIndex(): TermIndex | null {
    if (this.#titleIndex === undefined) {
      this.#titleIndex = buildTermIndex(this.rows.length, [this.#titleField()]) ?? null;
    }
    return this.#titleIndex;
  }

  get locationIndex(): TermIndex | null {
    if (this.#locationIndex === undefined) this.#locationIndex = this.#builtLocationIndex() ?? null;
    return this.#locationIndex;
  }

  /** Over title, company, department and skills. */
  get keywordIndex(): TermIndex | null {
    if (this.#keywordIndex === undefined) {
      this.#keywordIndex = this.#builtKeywordIndex() ?? null;
      this.#titles = undefined;
    }
    return this.#keywordIndex;
  }

  /** Whether the indexes that a question needs are there. */
  isIndexedFor({ keyword, location, title }: RowFilter): boolean {
    return (
      (keyword.length === 0 || this.#keywordIndex !== undefined) &&
      (location.length === 0 || this.#locationIndex !== undefined) &&
      (title.length === 0 || this.#titleIndex !== undefined)
    );
  }

  /** Positions by the compared form of their department. */
  get positionsByDepartment(): ReadonlyMap<string, Uint16Array> {
    if (this.#positionsByDepartment === undefined) {
      const { department, departments } = this.snapshot;
      const positions = new Map<string, number[]>();
      for (let position = 0; position < this.rows.length; position++) {
        const code = department[this.rows[position]!]!;
        if (code === 0) continue;
        const text = departments.comparedOf(code);
        const those = positions.get(text);
        if (those === undefined) positions.set(text, [position]);
        else those.push(position);
      }
      this.#positionsByDepartment = new Map([...positions].map(([text, those]) => [text, Uint16Array.from(those)]));
    }
    return this.#positionsByDepartment;
  }

  /** Positions of a workplace type. Not to be modified. */
  withRemoteStatus(status: RemoteStatus): RowBitmap {
    const code = REMOTE_STATUSES.indexOf(status);
    this.#remote[code] ??= this.#withCode(this.snapshot.remoteStatus, code);
    return this.#remote[code];
  }

  /** Positions of an employment type. Not to be modified. */
  withEmploymentType(type: EmploymentType): RowBitmap {
    const code = EMPLOYMENT_TYPES.indexOf(type);
    this.#employment[code] ??= this.#withCode(this.snapshot.employmentType, code);
    return this.#employment[code];
  }

  /** Makes everything that searches need. */
  warmForSearch(): void {
    for (const status of REMOTE_STATUSES) this.withRemoteStatus(status);
    for (const type of EMPLOYMENT_TYPES) this.withEmploymentType(type);
    this.#putTogether([this.locationIndex, this.keywordIndex]);
  }

  /** Makes everything that signals need. */
  warmForSignals(): void {
    void this.positionsByDepartment;
    this.#putTogether([this.titleIndex, this.locationIndex]);
  }

  /** Moves the bitmaps into one array, in which looking at several takes a half to a third of the time (bitset.ts). */
  #putTogether(indexes: readonly (TermIndex | null)[]): void {
    const wordCount = (this.rows.length + 31) >>> 5;
    let length = (this.#remote.length + this.#employment.length) * wordCount;
    for (const index of indexes) length += index?.bitmapsLength ?? 0;
    const words = new Int32Array(length);
    let start = 0;
    for (const sets of [this.#remote, this.#employment]) {
      for (const [place, set] of sets.entries()) {
        if (set === undefined) continue;
        words.set(set.words.subarray(set.wordsStart, set.wordsStart + wordCount), start);
        sets[place] = { words, wordsStart: start, rowCountMax: set.rowCountMax };
        start += wordCount;
      }
    }
    for (const index of indexes) {
      index?.moveBitmaps(words, start);
      start += index?.bitmapsLength ?? 0;
    }
  }

  #titleField(): IndexedField {
    const source = this.#source;
    if (source === undefined) {
      this.#titles ??= singleField(this.rows, this.snapshot.title, this.snapshot.titles, 0);
      return this.#titles;
    }
    // Each row has one title, so only its place in the list of titles moves.
    const { numbers, offsets, texts } = source.part.#titleField();
    const moved = new Uint32Array(numbers.length);
    for (let i = 0; i < numbers.length; i++) moved[source.positionOf[i]!] = numbers[i]!;
    return { texts, numbers: moved, offsets };
  }

  #builtLocationIndex(): TermIndex | undefined {
    const source = this.#source;
    if (source !== undefined) return source.part.locationIndex?.reordered(source.positionOf);
    const { rows, snapshot } = this;
    return buildTermIndex(rows.length, [singleField(rows, snapshot.location, snapshot.locations, 1)]);
  }

  #builtKeywordIndex(): TermIndex | undefined {
    const { rows, snapshot } = this;
    return buildTermIndex(rows.length, [
      this.#titleField(),
      singleField(rows, snapshot.employer, snapshot.employerNames, 0),
      singleField(rows, snapshot.department, snapshot.departments, 1),
      skillField(rows, snapshot),
    ]);
  }

  #withCode(codes: Uint8Array, code: number): RowBitmap {
    const set = new BitSet(this.rows.length);
    for (let position = 0; position < this.rows.length; position++) {
      if (codes[this.rows[position]!] === code) set.add(position);
    }
    return { words: set.words, wordsStart: 0, rowCountMax: set.count };
  }
}
