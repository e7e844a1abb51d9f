/**
 * Reads a snapshot's header. Numbers from the file are compared with its length before anything is allocated by them.
 */
import * as v from 'valibot';
import { parseJson } from '../../base/json-value.ts';
import { HEADER_BYTES_MAX, HOT_BYTES_MAX, INDEX_BYTES_MAX, SNAPSHOT_BYTES_MAX, TEXT_BYTES_MAX } from '../limits.ts';
import {
  aligned,
  BLOCK_SECTIONS,
  checksumOf,
  ELEMENT_BYTES,
  FIRST_COLD_SECTION,
  FIRST_INDEX_SECTION,
  FORMAT_VERSION,
  type Header,
  headerSchema,
  MAGIC,
  PREFIX_BYTES,
  SECTIONS,
  type Section,
  type SectionName,
} from './layout.ts';
import { uint32At } from './numbers-at.ts';
import type { Refuse } from './snapshot-error.ts';
import type { SnapshotSource } from './source.ts';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export interface OpenedHeader {
  readonly header: Header;
  readonly sections: Readonly<Record<SectionName, Section>>;
  /** Bytes before the first section. */
  readonly byteLength: number;
}

/**
 * Reads the header and checks that it and the sections' offsets are exactly as layout.ts says.
 * @throws SnapshotError when they are not
 */
export function readHeader(source: SnapshotSource, refuse: Refuse): OpenedHeader {
  if (source.byteLength > SNAPSHOT_BYTES_MAX) {
    throw refuse(`is ${source.byteLength} bytes long, more than the supported ${SNAPSHOT_BYTES_MAX}`);
  }
  if (new Uint8Array(Uint16Array.of(1).buffer)[0] !== 1) throw refuse('snapshots need a little-endian machine');
  const prefix = source.read(0, PREFIX_BYTES);
  for (let i = 0; i < MAGIC.length; i++)
    if (prefix[i] !== MAGIC[i]) throw refuse('is not a snapshot; `snapshot build` makes one');
  if (prefix.length < PREFIX_BYTES) throw refuse('is cut off inside its header');
  const version = uint32At(prefix, 8);
  if (version !== FORMAT_VERSION) {
    throw refuse(`has format version ${version}; this program reads version ${FORMAT_VERSION}`);
  }
  const jsonLength = uint32At(prefix, 12);
  if (jsonLength > HEADER_BYTES_MAX || jsonLength % 8 !== 0 || uint32At(prefix, 20) !== 0) {
    throw refuse('has a damaged header');
  }
  const json = source.read(PREFIX_BYTES, jsonLength);
  if (json.length !== jsonLength) throw refuse('is cut off inside its header');
  if (checksumOf(json) !== uint32At(prefix, 16)) throw refuse('has a damaged header (checksum)');
  const parsed = parseJson(decoder.decode(json));
  if (parsed === undefined) throw refuse('has a header that is not JSON');
  const result = v.safeParse(headerSchema, parsed);
  if (!result.success) throw refuse('has a header that does not describe a snapshot');
  const header = result.output;
  if (header.active > header.rows) throw refuse('has a header with more active rows than rows');
  const byteLength = PREFIX_BYTES + jsonLength;
  return { header, sections: sectionsOf(header, byteLength, source.byteLength, refuse), byteLength };
}

/** The sections by name. @param start where the first may lie @param sourceLength bytes of the whole file */
function sectionsOf(header: Header, start: number, sourceLength: number, refuse: Refuse): Record<SectionName, Section> {
  const sections = {} as Record<SectionName, Section>;
  let end = start;
  if (header.sections.length !== SECTIONS.length) throw refuse('has a header with other sections than expected');
  for (const [index, { name, types }] of SECTIONS.entries()) {
    const section = header.sections[index]!;
    const known = section.name === name && (types as readonly string[]).includes(section.type);
    if (!known) throw refuse('has a header with other sections than expected');
    if (section.offset !== aligned(end) || section.byteLength % ELEMENT_BYTES[section.type] !== 0) {
      throw refuse(`has section ${name} in a wrong place`);
    }
    const isBlocks = BLOCK_SECTIONS.includes(name);
    if (isBlocks !== (section.content !== undefined)) throw refuse('has a header with other sections than expected');
    if (section.type === 'u8' && !isBlocks && section.byteLength > TEXT_BYTES_MAX) {
      throw refuse(`has an oversized section ${name}`);
    }
    end = section.offset + section.byteLength;
    if (end > sourceLength) throw refuse(`is cut off: section ${name} ends past the end of the file`);
    sections[name] = section;
  }
  if (end !== sourceLength) throw refuse(`has ${sourceLength - end} bytes after its end`);
  const indexStart = header.sections[FIRST_INDEX_SECTION]!.offset;
  if (indexStart > HOT_BYTES_MAX) throw refuse('has larger columns than are supported');
  if (header.sections[FIRST_COLD_SECTION]!.offset - indexStart > INDEX_BYTES_MAX) {
    throw refuse('has a larger index than is supported');
  }
  return sections;
}
