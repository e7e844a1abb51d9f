/** Snapshot files that are wrong although their checksums match. */
import { checksumOf, PREFIX_BYTES } from '../../src/catalogue/snapshot/layout.ts';
import { openSnapshot } from '../../src/catalogue/snapshot/snapshot.ts';
import { SnapshotError } from '../../src/catalogue/snapshot/snapshot-error.ts';
import { memorySource } from '../../src/catalogue/snapshot/source.ts';

/** A reader's verdict on a file: its error line, or `accepted`. */
export function refusalOf(bytes: Uint8Array): string {
  try {
    openSnapshot(memorySource('catalogue.bin', bytes));
  } catch (error) {
    if (error instanceof SnapshotError) return error.message;
    throw error;
  }
  return 'accepted';
}

/** Bytes of the JSON header. */
export function headerLengthOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(12, true);
}

interface LooseHeader {
  rows: number;
  active: number;
  facts: Record<string, unknown>;
  sections: { name: string; type: string; offset: number; byteLength: number; checksum: number; content?: number }[];
}

export function headerOf(bytes: Uint8Array): LooseHeader {
  const json = bytes.subarray(PREFIX_BYTES, PREFIX_BYTES + headerLengthOf(bytes));
  return JSON.parse(new TextDecoder().decode(json)) as LooseHeader;
}

/** The same file with another header of the same length, with the right checksum. */
export function withHeader(bytes: Uint8Array, change: (header: LooseHeader) => void): Uint8Array {
  const altered = Uint8Array.from(bytes);
  const length = headerLengthOf(bytes);
  const json = altered.subarray(PREFIX_BYTES, PREFIX_BYTES + length);
  const header = headerOf(bytes);
  // Changed numbers may have more digits: shortening the version's name makes room for them.
  header.facts.skillsVersion = '';
  change(header);
  const text = new TextEncoder().encode(JSON.stringify(header));
  if (text.length > length) throw new Error('the altered header is too long for its place');
  json.fill(0x20).set(text);
  new DataView(altered.buffer).setUint32(16, checksumOf(json), true);
  return altered;
}

/** The same file with other bytes in a section, and matching checksums. */
export function withSection(bytes: Uint8Array, name: string, change: (section: DataView) => void): Uint8Array {
  const altered = Uint8Array.from(bytes);
  const resealed = withHeader(altered, (header) => {
    const section = header.sections.find((each) => each.name === name)!;
    const content = altered.subarray(section.offset, section.offset + section.byteLength);
    change(new DataView(content.buffer, content.byteOffset, content.byteLength));
    section.checksum = checksumOf(content);
  });
  resealed.set(altered.subarray(PREFIX_BYTES + headerLengthOf(bytes)), PREFIX_BYTES + headerLengthOf(bytes));
  return resealed;
}
