/** Assembles the sections of a snapshot into its file: checksums, offsets, header, and the bytes in order. */
import { HOT_BYTES_MAX, INDEX_BYTES_MAX, SNAPSHOT_BYTES_MAX } from '../limits.ts';
import type { PackedBlocks } from '../packed/packed-blocks.ts';
import {
  aligned,
  checksumOf,
  contentDigestOf,
  type ElementType,
  encodeHeader,
  FIRST_COLD_SECTION,
  FIRST_INDEX_SECTION,
  type Header,
  SECTIONS,
  type Section,
  type SectionName,
} from './layout.ts';
import { SnapshotError } from './snapshot-error.ts';

/** A build's facts about itself. Part of the file, not of the content digest. */
export interface BuildFacts {
  /** Milliseconds since the epoch. */
  readonly builtAtMs: number;
  /** Input records, rejected ones included. */
  readonly sourceRows: number;
  readonly rejectedRows: number;
  /** Version of the dictionary that skills were extracted with; at most 200 code units. */
  readonly skillsVersion: string;
  /** Jobs of the source that the operator left out; undefined = none. */
  readonly leftOut?: LeftOut | undefined;
}

/** Jobs that are not in a snapshot although its source has them. */
export interface LeftOut {
  /** Greatest age of an active job in days, by its last observation; null = any. */
  readonly maxAgeDays: number | null;
  /** Active jobs that were older. */
  readonly agedJobs: number;
  /** Active jobs with the address of one that was observed later. */
  readonly sameUrlJobs: number;
}

export interface BuiltSnapshot {
  readonly byteLength: number;
  /** The file's bytes in order; may be iterated more than once, until the builder's spill is closed. */
  readonly chunks: Iterable<Uint8Array>;
  /** The bytes up to the first section: no other build's file begins like this. */
  readonly headerBytes: Uint8Array;
  readonly contentDigest: string;
}

/** A section's bytes. */
export interface Content {
  readonly type: ElementType;
  readonly chunks: Iterable<Uint8Array>;
  /** The same bytes, but a chunk may be overwritten when the next is requested. Default: `chunks`. */
  readonly reusedChunks?: Iterable<Uint8Array>;
  /** What is known without reading the chunks. */
  readonly blocks?: PackedBlocks;
}

/**
 * Yields between pieces of the work.
 * @param factsOf gets the content digest
 * @throws SnapshotError when the file is larger than a reader accepts
 */
export function* snapshotFile(
  contents: Readonly<Record<SectionName, Content>>,
  rows: number,
  active: number,
  factsOf: (contentDigest: string) => BuildFacts,
): Generator<void, BuiltSnapshot, void> {
  const sections: Section[] = [];
  for (const { name } of SECTIONS) {
    sections.push(sectionOf(name, contents[name]));
    yield;
  }
  const content = { rows, active, sections };
  const contentDigest = contentDigestOf(content);
  const header = withOffsets({ ...content, facts: exactFacts(factsOf(contentDigest)) });
  const headerBytes = encodeHeader(header);
  const last = header.sections.at(-1)!;
  const indexStart = header.sections[FIRST_INDEX_SECTION]!.offset;
  if (indexStart > HOT_BYTES_MAX) throw new SnapshotError('the columns of the catalogue take more than 2 GiB');
  if (header.sections[FIRST_COLD_SECTION]!.offset - indexStart > INDEX_BYTES_MAX) {
    throw new SnapshotError('the index of the catalogue takes more than 1.5 GiB');
  }
  const byteLength = last.offset + last.byteLength;
  if (byteLength > SNAPSHOT_BYTES_MAX) throw new SnapshotError('the catalogue file takes more than 64 GiB');
  return {
    byteLength,
    contentDigest,
    headerBytes,
    chunks: {
      *[Symbol.iterator]() {
        yield headerBytes;
        let position = headerBytes.length;
        for (const [index, { name }] of SECTIONS.entries()) {
          const section = header.sections[index]!;
          if (section.offset > position) yield new Uint8Array(section.offset - position);
          yield* contents[name].chunks;
          position = section.offset + section.byteLength;
        }
      },
    },
  };
}

/** @returns a section without its place */
function sectionOf(name: SectionName, { blocks, chunks, reusedChunks, type }: Content): Section {
  if (blocks !== undefined) {
    const { byteLength, checksum, contentChecksum } = blocks;
    return { name, type, offset: 0, byteLength, checksum, content: contentChecksum };
  }
  let checksum = 0;
  let byteLength = 0;
  for (const chunk of reusedChunks ?? chunks) {
    checksum = checksumOf(chunk, checksum);
    byteLength += chunk.length;
  }
  return { name, type, offset: 0, byteLength, checksum };
}

/**
 * Only the facts, in a fixed order, whatever else the caller's object has, because they determine the header's bytes.
 */
function exactFacts({ builtAtMs, sourceRows, rejectedRows, skillsVersion, leftOut }: BuildFacts): BuildFacts {
  const facts = { builtAtMs, sourceRows, rejectedRows, skillsVersion };
  if (leftOut === undefined) return facts;
  const { maxAgeDays, agedJobs, sameUrlJobs } = leftOut;
  return { ...facts, leftOut: { maxAgeDays, agedJobs, sameUrlJobs } };
}

/** Gives each section its offset. Larger offsets can lengthen the header that contains them, so this repeats until they fit. */
function withOffsets(header: Header): Header {
  let start = 0;
  for (;;) {
    let offset = start;
    const sections = header.sections.map((section) => {
      const at = aligned(offset);
      offset = at + section.byteLength;
      return { ...section, offset: at };
    });
    const settled = { rows: header.rows, active: header.active, facts: header.facts, sections };
    const length = encodeHeader(settled).length;
    if (length === start) return settled;
    start = length;
  }
}
