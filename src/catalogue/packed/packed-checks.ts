/** The checks of packed texts at load: their bytes against the checksums, every place and offset against what it points into. */
import { PACKED_BLOCK_BYTES_MAX } from '../limits.ts';
import { checkedSection } from '../snapshot/cold-sections.ts';
import { float64sIn, uint32sIn } from '../snapshot/numbers-at.ts';
import type { Refuse } from '../snapshot/snapshot-error.ts';
import type { SnapshotSource } from '../snapshot/source.ts';
import { PLACE_ELEMENTS } from './packed-blocks.ts';
import type { PackedSections } from './packed-texts.ts';

/**
 * In steps. Blocks are not decompressed here: each carries a checksum that its first reader verifies.
 * @param itemCount items that may have a text
 * @throws SnapshotError when a byte, a place or an offset is wrong
 */
export function* checkingPacked(
  source: SnapshotSource,
  sections: PackedSections,
  itemCount: number,
  refuse: Refuse,
): Generator<void, void> {
  const { blockOffsets, blocks, places } = sections;
  const blockCount = blockOffsets.byteLength / 8 - 1;
  const isEmpty = places.byteLength === 0;
  if (!isEmpty && places.byteLength !== itemCount * PLACE_ELEMENTS * 4) {
    throw refuse(`has a wrong number of elements in ${places.name}`);
  }
  if (blockCount < 0 || isEmpty !== (blockCount === 0)) {
    throw refuse(`has a wrong number of elements in ${blockOffsets.name}`);
  }
  let element = 0;
  let block = 0;
  let start = 0;
  const requirePlaces = (bytes: Uint8Array): void => {
    const values = uint32sIn(bytes);
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!;
      if (element === 0) block = value;
      else if (element === 1) start = value;
      else if (!isPlace(block, start, value, blockCount)) throw refuse(`has ${places.name} out of range`);
      element = element === PLACE_ELEMENTS - 1 ? 0 : element + 1;
    }
  };
  yield* checkedSection(source, places, requirePlaces, refuse);
  let before = -1;
  const requireAscending = (bytes: Uint8Array): void => {
    const values = float64sIn(bytes);
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!;
      // Written so that NaN, for which no comparison holds, is refused.
      if (before === -1 ? value !== 0 : !(value > before && Number.isSafeInteger(value))) {
        throw refuse(`has ${blockOffsets.name} out of order`);
      }
      before = value;
    }
  };
  yield* checkedSection(source, blockOffsets, requireAscending, refuse);
  if (before !== blocks.byteLength) throw refuse(`has wrong ends in ${blockOffsets.name}`);
  yield* checkedSection(source, blocks, () => {}, refuse);
}

function isPlace(block: number, start: number, lengthAndFlag: number, blockCount: number): boolean {
  if (lengthAndFlag === 0) return block === 0 && start === 0;
  const length = lengthAndFlag >>> 1;
  return length > 0 && block < blockCount && start + length <= PACKED_BLOCK_BYTES_MAX;
}
