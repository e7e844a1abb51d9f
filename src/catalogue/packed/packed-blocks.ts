/** Compressed blocks of texts as sections of a snapshot, while it is built. */

/** Elements of an item's place: its block, where it starts in the block's text, and its length (`packed-texts.ts`). */
export const PLACE_ELEMENTS = 3;

/** The blocks of one kind of texts as sections of a snapshot. */
export interface PackedBlocks {
  /** Where each block starts in `chunks`, and where the last one ends. */
  readonly offsets: Float64Array<ArrayBuffer>;
  readonly byteLength: number;
  /** CRC-32 of the compressed bytes. */
  readonly checksum: number;
  /** CRC-32 of the texts, block after block: it does not depend on the release of the compressor. */
  readonly contentChecksum: number;
  /** Fresh arrays; may be iterated more than once, until the sources of the build are closed. */
  readonly chunks: Iterable<Uint8Array>;
}

export const NO_BLOCKS: PackedBlocks = {
  offsets: new Float64Array(1),
  byteLength: 0,
  checksum: 0,
  contentChecksum: 0,
  chunks: [],
};
