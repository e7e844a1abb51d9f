/**
 * Rows that are selected together: the whole cohort of the catalogue, or a piece of a company's (cohort.ts). An index in a
 * part is called a position, an index in the snapshot a row. For searches positions are newest observation first, which is
 * the order of rows; for signals company after company (company-runs.ts).
 *
 * Each index is built on first use and lives as long as the part.
 */
import { BitSet } from '../../base/bitset.ts';
import { EMPLOYMENT_TYPES, type EmploymentType, REMOTE_STATUSES, type RemoteStatus } from '../job.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { TextColumn } from '../snapshot/text-column.ts';
import { comparedText } from '../terms.ts';
import { Matches } from './matches.ts';
import type { RowFilter } from './row-filter.ts';
import { buildTermIndex, type IndexedField, type RowBitmap, TermIndex, type TermIndexData } from './term-index.ts';

/**
 * The texts of a part's rows.
 * @param codes row after row; those of row r are `codes[offsets[r]] .. codes[offsets[r + 1] - 1]`
 */
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

/** One code a row. @param firstCode 1 = code 0 means that the row has none */
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
  /** By position in `part`: the position in the part made from it. */
  readonly positionOf: Uint16Array;
}

/** Positions by department: those of number n are `positions[offsets[n]] .. positions[offsets[n + 1] - 1]`. */
interface PositionsByDepartment {
  /** By the compared form of the department. */
  readonly numberOf: ReadonlyMap<string, number>;
  readonly offsets: Uint32Array;
  readonly positions: Uint16Array;
}

/** The indexes of a part that are built, as plain data; `undefined` = not built, `null` = too much text for one. */
export interface PartIndexes {
  readonly title: TermIndexData | null | undefined;
  readonly location: TermIndexData | null | undefined;
  readonly keyword: TermIndexData | null | undefined;
  readonly remote: readonly (RowBitmap | undefined)[];
  readonly employment: readonly (RowBitmap | undefined)[];
  readonly byDepartment: PositionsByDepartment | undefined;
}

const openedIndex = (data: TermIndexData | null | undefined): TermIndex | null | undefined =>
  data ? new TermIndex(data) : data;

const dataOf = (index: TermIndex | null | undefined): TermIndexData | null | undefined => (index ? index.data : index);

export class CohortPart {
  readonly snapshot: Snapshot;
  /** The row at each position; owned by the part. */
  readonly rows: Uint32Array;
  readonly #source: SourcePart | undefined;
  /** The result of the last `select`. */
  readonly matches: Matches;

  // `null` = the text of the fields is too long for an index; `undefined` = not built yet.
  #titleIndex: TermIndex | null | undefined;
  #locationIndex: TermIndex | null | undefined;
  #keywordIndex: TermIndex | null | undefined;
  /** By index in REMOTE_STATUSES and in EMPLOYMENT_TYPES. */
  readonly #remote: (RowBitmap | undefined)[];
  readonly #employment: (RowBitmap | undefined)[];
  /** The decoded titles, for the title index and the keyword index; dropped when the second is built. */
  #titles: IndexedField | undefined;
  #positionsByDepartment: PositionsByDepartment | undefined;

  /**
   * @param source a part of the same rows, whose texts and indexes this one reorders instead of building its own
   * @param built indexes of an equal part
   */
  constructor(snapshot: Snapshot, rows: Uint32Array, source?: SourcePart, built?: PartIndexes) {
    this.snapshot = snapshot;
    this.rows = rows;
    this.#source = source;
    this.matches = new Matches(rows.length);
    this.#titleIndex = openedIndex(built?.title);
    this.#locationIndex = openedIndex(built?.location);
    this.#keywordIndex = openedIndex(built?.keyword);
    this.#remote = [...(built?.remote ?? [])];
    this.#employment = [...(built?.employment ?? [])];
    this.#positionsByDepartment = built?.byDepartment;
  }

  get built(): PartIndexes {
    return {
      title: dataOf(this.#titleIndex),
      location: dataOf(this.#locationIndex),
      keyword: dataOf(this.#keywordIndex),
      remote: this.#remote,
      employment: this.#employment,
      byDepartment: this.#positionsByDepartment,
    };
  }

  /** Rows of the `limit` newest matches, newest first, or of all when there are fewer. For parts whose rows ascend. */
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
    if (this.#locationIndex === undefined) this.#locationIndex = this.#buildLocationIndex() ?? null;
    return this.#locationIndex;
  }

  /** Over title, company, department and skills. */
  get keywordIndex(): TermIndex | null {
    if (this.#keywordIndex === undefined) {
      this.#keywordIndex = this.#buildKeywordIndex() ?? null;
      this.#titles = undefined;
    }
    return this.#keywordIndex;
  }

  /** Whether the indexes that a filter needs are built. */
  isIndexedFor({ keyword, location, title }: RowFilter): boolean {
    return (
      (keyword.length === 0 || this.#keywordIndex !== undefined) &&
      (location.length === 0 || this.#locationIndex !== undefined) &&
      (title.length === 0 || this.#titleIndex !== undefined)
    );
  }

  get positionsByDepartment(): PositionsByDepartment {
    this.#positionsByDepartment ??= this.#groupByDepartment();
    return this.#positionsByDepartment;
  }

  /** Positions of a workplace type; read only. */
  withRemoteStatus(status: RemoteStatus): RowBitmap {
    const code = REMOTE_STATUSES.indexOf(status);
    this.#remote[code] ??= this.#withCode(this.snapshot.remoteStatus, code);
    return this.#remote[code];
  }

  /** Positions of an employment type; read only. */
  withEmploymentType(type: EmploymentType): RowBitmap {
    const code = EMPLOYMENT_TYPES.indexOf(type);
    this.#employment[code] ??= this.#withCode(this.snapshot.employmentType, code);
    return this.#employment[code];
  }

  /** Builds everything that searches need. */
  warmForSearch(): void {
    for (const status of REMOTE_STATUSES) this.withRemoteStatus(status);
    for (const type of EMPLOYMENT_TYPES) this.withEmploymentType(type);
    this.#joinBitmaps([this.locationIndex, this.keywordIndex]);
  }

  /** Builds everything that signals need. */
  warmForSignals(): void {
    void this.positionsByDepartment;
    this.#joinBitmaps([this.titleIndex, this.locationIndex]);
  }

  /** Moves the bitmaps into one array, where intersecting several is two to three times as fast (bitset.ts). */
  #joinBitmaps(indexes: readonly (TermIndex | null)[]): void {
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
    // Each row has one title, so reordering rows reorders the numbers.
    const { numbers, offsets, texts } = source.part.#titleField();
    const moved = new Uint32Array(numbers.length);
    for (let i = 0; i < numbers.length; i++) moved[source.positionOf[i]!] = numbers[i]!;
    return { texts, numbers: moved, offsets };
  }

  #buildLocationIndex(): TermIndex | undefined {
    const source = this.#source;
    if (source !== undefined) return source.part.locationIndex?.reordered(source.positionOf);
    const { rows, snapshot } = this;
    return buildTermIndex(rows.length, [singleField(rows, snapshot.location, snapshot.locations, 1)]);
  }

  #buildKeywordIndex(): TermIndex | undefined {
    const { rows, snapshot } = this;
    return buildTermIndex(rows.length, [
      this.#titleField(),
      singleField(rows, snapshot.employer, snapshot.employerNames, 0),
      singleField(rows, snapshot.department, snapshot.departments, 1),
      skillField(rows, snapshot),
    ]);
  }

  #groupByDepartment(): PositionsByDepartment {
    const { department, departments } = this.snapshot;
    const lists: number[][] = [];
    const numberOf = new Map<string, number>();
    let count = 0;
    for (let position = 0; position < this.rows.length; position++) {
      const code = department[this.rows[position]!]!;
      if (code === 0) continue;
      const text = departments.comparedOf(code);
      let number = numberOf.get(text);
      if (number === undefined) {
        number = lists.length;
        numberOf.set(text, number);
        lists.push([]);
      }
      lists[number]!.push(position);
      count++;
    }
    const offsets = new Uint32Array(lists.length + 1);
    const positions = new Uint16Array(count);
    for (const [number, list] of lists.entries()) {
      positions.set(list, offsets[number]!);
      offsets[number + 1] = offsets[number]! + list.length;
    }
    return { numberOf, offsets, positions };
  }

  #withCode(codes: Uint8Array, code: number): RowBitmap {
    const set = new BitSet(this.rows.length);
    for (let position = 0; position < this.rows.length; position++) {
      if (codes[this.rows[position]!] === code) set.add(position);
    }
    return { words: set.words, wordsStart: 0, rowCountMax: set.count };
  }
}
