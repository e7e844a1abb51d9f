/**
 * The blocks of descriptions of a snapshot that was built from a catalogue, for its next build: a list beside the catalogue says
 * what each block holds, the snapshot itself has the bytes. The list holds only for that very file and the same compressor, and
 * each block is checked before it is used; without the list, or with another, a build packs every description again.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { BlockFacts, EarlierBlocks } from '../../catalogue/packed/block-packer.ts';
import { readHeader } from '../../catalogue/snapshot/header.ts';
import { checksumOf } from '../../catalogue/snapshot/layout.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import { openSnapshotFile, type SnapshotFile } from './snapshot-file.ts';

/** "pgbi" and the version of this format and of the rules by which texts share blocks. */
const MAGIC = Buffer.from('pgbi\u0000\u0000\u0000\u0001', 'latin1');
/** Magic, checksum of what follows, a digest of what the list holds for. */
const HEAD_BYTES = MAGIC.length + 4 + 4;
const ID_DIGITS = 16;
/** Id, four numbers. */
const ENTRY_BYTES = ID_DIGITS + 16;

/** Blocks of another compressor would be other bytes for the same text. */
const COMPRESSOR = `${process.versions.zstd ?? ''} ${process.versions.bun ?? ''}`;

export interface OpenedBlocks extends EarlierBlocks {
  close(): void;
}

/** What the list holds for: the snapshot's header, which has the checksums of all its sections, and the compressor. */
function markOf(header: Uint8Array): number {
  return checksumOf(Buffer.from(COMPRESSOR), checksumOf(header));
}

/** @returns undefined when there is no snapshot, or no list that holds for it */
export function openEarlierBlocks(listPath: string, snapshotPath: string): OpenedBlocks | undefined {
  let list: Buffer;
  try {
    list = readFileSync(listPath);
  } catch {
    return undefined;
  }
  const body = list.subarray(MAGIC.length + 4);
  const isWhole =
    list.length >= HEAD_BYTES &&
    list.subarray(0, MAGIC.length).equals(MAGIC) &&
    list.readUInt32LE(MAGIC.length) === checksumOf(body) &&
    (list.length - HEAD_BYTES) % ENTRY_BYTES === 0;
  if (!isWhole) return undefined;
  let file: SnapshotFile | undefined;
  try {
    file = openSnapshotFile(snapshotPath);
    const { sections, byteLength } = readHeader(file, (reason) => new SnapshotError(reason));
    if (markOf(file.read(0, byteLength)) === body.readUInt32LE(0)) {
      return blocksOf(file, sections.descriptionBlocks.offset, blocksIn(list.subarray(HEAD_BYTES)));
    }
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
  }
  file?.close();
  return undefined;
}

/** @param offset of the section in the file */
const blocksOf = (file: SnapshotFile, offset: number, blocks: ReadonlyMap<string, Placed>): OpenedBlocks => ({
  find(id) {
    const found = blocks.get(id);
    if (found === undefined) return undefined;
    const bytes = file.readTransient(offset + found.start, found.facts.byteLength);
    return checksumOf(bytes) === found.facts.checksum ? { ...found.facts, bytes } : undefined;
  },
  close: () => file.close(),
});

interface Placed {
  readonly facts: BlockFacts;
  /** In the section. */
  readonly start: number;
}

function blocksIn(entries: Buffer): ReadonlyMap<string, Placed> {
  const blocks = new Map<string, Placed>();
  let start = 0;
  for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
    const numbers = at + ID_DIGITS;
    const facts: BlockFacts = {
      id: entries.toString('latin1', at, numbers),
      byteLength: entries.readUInt32LE(numbers),
      textBytes: entries.readUInt32LE(numbers + 4),
      checksum: entries.readUInt32LE(numbers + 8),
      contentChecksum: entries.readUInt32LE(numbers + 12),
    };
    blocks.set(facts.id, { facts, start });
    start += facts.byteLength;
  }
  return blocks;
}

/** Writes the list for a snapshot that is in its place. A list that is lost costs the next build time and nothing else. */
export function writeBlockIndex(listPath: string, snapshotPath: string, blocks: readonly BlockFacts[]): void {
  const file = openSnapshotFile(snapshotPath);
  const list = Buffer.alloc(HEAD_BYTES + blocks.length * ENTRY_BYTES);
  try {
    const { byteLength } = readHeader(file, (reason) => new SnapshotError(reason));
    list.writeUInt32LE(markOf(file.read(0, byteLength)), MAGIC.length + 4);
  } finally {
    file.close();
  }
  let at = HEAD_BYTES;
  for (const { id, byteLength, textBytes, checksum, contentChecksum } of blocks) {
    at += list.write(id, at, 'latin1');
    for (const number of [byteLength, textBytes, checksum, contentChecksum]) at = list.writeUInt32LE(number, at);
  }
  MAGIC.copy(list);
  list.writeUInt32LE(checksumOf(list.subarray(MAGIC.length + 4)), MAGIC.length);
  const temporary = `${listPath}.tmp`;
  writeFileSync(temporary, list);
  renameSync(temporary, listPath);
}
