/**
 * The rows in order of their ids, which stay in the snapshot's file: a row is found by its id in some twenty steps of three
 * short reads, most of them from pages that the system has in memory.
 */
import type { ColdRows } from './cold-rows.ts';
import { requireChecked } from './cold-sections.ts';
import type { Section } from './layout.ts';
import { uint32At, uint32sIn } from './numbers-at.ts';
import type { Refuse } from './snapshot-error.ts';
import type { SnapshotSource } from './source.ts';

const encoder = new TextEncoder();

export class RowsById {
  readonly #source: SnapshotSource;
  readonly #section: Section;
  readonly #cold: ColdRows;

  /** A section of a source that `checkRowsById` let pass. */
  constructor(source: SnapshotSource, section: Section, cold: ColdRows) {
    this.#source = source;
    this.#section = section;
    this.#cold = cold;
  }

  /** @throws SnapshotChangedError when the file changed after it was opened */
  find(id: string): number | undefined {
    // Ids are well-formed; encoded, an ill-formed text would equal the id in which U+FFFD stands in its place.
    if (!id.isWellFormed()) return undefined;
    const key = encoder.encode(id);
    const count = this.#section.byteLength / 4;
    let low = 0;
    let high = count;
    let found: number | undefined;
    while (low < high && found === undefined) {
      const middle = (low + high) >>> 1;
      const row = this.#rowAt(middle, count);
      const order = this.#cold.compareIdTo(row, key);
      if (order < 0) low = middle + 1;
      else if (order > 0) high = middle;
      else found = row;
    }
    // Checked afterwards: a write before or between the reads shows by now.
    this.#cold.requireUnchanged();
    return found;
  }

  #rowAt(place: number, count: number): number {
    const bytes = this.#source.read(this.#section.offset + place * 4, 4);
    const row = bytes.length === 4 ? uint32At(bytes, 0) : count;
    if (row >= count) throw this.#cold.changed();
    return row;
  }
}

/**
 * Each row stands at the place that its rank says, so that both are orders of all rows. That this is the order of the ids rests
 * on the checksum.
 * @param idRank by row
 * @throws SnapshotError when they disagree
 */
export function checkRowsById(source: SnapshotSource, section: Section, idRank: Uint32Array, refuse: Refuse): void {
  if (section.byteLength !== idRank.byteLength) throw refuse('has a wrong number of elements in rowsById');
  let place = 0;
  const requirePlaces = (bytes: Uint8Array): void => {
    const rows = uint32sIn(bytes);
    for (let i = 0; i < rows.length; i++) {
      if (idRank[rows[i]!] !== place++) throw refuse('rows and ranks of ids disagree');
    }
  };
  requireChecked(source, section, requirePlaces, refuse);
}
