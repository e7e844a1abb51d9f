/**
 * Rows that are selected together: the cohort of the catalogue. An index in a part is called a position, an index in
 * the snapshot a row. For signals, positions go company after company (company-runs.ts).
 *
 * Each index is built on first use and lives as long as the part.
 */
import { resultOf, type Steps } from '../../base/steps.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { TextColumn } from '../snapshot/text-column.ts';
import { comparedText } from '../terms.ts';
import { Matches } from './matches.ts';
import { buildTermIndex, TermIndex, type TermIndexData } from './term-index.ts';

/** @param firstCode 1 = code 0 means that the row has no text @returns `null` when the texts are too long for an index */
function* indexOf(
  rows: Uint32Array,
  codes: Uint32Array,
  column: TextColumn,
  firstCode: 0 | 1,
): Steps<TermIndex | null> {
  const numberOf = new Map<number, number>();
  const texts: string[][] = [];
  const offsets = new Uint32Array(rows.length + 1);
  const numbers = new Uint32Array(rows.length);
  let count = 0;
  for (let position = 0; position < rows.length; position++) {
    const code = codes[rows[position]!]!;
    if (code >= firstCode) {
      let number = numberOf.get(code);
      if (number === undefined) {
        number = texts.length;
        numberOf.set(code, number);
        texts.push(comparedText(column.textOf(code)).split(' '));
      }
      numbers[count++] = number;
    }
    offsets[position + 1] = count;
  }
  yield;
  return (yield* buildTermIndex(rows.length, [{ texts, numbers, offsets }])) ?? null;
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
  readonly byDepartment: PositionsByDepartment | undefined;
}

const openedIndex = (data: TermIndexData | null | undefined): TermIndex | null | undefined =>
  data ? new TermIndex(data) : data;

const dataOf = (index: TermIndex | null | undefined): TermIndexData | null | undefined => (index ? index.data : index);

export class CohortPart {
  readonly snapshot: Snapshot;
  /** The row at each position; owned by the part. */
  readonly rows: Uint32Array;
  /** The result of the last `select`. */
  readonly matches: Matches;

  // `null` = the text of the fields is too long for an index; `undefined` = not built yet.
  #titleIndex: TermIndex | null | undefined;
  #locationIndex: TermIndex | null | undefined;
  #positionsByDepartment: PositionsByDepartment | undefined;

  /** @param built indexes of an equal part */
  constructor(snapshot: Snapshot, rows: Uint32Array, built?: PartIndexes) {
    this.snapshot = snapshot;
    this.rows = rows;
    this.matches = new Matches(rows.length);
    this.#titleIndex = openedIndex(built?.title);
    this.#locationIndex = openedIndex(built?.location);
    this.#positionsByDepartment = built?.byDepartment;
  }

  get built(): PartIndexes {
    return {
      title: dataOf(this.#titleIndex),
      location: dataOf(this.#locationIndex),
      byDepartment: this.#positionsByDepartment,
    };
  }

  get titleIndex(): TermIndex | null {
    if (this.#titleIndex === undefined) this.#titleIndex = resultOf(this.#buildTitleIndex());
    return this.#titleIndex;
  }

  get locationIndex(): TermIndex | null {
    if (this.#locationIndex === undefined) this.#locationIndex = resultOf(this.#buildLocationIndex());
    return this.#locationIndex;
  }

  #buildTitleIndex(): Steps<TermIndex | null> {
    const { rows, snapshot } = this;
    return indexOf(rows, snapshot.title, snapshot.titles, 0);
  }

  #buildLocationIndex(): Steps<TermIndex | null> {
    const { rows, snapshot } = this;
    return indexOf(rows, snapshot.location, snapshot.locations, 1);
  }

  get positionsByDepartment(): PositionsByDepartment {
    this.#positionsByDepartment ??= this.#groupByDepartment();
    return this.#positionsByDepartment;
  }

  /** Builds everything that signals need, a part of an index at each step. A question may build an index in between. */
  *warming(): Steps<void> {
    void this.positionsByDepartment;
    yield;
    if (this.#titleIndex === undefined) {
      const built = yield* this.#buildTitleIndex();
      if (this.#titleIndex === undefined) this.#titleIndex = built;
    }
    yield;
    if (this.#locationIndex === undefined) {
      const built = yield* this.#buildLocationIndex();
      if (this.#locationIndex === undefined) this.#locationIndex = built;
    }
    yield;
    this.#joinBitmaps([this.titleIndex, this.locationIndex]);
  }

  /** Moves the bitmaps into one array, where intersecting several is two to three times as fast (bitset.ts). */
  #joinBitmaps(indexes: readonly (TermIndex | null)[]): void {
    let length = 0;
    for (const index of indexes) length += index?.bitmapsLength ?? 0;
    const words = new Int32Array(length);
    let start = 0;
    for (const index of indexes) {
      index?.moveBitmaps(words, start);
      start += index?.bitmapsLength ?? 0;
    }
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
}
