/** The sections of a snapshot that are kept in memory: read at once and viewed as typed arrays where they lie, not parsed. */
import type { OpenedHeader } from './header.ts';
import { checksumOf, FIRST_COLD_SECTION, type SectionName } from './layout.ts';
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
  /** Offsets into something of `length` elements; one more than `count` when that is given. Their order is not looked at. */
  offsets(name: SectionName, length: number, count?: number): Uint32Array;
  texts(offsets: SectionName, text: SectionName): TextColumn;
}

/**
 * Reads the sections that stay in memory in one piece, from the first one on, and checks their bytes.
 * @returns bytes that start at a multiple of 8 of their buffer
 * @throws SnapshotError when a byte is wrong
 */
export function readHotBytes(source: SnapshotSource, opened: OpenedHeader, refuse: Refuse): Uint8Array {
  const { byteLength: length, header } = opened;
  const hotEnd = header.sections[FIRST_COLD_SECTION]!.offset;
  let bytes = source.read(length, hotEnd - length);
  if (bytes.length !== hotEnd - length) throw refuse('is cut off inside its columns');
  // Typed arrays can only start at a multiple of their element's size.
  if (bytes.byteOffset % 8 !== 0) bytes = Uint8Array.from(bytes);
  let end = length;
  for (const section of header.sections.slice(0, FIRST_COLD_SECTION)) {
    requireZeros(bytes.subarray(end - length, section.offset - length), refuse);
    end = section.offset + section.byteLength;
    const checksum = checksumOf(bytes.subarray(section.offset - length, end - length));
    if (checksum !== section.checksum) throw refuse(`is damaged in section ${section.name} (checksum)`);
  }
  requireZeros(bytes.subarray(end - length), refuse);
  return bytes;
}

/**
 * Views of the bytes that `readHotBytes` gave.
 * @throws SnapshotError when a section has a wrong number of elements
 */
export function hotSectionsIn(
  bytes: Uint8Array,
  { byteLength: length, sections }: OpenedHeader,
  refuse: Refuse,
): HotSections {
  const place = (name: SectionName): number => bytes.byteOffset + sections[name].offset - length;
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
