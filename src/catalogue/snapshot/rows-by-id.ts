/**
 * The rows in order of their ids, which stay in the snapshot's file. A search by id takes some twenty steps of three
 * short reads, mostly from the page cache. The rows of the first steps are cached, because every search looks there,
 * and those of the last steps are read together: that leaves fifteen of sixty reads.
 *
 * Memory: some 100 bytes for each of KEPT_MAX steps, so less than a megabyte for usual ids.
 */
import type { ColdRows } from './cold-rows.ts';
import { checkedSection } from './cold-sections.ts';
import type { Section } from './layout.ts';
import { uint32sIn } from './numbers-at.ts';
import type { Refuse } from './snapshot-error.ts';
import type { SnapshotSource } from './source.ts';

const encoder = new TextEncoder();

/** Steps that are kept. */
const KEPT_MAX = 2 ** 13;
/** Rows that are read together. */
const SPAN_MAX = 128;

/** The row that a step compares. */
interface Step {
  readonly row: number;
  readonly id: string;
}

export class RowsById {
  readonly #source: SnapshotSource;
  readonly #section: Section;
  readonly #cold: ColdRows;
  /** By place. */
  readonly #kept = new Map<number, Step>();

  /** A section of a source that `checkingRowsById` lets pass. */
  constructor(source: SnapshotSource, section: Section, cold: ColdRows) {
    this.#source = source;
    this.#section = section;
    this.#cold = cold;
  }

  /** @throws SnapshotChangedError when the file changed after it was opened */
  find(id: string): number | undefined {
    // Ids are well-formed; an ill-formed text, once encoded, would equal an id with U+FFFD instead.
    if (!id.isWellFormed()) return undefined;
    const count = this.#section.byteLength / 4;
    let low = 0;
    let high = count;
    while (high - low > SPAN_MAX) {
      const middle = (low + high) >>> 1;
      const step = this.#stepAt(middle, count);
      // Code-unit order, as in the file.
      if (step.id < id) low = middle + 1;
      else if (step.id > id) high = middle;
      else return this.#checked(step.row);
    }
    return this.#checked(this.#findAmong(low, high, count, encoder.encode(id)));
  }

  /** Called after the reads, so that a write before or between them is noticed. */
  #checked(row: number | undefined): number | undefined {
    this.#cold.requireUnchanged();
    return row;
  }

  #stepAt(place: number, count: number): Step {
    let step = this.#kept.get(place);
    if (step === undefined) {
      const row = this.#rowsAt(place, 1, count)[0]!;
      step = { row, id: this.#cold.idOf(row) };
      if (this.#kept.size < KEPT_MAX) this.#kept.set(place, step);
    }
    return step;
  }

  #findAmong(start: number, end: number, count: number, key: Uint8Array): number | undefined {
    const rows = this.#rowsAt(start, end - start, count);
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = this.#cold.compareIdTo(rows[middle]!, key);
      if (order === 0) return rows[middle]!;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return undefined;
  }

  #rowsAt(place: number, length: number, count: number): Uint32Array {
    const bytes = this.#source.read(this.#section.offset + place * 4, length * 4);
    if (bytes.length !== length * 4) throw this.#cold.changed();
    const rows = uint32sIn(bytes);
    for (const row of rows) if (row >= count) throw this.#cold.changed();
    return rows;
  }
}

/**
 * Checks that each row is at the place given by its rank, so that both are permutations of all rows. That the order is
 * that of the ids relies on the checksum. In steps.
 * @param idRank by row
 * @throws SnapshotError when they disagree
 */
export function* checkingRowsById(
  source: SnapshotSource,
  section: Section,
  idRank: Uint32Array,
  refuse: Refuse,
): Generator<void, void> {
  if (section.byteLength !== idRank.byteLength) throw refuse('has a wrong number of elements in rowsById');
  let place = 0;
  const requirePlaces = (bytes: Uint8Array): void => {
    const rows = uint32sIn(bytes);
    for (let i = 0; i < rows.length; i++) {
      if (idRank[rows[i]!] !== place++) throw refuse('rows and ranks of ids disagree');
    }
  };
  yield* checkedSection(source, section, requirePlaces, refuse);
}
