/** The conditions of a question, from the index's sets and lists of rows. */
import type { RowSets } from './row-sets.ts';
import type { TermPlaces, TokenSections } from './token-index.ts';

/** A condition: the row is in one of some sets, or in a list of rows. */
export interface RowUnion {
  readonly sets: readonly number[];
  /** Listed rows by chunk, as places in it: those of chunk c are `members[starts[c]] .. members[starts[c + 1] - 1]`, in no order. */
  readonly members: Uint16Array;
  readonly starts: Uint32Array;
  /** Further rows, ascending. */
  readonly rows: Uint32Array;
  /** Rows at most, repeats counted. */
  readonly rowCountMax: number;
}

const NO_MEMBERS = new Uint16Array(0);
const NO_STARTS = new Uint32Array(0);
const NO_ROWS = new Uint32Array(0);

/** The rows of some sets. */
export function unionOfSets(sets: readonly number[], all: RowSets): RowUnion {
  let rowCountMax = 0;
  for (const set of sets) rowCountMax += all.countOf(set);
  return { sets, members: NO_MEMBERS, starts: NO_STARTS, rows: NO_ROWS, rowCountMax };
}

/** The rows of a term. */
export function unionOfTerm(
  { rareRowCount, rareTokens, sets }: TermPlaces,
  tokens: TokenSections,
  all: RowSets,
): RowUnion {
  const ofSets = unionOfSets(sets, all);
  if (rareRowCount === 0) return ofSets;
  const { rareOffsets, rareRows } = tokens;
  const starts = new Uint32Array(all.chunkCount + 2);
  for (const token of rareTokens) {
    for (let i = rareOffsets[token]!; i < rareOffsets[token + 1]!; i++) starts[(rareRows[i]! >>> 16) + 2]!++;
  }
  for (let chunk = 2; chunk < starts.length; chunk++) starts[chunk]! += starts[chunk - 1]!;
  const members = new Uint16Array(rareRowCount);
  // `starts[c + 1]` moves from where chunk c starts to where it ends.
  for (const token of rareTokens) {
    for (let i = rareOffsets[token]!; i < rareOffsets[token + 1]!; i++) {
      const row = rareRows[i]!;
      members[starts[(row >>> 16) + 1]!++] = row & 0xffff;
    }
  }
  return { sets, members, starts, rows: NO_ROWS, rowCountMax: ofSets.rowCountMax + rareRowCount };
}

/** Rows of one list, ascending. A chunk is looked up when a question comes to it. */
export const unionOfRows = (rows: Uint32Array): RowUnion => ({
  sets: [],
  members: NO_MEMBERS,
  starts: NO_STARTS,
  rows,
  rowCountMax: rows.length,
});
