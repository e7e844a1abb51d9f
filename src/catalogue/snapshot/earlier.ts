/**
 * An earlier snapshot of the same catalogue, for the next build, which copies its unchanged rows, events and blocks of
 * texts. Every copied byte is compared with its checksum.
 */
import { PACKED_BLOCK_BYTES_MAX } from '../limits.ts';
import type { BlockFacts, EarlierBlocks } from '../packed/block-packer.ts';
import { PLACE_ELEMENTS } from '../packed/packed-blocks.ts';
import { decompressed } from '../packed/zstd.ts';
import { type OpenedHeader, readHeader } from './header.ts';
import type { EarlierRows } from './job-rows.ts';
import { checksumOf, ELEMENT_BYTES, type SectionName } from './layout.ts';
import { float64sIn, uint32sIn } from './numbers-at.ts';
import { EarlierSnapshotError } from './snapshot-error.ts';
import type { SnapshotSource } from './source.ts';

/** The events of an earlier snapshot, one element each (layout.ts). */
export interface EarlierEvents {
  readonly times: Float64Array;
  readonly rows: Uint32Array;
  readonly kinds: Uint8Array;
  /** Empty where no catalogue recorded them. */
  readonly serials: Uint32Array;
  /** Empty where none has a text. */
  readonly places: Uint32Array;
}

interface PlacedBlock {
  readonly facts: BlockFacts;
  /** In the file. */
  readonly offset: number;
}

export class EarlierSnapshot implements EarlierBlocks {
  readonly #source: SnapshotSource;
  readonly #header: OpenedHeader;
  readonly #blocks = new Map<string, PlacedBlock>();
  /** Offsets of the blocks of events in the file, and lengths. */
  readonly #eventBlocks: PlacedBlock[] = [];
  /** The block of events that was read last. */
  #read: { readonly block: number; readonly text: Uint8Array } | undefined;
  #places: Uint32Array = new Uint32Array(0);

  /** @throws EarlierSnapshotError when it cannot be read */
  constructor(source: SnapshotSource) {
    this.#source = source;
    this.#header = readHeader(source, (reason) => new EarlierSnapshotError(reason));
  }

  /** The header bytes, which determine all sections: two snapshots with the same header are the same. */
  headerBytes(): Uint8Array {
    return this.#source.read(0, this.#header.byteLength);
  }

  get rowCount(): number {
    return this.#header.header.rows;
  }

  /**
   * Makes the blocks available to `find`. @param blocks those of descriptions, then those of events, in the order of the file
   */
  useBlocks(blocks: readonly BlockFacts[]): void {
    const { descriptionBlockOffsets, descriptionBlocks, historyBlocks } = this.#header.sections;
    const descriptionCount = descriptionBlockOffsets.byteLength / 8 - 1;
    let offset = descriptionBlocks.offset;
    for (const [block, facts] of blocks.entries()) {
      if (block === descriptionCount) offset = historyBlocks.offset;
      const placed = { facts, offset };
      this.#blocks.set(facts.id, placed);
      if (block >= descriptionCount) this.#eventBlocks.push(placed);
      offset += facts.byteLength;
    }
  }

  find(id: string): BlockFacts | undefined {
    return this.#blocks.get(id)?.facts;
  }

  read(id: string): Uint8Array {
    return this.#blockBytes(this.#blocks.get(id)!);
  }

  #blockBytes({ facts, offset }: PlacedBlock): Uint8Array {
    const bytes = this.#source.readTransient(offset, facts.byteLength);
    if (checksumOf(bytes) !== facts.checksum) throw new EarlierSnapshotError('has a damaged block');
    return bytes;
  }

  /** @throws EarlierSnapshotError when they are damaged */
  rows(digestKeys: Float64Array): EarlierRows {
    const codes = (name: SectionName): Uint16Array | Uint32Array => {
      const bytes = this.#bytes(name);
      const is16 = this.#header.sections[name].type === 'u16';
      return is16
        ? new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / ELEMENT_BYTES.u16)
        : uint32sIn(bytes);
    };
    const uint32s = (name: SectionName): Uint32Array => uint32sIn(this.#bytes(name));
    const float64s = (name: SectionName): Float64Array => float64sIn(this.#bytes(name));
    return {
      lastObserved: float64s('lastObserved'),
      firstObserved: float64s('firstObserved'),
      closedAt: float64s('closedAt'),
      title: uint32s('title'),
      location: uint32s('location'),
      department: codes('department'),
      remoteStatus: this.#bytes('remoteStatus'),
      employmentType: this.#bytes('employmentType'),
      skillOffsets: uint32s('skillOffsets'),
      skills: codes('skills'),
      titleOffsets: uint32s('titleOffsets'),
      titleText: this.#bytes('titleText'),
      locationOffsets: uint32s('locationOffsets'),
      locationText: this.#bytes('locationText'),
      departmentOffsets: uint32s('departmentOffsets'),
      departmentText: this.#bytes('departmentText'),
      skillTextOffsets: uint32s('skillTextOffsets'),
      skillText: this.#bytes('skillText'),
      coldOffsets: uint32s('coldOffsets'),
      coldText: this.#bytes('coldText'),
      rowsById: uint32s('rowsById'),
      activeCount: this.#header.header.active,
      digestKeys,
    };
  }

  /** By row (`packed-texts.ts`); empty where none has a description. @throws EarlierSnapshotError when they are damaged */
  descriptionPlaces(): Uint32Array {
    return uint32sIn(this.#bytes('descriptionPlaces'));
  }

  /** @throws EarlierSnapshotError when they are damaged */
  events(): EarlierEvents {
    this.#places = uint32sIn(this.#bytes('historyPlaces'));
    return {
      times: float64sIn(this.#bytes('historyTimes')),
      rows: uint32sIn(this.#bytes('historyRows')),
      kinds: this.#bytes('historyKinds'),
      serials: uint32sIn(this.#bytes('historySerials')),
      places: this.#places,
    };
  }

  /** UTF-8 of the text of an event that has one, after `events`. @throws EarlierSnapshotError when it is damaged */
  eventText(position: number): Uint8Array {
    const at = position * PLACE_ELEMENTS;
    const block = this.#places[at]!;
    if (this.#read?.block !== block) {
      const text = decompressed(this.#blockBytes(this.#eventBlocks[block]!), PACKED_BLOCK_BYTES_MAX);
      if (text === undefined) throw new EarlierSnapshotError('has a damaged block of events');
      this.#read = { block, text };
    }
    const start = this.#places[at + 1]!;
    return this.#read.text.subarray(start, start + (this.#places[at + 2]! >>> 1));
  }

  #bytes(name: SectionName): Uint8Array {
    const { byteLength, checksum, offset } = this.#header.sections[name];
    const bytes = this.#source.read(offset, byteLength);
    if (bytes.length !== byteLength || checksumOf(bytes) !== checksum) {
      throw new EarlierSnapshotError(`has a damaged section ${name}`);
    }
    return bytes;
  }
}
