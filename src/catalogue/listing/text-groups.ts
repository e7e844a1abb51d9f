/**
 * The rows of each department, or of each skill, whose texts are equal in compared form (terms.ts). Built on first use with a
 * counting sort over all rows and kept with the catalogue.
 *
 * Memory: 4 bytes for each row with a department, or for each skill of a row (bench/listing.ts).
 */
import type { TextColumn } from '../snapshot/text-column.ts';

type Codes = Uint16Array | Uint32Array;

export interface CodedRows {
  readonly texts: TextColumn;
  /** The first code that is a text: 1 where code 0 is "not recorded". */
  readonly firstCode: 0 | 1;
  /** Codes of row r are `codes[offsets[r]] .. codes[offsets[r + 1] - 1]`; without offsets it is `codes[r]`. */
  readonly codes: Codes;
  readonly offsets?: Uint32Array;
}

const NO_ROWS = new Uint32Array(0);

export class TextGroups {
  /** By code: its group, from 1 on by the order of codes; 0 = none. */
  readonly groupOf: Uint32Array;
  /** One more than the largest group. */
  readonly groupCount: number;
  readonly #of: CodedRows;
  readonly #groups = new Map<string, number>();
  /** Rows of group g are `#rows[#ends[g - 1]] .. #rows[#ends[g] - 1]`, ascending, each once. */
  #ends: Uint32Array | undefined;
  #rows: Uint32Array = NO_ROWS;

  constructor(of: CodedRows) {
    const { firstCode, texts } = of;
    this.#of = of;
    this.groupOf = new Uint32Array(texts.size);
    for (let code = firstCode; code < texts.size; code++) {
      const compared = texts.comparedOf(code);
      const group = this.#groups.get(compared) ?? this.#groups.size + 1;
      this.#groups.set(compared, group);
      this.groupOf[code] = group;
    }
    this.groupCount = this.#groups.size + 1;
  }

  /** The group of a text in compared form. */
  find(compared: string): number | undefined {
    return this.#groups.get(compared);
  }

  /** The rows with a text that equals one in compared form, ascending; read only. */
  rowsOf(compared: string): Uint32Array {
    const group = this.find(compared);
    if (group === undefined) return NO_ROWS;
    this.#ends ??= this.#sort();
    return this.#rows.subarray(this.#ends[group - 1]!, this.#ends[group]!);
  }

  /** Sorts the rows by group. @returns by group: where its rows end */
  #sort(): Uint32Array {
    const { codes, firstCode, offsets } = this.#of;
    const { groupCount, groupOf } = this;
    const starts = new Uint32Array(groupCount + 1);
    for (let i = 0; i < codes.length; i++) starts[groupOf[codes[i]!]! + 1]!++;
    // Group 0 is no text.
    starts[1] = 0;
    for (let group = 1; group <= groupCount; group++) starts[group]! += starts[group - 1]!;
    const rows = new Uint32Array(starts[groupCount]!);
    const ends = starts.slice(0, groupCount);
    if (offsets === undefined) placeRows(codes, groupOf, ends, rows);
    else placeListedRows(codes, offsets, groupOf, ends, rows);
    this.#rows = rows;
    const hasSpellings = groupCount - 1 < groupOf.length - firstCode;
    if (offsets !== undefined && hasSpellings) this.#rows = onceEach(rows, starts, ends);
    return ends;
  }
}

/** Puts each row where the rows of its group end. @param ends by group; moved */
function placeRows(codes: Codes, groupOf: Uint32Array, ends: Uint32Array, rows: Uint32Array): void {
  for (let row = 0; row < codes.length; row++) {
    const group = groupOf[codes[row]!]!;
    if (group === 0) continue;
    const end = ends[group]!;
    rows[end] = row;
    ends[group] = end + 1;
  }
}

/** The same for rows that have several codes each. */
function placeListedRows(
  codes: Codes,
  offsets: Uint32Array,
  groupOf: Uint32Array,
  ends: Uint32Array,
  rows: Uint32Array,
): void {
  const rowCount = offsets.length - 1;
  let i = 0;
  for (let row = 0; row < rowCount; row++) {
    for (const past = offsets[row + 1]!; i < past; i++) {
      const group = groupOf[codes[i]!]!;
      const end = ends[group]!;
      rows[end] = row;
      ends[group] = end + 1;
    }
  }
}

/**
 * Drops the repeats of rows that have two spellings of one text.
 * @param ends by group; moved
 * @returns a part of `rows`, overwritten
 */
function onceEach(rows: Uint32Array, starts: Uint32Array, ends: Uint32Array): Uint32Array {
  let kept = 0;
  for (let group = 1; group < ends.length; group++) {
    const first = kept;
    const past = ends[group]!;
    for (let i = starts[group]!; i < past; i++) {
      const row = rows[i]!;
      if (kept === first || rows[kept - 1] !== row) rows[kept++] = row;
    }
    ends[group] = kept;
  }
  return rows.subarray(0, kept);
}
