/**
 * The rows of each department, or of each skill, whose texts are equal in compared form (terms.ts). Built on first use with a
 * counting sort over all rows and kept with the catalogue.
 *
 * Memory: 4 bytes for each row with a department, or for each skill of a row (bench/listing.ts).
 */
import type { TextColumn } from '../snapshot/text-column.ts';

export interface CodedRows {
  readonly texts: TextColumn;
  /** The first code that is a text: 1 where code 0 is "not recorded". */
  readonly firstCode: 0 | 1;
  /** Codes of row r are `codes[offsets[r]] .. codes[offsets[r + 1] - 1]`; without offsets it is `codes[r]`. */
  readonly codes: Uint16Array | Uint32Array;
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

  /** @returns by group: where its rows end */
  #sort(): Uint32Array {
    const { codes, offsets } = this.#of;
    const { groupCount, groupOf } = this;
    const rowCount = offsets === undefined ? codes.length : offsets.length - 1;
    const starts = new Uint32Array(groupCount + 1);
    for (let i = 0; i < codes.length; i++) starts[groupOf[codes[i]!]! + 1]!++;
    starts[1] = 0;
    for (let group = 1; group <= groupCount; group++) starts[group]! += starts[group - 1]!;
    const rows = new Uint32Array(starts[groupCount]!);
    const ends = starts.slice(0, groupCount);
    for (let row = 0; row < rowCount; row++) {
      const past = offsets === undefined ? row + 1 : offsets[row + 1]!;
      for (let i = offsets === undefined ? row : offsets[row]!; i < past; i++) {
        const group = groupOf[codes[i]!]!;
        const end = ends[group]!;
        // Two spellings of one skill on one job count once.
        if (group === 0 || (end > starts[group]! && rows[end - 1] === row)) continue;
        rows[end] = row;
        ends[group] = end + 1;
      }
    }
    return this.#closeGaps(rows, starts, ends);
  }

  #closeGaps(rows: Uint32Array, starts: Uint32Array, ends: Uint32Array): Uint32Array {
    const closed = new Uint32Array(ends.length);
    let end = 0;
    for (let group = 1; group < ends.length; group++) {
      if (end !== starts[group]) rows.copyWithin(end, starts[group]!, ends[group]!);
      end += ends[group]! - starts[group]!;
      closed[group] = end;
    }
    this.#rows = rows.subarray(0, end);
    return closed;
  }
}
