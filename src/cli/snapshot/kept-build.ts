/**
 * What the last build of a catalogue leaves for the next one, in a list in the catalogue's folder: the job of each row,
 * the state of the catalogue, digests of the texts, and the contents of each block. The snapshot has the rest
 * (earlier.ts). The list is valid only for that very snapshot and the same release, compressor and catalogue; without a
 * valid list a build starts from nothing.
 */
import { hash } from 'node:crypto';
import { readArrayFile, writeArrayFile } from '../../adapters/files/array-file.ts';
import { openSnapshotFile } from '../../adapters/files/snapshot-file.ts';
import { VERSION } from '../../base/version.ts';
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import type { BlockFacts } from '../../catalogue/packed/block-packer.ts';
import type { FinishedSnapshot } from '../../catalogue/snapshot/build.ts';
import { gathered, grown } from '../../catalogue/snapshot/column-arrays.ts';
import { EarlierSnapshot } from '../../catalogue/snapshot/earlier.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import type { ChangeMark } from '../../storage/history/jobs-to-build.ts';

/** The version of the list and of the rules for packing texts into blocks. */
const MAGIC = 'pgkept 1';
/** Another release may write other bytes for the same job, and another compressor for the same text. */
const WRITER = `${VERSION} ${process.versions.zstd ?? ''} ${process.versions.bun ?? ''}`;
const ID_DIGITS = 16;

/** What determines a job's company: the serial of its board, its recorded company and its recorded domain. */
export type Origin = readonly [board: number, company: string, domain: CompanyDomain | null];

/** Which jobs of the catalogue were added to a builder, by ordinal. */
export class AddedJobs {
  serials = new Uint32Array(1024);
  /** Number in `origins`. */
  origins = new Uint32Array(1024);
  /** Time of the latest feed that had the job, without its repeats. */
  presentMs = new Float64Array(1024);
  readonly allOrigins: Origin[] = [];
  /** Serials of the jobs that were not selected. */
  readonly leftOut: number[] = [];
  readonly #numbers = new Map<string, number>();
  /** By serial: ordinal plus 1; 0 = not added. */
  #ordinals = new Uint32Array(1024);

  originOf(...origin: Origin): number {
    const key = JSON.stringify(origin);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.allOrigins.push(origin) - 1;
      this.#numbers.set(key, number);
    }
    return number;
  }

  add(ordinal: number, serial: number, origin: number, presentMs: number): void {
    if (ordinal === this.serials.length) {
      this.serials = grown(this.serials);
      this.origins = grown(this.origins);
      this.presentMs = grown(this.presentMs);
    }
    while (serial >= this.#ordinals.length) this.#ordinals = grown(this.#ordinals);
    this.serials[ordinal] = serial;
    this.origins[ordinal] = origin;
    this.presentMs[ordinal] = presentMs;
    this.#ordinals[serial] = ordinal + 1;
  }

  /** @returns undefined for a job that was not added */
  ordinalOf(serial: number): number | undefined {
    const entry = this.#ordinals[serial] ?? 0;
    return entry === 0 ? undefined : entry - 1;
  }
}

interface Facts {
  readonly mark: string;
  readonly change: ChangeMark;
  readonly keepsDescriptions: boolean;
  readonly origins: readonly Origin[];
}

/** By row of the snapshot, as in `AddedJobs` and `FinishedSnapshot`. */
export interface KeptRows {
  readonly serials: Uint32Array;
  readonly origins: Uint32Array;
  readonly presentMs: Float64Array;
  readonly digestKeys: Float64Array;
  readonly descriptionDigests: Uint32Array;
}

export interface KeptBuild extends Facts {
  readonly snapshot: EarlierSnapshot;
  readonly rows: KeptRows;
  readonly eventDigests: Uint32Array;
  readonly leftOut: Uint32Array;
  close(): void;
}

const markOf = (headerBytes: Uint8Array): string =>
  hash('sha256', Buffer.concat([Buffer.from(WRITER), headerBytes]), 'hex');

/** @returns undefined when there is no snapshot, or no list that is valid for it */
export function openKeptBuild(
  listPath: string,
  snapshotPath: string,
  keepsDescriptions: boolean,
): KeptBuild | undefined {
  const list = readArrayFile(listPath, MAGIC);
  if (list === undefined) return undefined;
  const facts = list.json as Facts;
  const { blockIds, blockNumbers, eventDigests, leftOut, ...rows } = list.arrays as unknown as KeptRows &
    Record<'blockIds', Uint8Array> &
    Record<'blockNumbers' | 'eventDigests' | 'leftOut', Uint32Array>;
  let close = (): void => {};
  try {
    const file = openSnapshotFile(snapshotPath);
    close = () => file.close();
    const snapshot = new EarlierSnapshot(file);
    if (facts.keepsDescriptions === keepsDescriptions && facts.mark === markOf(snapshot.headerBytes())) {
      snapshot.useBlocks(blocksIn(blockIds, blockNumbers));
      return { ...facts, snapshot, rows, eventDigests, leftOut, close };
    }
  } catch (error) {
    close();
    if (!(error instanceof SnapshotError)) throw error;
    return undefined;
  }
  close();
  return undefined;
}

function blocksIn(ids: Uint8Array, numbers: Uint32Array): BlockFacts[] {
  const text = Buffer.from(ids.buffer, ids.byteOffset, ids.length).toString('latin1');
  return Array.from({ length: text.length / ID_DIGITS }, (_, block) => ({
    id: text.slice(block * ID_DIGITS, (block + 1) * ID_DIGITS),
    byteLength: numbers[block * 4]!,
    textBytes: numbers[block * 4 + 1]!,
    checksum: numbers[block * 4 + 2]!,
    contentChecksum: numbers[block * 4 + 3]!,
  }));
}

/**
 * Writes the list for a snapshot already in place, even if another build has replaced it since. A lost list only costs
 * the next build time.
 */
export function keepBuild(
  listPath: string,
  { blocks, descriptionDigests, digestKeys, eventDigests, headerBytes, order }: FinishedSnapshot,
  added: AddedJobs,
  facts: Pick<Facts, 'change' | 'keepsDescriptions'>,
): void {
  const json: Facts = { ...facts, mark: markOf(headerBytes), origins: added.allOrigins };
  const rows: KeptRows = {
    serials: gathered(added.serials, order),
    origins: gathered(added.origins, order),
    presentMs: gathered(added.presentMs, order),
    digestKeys,
    descriptionDigests,
  };
  const arrays = {
    ...rows,
    eventDigests,
    leftOut: Uint32Array.from(added.leftOut),
    blockIds: new Uint8Array(Buffer.from(blocks.map(({ id }) => id).join(''), 'latin1')),
    blockNumbers: Uint32Array.from(
      blocks.flatMap(({ byteLength, checksum, contentChecksum, textBytes }) => [
        byteLength,
        textBytes,
        checksum,
        contentChecksum,
      ]),
    ),
  };
  writeArrayFile(listPath, MAGIC, { json, arrays });
}
