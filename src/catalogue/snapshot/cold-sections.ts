/** Checks sections that stay in the file, chunk by chunk when a snapshot is opened, keeping nothing. */
import { CHECKED_CHUNK_BYTES } from '../limits.ts';
import type { OpenedHeader } from './header.ts';
import { requireZeros } from './hot-sections.ts';
import { checksumOf, FIRST_COLD_SECTION, type Section } from './layout.ts';
import type { Refuse } from './snapshot-error.ts';
import type { SnapshotSource } from './source.ts';

/**
 * Compares a section with its checksum, a chunk a step; `check` gets each chunk, whole elements of every type.
 * @throws SnapshotError
 */
export function* checkedSection(
  source: SnapshotSource,
  section: Section,
  check: (bytes: Uint8Array) => void,
  refuse: Refuse,
): Generator<void, void> {
  let checksum = 0;
  for (let done = 0; done < section.byteLength; done += CHECKED_CHUNK_BYTES) {
    const length = Math.min(CHECKED_CHUNK_BYTES, section.byteLength - done);
    const bytes = source.readTransient(section.offset + done, length);
    if (bytes.length !== length) throw refuse(`is cut off inside section ${section.name}`);
    checksum = checksumOf(bytes, checksum);
    check(bytes);
    yield;
  }
  if (checksum !== section.checksum) throw refuse(`is damaged in section ${section.name} (checksum)`);
}

/** Checks that the bytes between the cold sections are zero. In steps. @throws SnapshotError */
export function* checkingColdGaps(
  source: SnapshotSource,
  { header: { sections } }: OpenedHeader,
  refuse: Refuse,
): Generator<void, void> {
  for (let index = FIRST_COLD_SECTION + 1; index < sections.length; index++) {
    const end = sections[index - 1]!.offset + sections[index - 1]!.byteLength;
    requireZeros(source.read(end, sections[index]!.offset - end), refuse);
    yield;
  }
}
