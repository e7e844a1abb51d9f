/**
 * Tar archives as streams of files: POSIX ustar and pax (IEEE Std 1003.1, pax interchange format), and GNU's long names
 * and large sizes. A truncated archive yields all bytes before the cut, then fails. Memory: one chunk of the source,
 * and one header.
 */
import { MIB } from '../../base/sizes.ts';

/** The archive is damaged or cut short. */
export class TarError extends Error {}

export interface TarEntry {
  /** Path in the archive. */
  readonly name: string;
  /** The caller may leave them unread. */
  readonly bytes: AsyncGenerator<Uint8Array, void, void>;
}

const BLOCK_BYTES = 512;
/** Bytes of a pax header or a long name: far more than any path. */
const EXTENDED_BYTES_MAX = MIB;
/** Offset of the checksum; in its own sum it counts as blanks. */
const CHECKSUM_AT = 148;
const CHECKSUM_BYTES = 8;

/** Reads a source by counts of bytes. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#chunks = bytes[Symbol.asyncIterator]();
  }

  /** Views of the next `count` bytes. @throws TarError if the source ends first, after its last byte */
  async *take(count: number): AsyncGenerator<Uint8Array, void, void> {
    for (let left = count; left > 0; ) {
      if (this.#rest.length === 0 && !(await this.#more())) throw new TarError();
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  /** The next `count` bytes as one array. @throws TarError when there are fewer */
  async whole(count: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const part of this.take(count)) parts.push(part);
    return Buffer.concat(parts);
  }

  async hasMore(): Promise<boolean> {
    return this.#rest.length > 0 || (await this.#more());
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #more(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done) return false;
      this.#rest = next.value;
    }
    return true;
  }
}

/** Text up to the first NUL. */
function textIn(block: Buffer, from: number, length: number): string {
  const field = block.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? length : end).toString('utf8');
}

/** A number in octal digits, or in base 256 where the first bit is set (GNU). @throws TarError */
function numberIn(block: Buffer, from: number, length: number): number {
  const field = block.subarray(from, from + length);
  if ((field[0]! & 0x80) !== 0) {
    const value = field.reduce((sum, byte, at) => sum * 256 + (at === 0 ? byte & 0x7f : byte), 0);
    if (Number.isSafeInteger(value)) return value;
    throw new TarError();
  }
  const text = field
    .toString('latin1')
    .replace(/[\0 ]+$/, '')
    .trimStart();
  if (!/^[0-7]*$/.test(text)) throw new TarError();
  return text === '' ? 0 : Number.parseInt(text, 8);
}

function isSound(block: Buffer): boolean {
  let sum = CHECKSUM_BYTES * 0x20;
  for (let i = 0; i < BLOCK_BYTES; i++) {
    if (i < CHECKSUM_AT || i >= CHECKSUM_AT + CHECKSUM_BYTES) sum += block[i]!;
  }
  return numberIn(block, CHECKSUM_AT, CHECKSUM_BYTES) === sum;
}

/** Records `length key=value\n` of a pax header. @throws TarError */
function paxRecords(bytes: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(0x20, at);
    const length = Number(bytes.subarray(at, blank).toString('latin1'));
    const record = bytes.subarray(blank + 1, at + length - 1).toString('utf8');
    const equals = record.indexOf('=');
    if (blank === -1 || !(length > blank - at) || at + length > bytes.length || equals === -1) throw new TarError();
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

const padded = (size: number): number => Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;

interface Header {
  readonly name: string;
  readonly size: number;
  readonly type: string;
}

/** @throws TarError */
function headerOf(block: Buffer): Header {
  if (!isSound(block)) throw new TarError();
  const isPosix = block.subarray(257, 263).toString('latin1') === 'ustar\0';
  const prefix = isPosix ? textIn(block, 345, 155) : '';
  const own = textIn(block, 0, 100);
  return {
    name: prefix === '' ? own : `${prefix}/${own}`,
    size: numberIn(block, 124, 12),
    type: String.fromCharCode(block[156]!),
  };
}

/** The path and size that extended headers state for the next entry, or for all further ones. */
class Extended {
  #global: ReadonlyMap<string, string> = new Map();
  #next: ReadonlyMap<string, string> = new Map();

  /** @returns whether the header is an extended one, which this reads @throws TarError */
  async read(header: Header, source: ByteSource): Promise<boolean> {
    if (!'xgLK'.includes(header.type)) return false;
    if (header.size > EXTENDED_BYTES_MAX) throw new TarError();
    const bytes = (await source.whole(padded(header.size))).subarray(0, header.size);
    if (header.type === 'g') this.#global = new Map([...this.#global, ...paxRecords(bytes)]);
    if (header.type === 'x') this.#next = new Map([...this.#next, ...paxRecords(bytes)]);
    if (header.type === 'L') this.#next = new Map([...this.#next, ['path', textIn(bytes, 0, bytes.length)]]);
    return true;
  }

  /** The header with the stated path and size. @throws TarError */
  applied({ name, size, type }: Header): Header {
    const stated = new Map([...this.#global, ...this.#next]);
    this.#next = new Map();
    const sizeText = stated.get('size');
    if (sizeText !== undefined && !/^[0-9]{1,15}$/.test(sizeText)) throw new TarError();
    return { name: stated.get('path') ?? name, size: sizeText === undefined ? size : Number(sizeText), type };
  }
}

/**
 * The regular files of an archive. The bytes of an entry must be read before the next entry is asked for; unread bytes
 * are skipped. Ends silently after an entry whose bytes failed, because its reader saw the failure.
 * @throws TarError, and what the source throws
 */
export async function* tarEntries(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void, void> {
  const source = new ByteSource(bytes);
  const extended = new Extended();
  try {
    while (await source.hasMore()) {
      const block = await source.whole(BLOCK_BYTES);
      if (block.every((byte) => byte === 0)) return;
      const found = headerOf(block);
      if (await extended.read(found, source)) continue;
      const header = extended.applied(found);
      const content = source.take(header.size);
      let hasFailed = false;
      const own = (async function* (): AsyncGenerator<Uint8Array, void, void> {
        try {
          for (let next = await content.next(); !next.done; next = await content.next()) yield next.value;
        } catch (failure) {
          hasFailed = true;
          throw failure;
        }
      })();
      if (header.type === '0' || header.type === '\0' || header.type === '7') yield { name: header.name, bytes: own };
      if (hasFailed) return;
      for (let next = await content.next(); !next.done; next = await content.next());
      for await (const _ of source.take(padded(header.size) - header.size));
    }
    throw new TarError(); // an archive ends with blocks of zeros
  } finally {
    await source.close();
  }
}
