/** The sections of a snapshot that are held in memory: read whole and viewed as typed arrays in place, not parsed. */
import { Buffer } from 'node:buffer';
import { CHECKED_CHUNK_BYTES } from '../limits.ts';
import type { OpenedHeader } from './header.ts';
import {
  checksumOf,
  FIRST_COLD_SECTION,
  FIRST_DETAIL_SECTION,
  FIRST_INDEX_SECTION,
  type SectionName,
} from './layout.ts';
import type { Refuse } from './snapshot-error.ts';
import type { SnapshotSource } from './source.ts';
import { TextColumn } from './text-column.ts';

/** Views of the sections that stay in memory; each refuses a wrong number of elements. */
export interface HotSections {
  u8(name: SectionName, count?: number): Uint8Array;
  u16(name: SectionName): Uint16Array;
  u32(name: SectionName, count?: number): Uint32Array;
  f64(name: SectionName, count: number): Float64Array;
  codes(name: SectionName, count?: number): Uint16Array | Uint32Array;
  /** `count + 1` offsets into something of `length` elements. Their order is not checked. */
  offsets(name: SectionName, length: number, count: number): Uint32Array;
  texts(offsets: SectionName, text: SectionName): TextColumn;
}

/** Sections that are read together. */
interface Span {
  /** Indexes in the list of sections. */
  readonly first: number;
  readonly end: number;
}

export const COLUMNS: Span = { first: 0, end: FIRST_DETAIL_SECTION };
export const DETAILS: Span = { first: FIRST_DETAIL_SECTION, end: FIRST_INDEX_SECTION };
export const INDEX: Span = { first: FIRST_INDEX_SECTION, end: FIRST_COLD_SECTION };

/**
 * Reads sections that stay in memory, a chunk a step, and checks their bytes while they are still in the processor's caches.
 * @returns bytes in a separate buffer, from a multiple of 8 on
 * @throws SnapshotError when a byte is wrong
 */
export function* readingHot(
  source: SnapshotSource,
  { header: { sections } }: OpenedHeader,
  { end, first }: Span,
  refuse: Refuse,
): Generator<void, Uint8Array<ArrayBuffer>> {
  const start = sections[first]!.offset;
  // Never from the pool of small buffers, whose memory cannot be transferred to another thread.
  const { buffer } = Buffer.allocUnsafeSlow(sections[end]!.offset - start);
  const bytes = new Uint8Array(buffer);
  let read = 0;
  const take = (past: number): Uint8Array => {
    const chunk = bytes.subarray(read, past);
    if (source.readInto(start + read, chunk) !== chunk.length) throw refuse('is cut off inside its columns');
    read = past;
    return chunk;
  };
  for (const section of sections.slice(first, end)) {
    requireZeros(take(section.offset - start), refuse);
    const sectionEnd = read + section.byteLength;
    let checksum = 0;
    while (read < sectionEnd) {
      checksum = checksumOf(take(Math.min(read + CHECKED_CHUNK_BYTES, sectionEnd)), checksum);
      yield;
    }
    if (checksum !== section.checksum) throw refuse(`is damaged in section ${section.name} (checksum)`);
  }
  requireZeros(take(bytes.length), refuse);
  return bytes;
}

/**
 * Views of the bytes that `readingHot` gave.
 * @param span the same
 * @throws SnapshotError when a section has a wrong number of elements
 */
export function hotSectionsIn(
  bytes: Uint8Array,
  { header, sections }: OpenedHeader,
  { first }: Span,
  refuse: Refuse,
): HotSections {
  const start = header.sections[first]!.offset;
  const place = (name: SectionName): number => bytes.byteOffset + sections[name].offset - start;
  const counted = <C extends { length: number }>(name: SectionName, column: C, count: number | undefined): C => {
    if (count !== undefined && column.length !== count) throw refuse(`has ${column.length} elements in ${name}`);
    return column;
  };
  const u32 = (name: SectionName, count?: number): Uint32Array =>
    counted(name, new Uint32Array(bytes.buffer, place(name), sections[name].byteLength / 4), count);
  const u8 = (name: SectionName, count?: number): Uint8Array =>
    counted(name, new Uint8Array(bytes.buffer, place(name), sections[name].byteLength), count);
  const offsets = (name: SectionName, total: number, count?: number): Uint32Array => {
    const places = u32(name, count === undefined ? undefined : count + 1);
    if (places.length === 0 || places[0] !== 0 || places.at(-1) !== total) throw refuse(`has wrong ends in ${name}`);
    return places;
  };
  return {
    u8,
    u16: (name) => new Uint16Array(bytes.buffer, place(name), sections[name].byteLength / 2),
    u32,
    f64: (name, count) =>
      counted(name, new Float64Array(bytes.buffer, place(name), sections[name].byteLength / 8), count),
    codes: (name, count) =>
      sections[name].type === 'u16'
        ? counted(name, new Uint16Array(bytes.buffer, place(name), sections[name].byteLength / 2), count)
        : u32(name, count),
    offsets,
    texts: (offsetsName, textName) => {
      const text = u8(textName);
      return new TextColumn(offsets(offsetsName, text.length), text);
    },
  };
}

/** @throws SnapshotError when a byte between two sections is not 0 */
export function requireZeros(bytes: Uint8Array, refuse: Refuse): void {
  for (const byte of bytes) if (byte !== 0) throw refuse('has bytes between its sections');
}
