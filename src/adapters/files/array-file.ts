/**
 * A file of JSON and typed arrays that can be computed again: written to a temporary file and renamed, with a checksum
 * over everything, so that a reader gets all of it or nothing.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { aligned, checksumOf } from '../../catalogue/snapshot/layout.ts';

const KINDS = { u8: Uint8Array, u32: Uint32Array, f64: Float64Array } as const;
type Kind = keyof typeof KINDS;
type Arrays = Readonly<Record<string, Uint8Array | Uint32Array | Float64Array>>;

/** Magic, checksum of what follows, length of the JSON. */
const HEAD_BYTES = 16;

export interface ArrayFile {
  readonly json: unknown;
  /** Views of one buffer. */
  readonly arrays: Arrays;
}

function kindOf(array: Arrays[string]): Kind {
  return array instanceof Uint8Array ? 'u8' : array instanceof Uint32Array ? 'u32' : 'f64';
}

/** @param magic 8 characters, which name the format and its version @throws what the file system throws */
export function writeArrayFile(path: string, magic: string, { arrays, json }: ArrayFile): void {
  const sections = Object.entries(arrays).map(([name, array]) => [name, kindOf(array), array.length] as const);
  const text = Buffer.from(JSON.stringify({ json, sections }));
  let length = aligned(HEAD_BYTES + text.length);
  for (const array of Object.values(arrays)) length = aligned(length + array.byteLength);
  const file = Buffer.alloc(length);
  file.write(magic, 'latin1');
  file.writeUInt32LE(text.length, 12);
  text.copy(file, HEAD_BYTES);
  let at = aligned(HEAD_BYTES + text.length);
  for (const { buffer, byteLength, byteOffset } of Object.values(arrays)) {
    file.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at = aligned(at + byteLength);
  }
  file.writeUInt32LE(checksumOf(file.subarray(12)), 8);
  const temporary = `${path}.tmp`;
  writeFileSync(temporary, file);
  renameSync(temporary, path);
}

/** @returns undefined when there is no such file, or it is not whole */
export function readArrayFile(path: string, magic: string): ArrayFile | undefined {
  let file: Buffer;
  try {
    file = readFileSync(path);
  } catch {
    return undefined;
  }
  const isWhole =
    file.length >= HEAD_BYTES &&
    file.toString('latin1', 0, 8) === magic &&
    file.readUInt32LE(8) === checksumOf(file.subarray(12));
  if (!isWhole) return undefined;
  // A copy: a small file may lie anywhere in a buffer pool, where numbers are not aligned.
  const { buffer } = new Uint8Array(file);
  const textEnd = HEAD_BYTES + file.readUInt32LE(12);
  const { json, sections } = JSON.parse(file.toString('utf8', HEAD_BYTES, textEnd)) as {
    json: unknown;
    sections: [string, Kind, number][];
  };
  const arrays: Record<string, Arrays[string]> = {};
  let at = aligned(textEnd);
  for (const [name, kind, length] of sections) {
    const array = new KINDS[kind](buffer, at, length);
    arrays[name] = array;
    at = aligned(at + array.byteLength);
  }
  return { json, arrays };
}
