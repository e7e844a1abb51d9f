/**
 * Inputs as streams of members: a plain file is one member, an archive has one for each regular file in it. The first
 * bytes of an input, never its name, decide how to read it: gzip (RFC 1952) by its magic number, tar (POSIX ustar,
 * pax), plain or inside gzip, by the magic at offset 257. Inputs are read on demand and nothing stays in memory.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { dateInName } from '../../base/date-time.ts';
import { errorCodeOf } from '../../base/failure.ts';
import { printable } from '../../base/printable.ts';
import { TarError, tarEntries } from './tar.ts';

/** An input that cannot be read. The message is one line for the operator. */
export class InputError extends Error {}

/** An input breaks off. All bytes or records before the break were delivered. */
export class CutShortError extends InputError {
  /** Without the input's name. */
  readonly reason: string;

  constructor(name: string, reason: string) {
    super(`${name}: ${reason}`);
    this.reason = reason;
  }
}

/** A member is cut short, and the records before the cut were taken. */
export class BrokenOffError extends InputError {
  readonly takenCount: number;

  /** @param place of the incomplete record */
  constructor(place: string, reason: string, takenCount: number) {
    super(`${place}: breaks off: ${reason}`);
    this.takenCount = takenCount;
  }
}

/** Chunks owned by the reader: their source does not write into them again. */
export type Bytes = AsyncIterable<Uint8Array>;

export interface Member {
  /** The path as the command line has it, `stdin`, or `archive:member`; control characters as escapes. */
  readonly name: string;
  /** Path of the archive that contains it; absent outside of one. */
  readonly archive?: string;
  /** The last part of the member's own path, unchanged; null for stdin. */
  readonly fileName: string | null;
  /** The reader must read these to their end before it asks for the next member. */
  readonly bytes: Bytes;
}

/** The date in the name of a member, else in that of its archive, as a time in UTC; null for none. */
export function timeInNameOf({ fileName, archive }: Member): number | null {
  return dateInName(fileName ?? '') ?? dateInName((archive ?? '').slice((archive ?? '').lastIndexOf('/') + 1));
}

export interface InputProgress {
  /** Bytes read from the inputs so far, as they are on disk. */
  bytesRead: number;
  /** Bytes in all inputs, or null when one of them has no size (a pipe). */
  readonly bytesTotal: number | null;
}

/** Bytes of one read: large enough that a million lines take about a thousand reads. */
const READ_BYTES = 256 * 1024;
/** Compressed bytes that are unpacked at once: deflate yields at most about a thousand bytes for one. */
const PACKED_BYTES = 16 * 1024;
/** The tar magic ends here. */
const HEAD_BYTES = 262;
const TAR_MAGIC_AT = 257;

/** The path that means stdin. */
export const STDIN = '-';

/** The name of an input by its path on the command line: control characters as escapes, or `stdin`. */
export const inputName = (path: string): string =>
  path === STDIN ? 'stdin' : printable(path, Number.POSITIVE_INFINITY);

function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

function isTar(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(TAR_MAGIC_AT, HEAD_BYTES)).toString('latin1') === 'ustar';
}

export interface Peeked {
  readonly head: Buffer;
  /** The head is the whole input, or all of it before a failure, which `whole` then throws. */
  readonly isComplete: boolean;
  /** All bytes, including the head. */
  readonly whole: Bytes;
}

/** Reads `byteCount` bytes ahead, rounded up to a whole chunk, or to the end. */
export async function peek(bytes: Bytes, byteCount: number): Promise<Peeked> {
  const source = bytes[Symbol.asyncIterator]();
  const taken: Uint8Array[] = [];
  let length = 0;
  let isComplete = false;
  let failure: { readonly error: unknown } | undefined;
  while (length < byteCount && !isComplete) {
    try {
      const next = await source.next();
      if (next.done) {
        isComplete = true;
      } else {
        taken.push(next.value);
        length += next.value.length;
      }
    } catch (error) {
      isComplete = true;
      failure = { error };
    }
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    try {
      yield* taken;
      if (failure !== undefined) throw failure.error;
      for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
    } finally {
      await source.return?.();
    }
  }
  return { head: Buffer.concat(taken), isComplete, whole: whole() };
}

/** The bytes; a failure on the way becomes an InputError of one line. */
async function* named(name: string, bytes: Bytes): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    if (error instanceof InputError) throw error;
    const code = errorCodeOf(error);
    throw new InputError(`${name}: cannot be read${code === undefined ? '' : ` (${code})`}`, { cause: error });
  }
}

/**
 * The unpacked bytes. Each piece is unpacked before the next is written, and `end` is called last: a piped stream would
 * lose unpacked but undelivered bytes when the data ends early.
 * @throws CutShortError after the last byte that could be unpacked, and what `bytes` throws
 */
async function* gunzipped(name: string, bytes: Bytes): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: READ_BYTES });
  let unpacked: Uint8Array[] = [];
  gunzip.on('data', (chunk: Uint8Array) => unpacked.push(chunk));
  const failed = new Promise<never>((_resolve, reject) => gunzip.once('error', reject));
  failed.catch(() => {});
  // Registered before the first write: zeros after the data end the stream long before `end` is called.
  const ended = new Promise<void>((resolve) => gunzip.once('end', resolve));
  const takeAll = (): Uint8Array[] => {
    const taken = unpacked;
    unpacked = [];
    return taken;
  };
  let writtenBytes = 0;
  try {
    for await (const chunk of bytes) {
      for (let at = 0; at < chunk.length; at += PACKED_BYTES) {
        const piece = chunk.subarray(at, at + PACKED_BYTES);
        const written = new Promise<void>((resolve) => gunzip.write(piece, () => resolve()));
        await orCutShort(name, Promise.race([written, failed]));
        yield* takeAll();
        // Bytes that the stream leaves unread follow the data. Zeros are padding from tapes and disks.
        const unread = piece.subarray(Math.max(0, gunzip.bytesWritten - writtenBytes));
        if (unread.some((byte) => byte !== 0)) throw new CutShortError(name, GZIP_TROUBLE);
        writtenBytes += piece.length;
      }
    }
    gunzip.end();
    await orCutShort(name, Promise.race([ended, failed]));
    yield* takeAll();
  } finally {
    gunzip.destroy();
  }
}

const GZIP_TROUBLE = 'the gzip data is damaged or cut short';

async function orCutShort(name: string, done: Promise<void>): Promise<void> {
  try {
    await done;
  } catch {
    throw new CutShortError(name, GZIP_TROUBLE);
  }
}

const TAR_TROUBLE = 'the tar archive is damaged or cut short';

/** Passes on bytes of an archive or member; adds their name to a break. */
async function* cutAs<Item>(name: string, items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (error) {
    if (error instanceof TarError) throw new CutShortError(name, TAR_TROUBLE);
    throw error instanceof CutShortError ? new CutShortError(name, error.reason) : error;
  }
}

async function* unpacked(archive: string, bytes: Bytes): AsyncGenerator<Member> {
  for await (const entry of cutAs(archive, tarEntries(bytes))) {
    const fileName = entry.name.slice(entry.name.lastIndexOf('/') + 1);
    const name = `${archive}:${printable(entry.name)}`;
    yield { name, archive, fileName, bytes: cutAs(name, entry.bytes) };
  }
}

/** The members of one stream. `fileName` is null for stdin. */
async function* membersOf(name: string, fileName: string | null, bytes: Bytes): AsyncGenerator<Member> {
  const raw = await peek(bytes, HEAD_BYTES);
  const plain = isGzip(raw.head) ? await peek(gunzipped(name, raw.whole), HEAD_BYTES) : raw;
  if (isTar(plain.head)) yield* unpacked(name, plain.whole);
  else yield { name, fileName, bytes: plain.whole };
}

/** Inputs whose names were all checked before the first was read, so that a misspelt one costs nothing. */
export interface Inputs {
  readonly progress: InputProgress;
  /** To be read one after another. */
  readonly files: readonly InputFile[];
}

export interface InputFile {
  /** As {@link inputName}. */
  readonly name: string;
  members(): AsyncGenerator<Member>;
}

/**
 * @param paths file names, or `-` for stdin; none at all is stdin
 * @param streams bytes for paths that are not opened here: stdin, and inputs that were read ahead
 * @throws InputError when a file is missing, a directory or not readable
 */
export async function openInputs(paths: readonly string[], streams: ReadonlyMap<string, Bytes>): Promise<Inputs> {
  const names = paths.length === 0 ? [STDIN] : paths;
  let bytesTotal: number | null = 0;
  for (const path of names) {
    if (path === STDIN) {
      bytesTotal = null;
      continue;
    }
    const facts = await stat(path).catch((error: unknown) => {
      const code = errorCodeOf(error);
      const missing = code === 'ENOENT' || code === 'ENOTDIR';
      throw new InputError(
        `${printable(path)}: ${missing ? 'there is no such file' : `cannot be opened (${code ?? 'unknown failure'})`}`,
        { cause: error },
      );
    });
    if (facts.isDirectory()) {
      throw new InputError(
        `${printable(path)} is a directory: name the files in it, for example ${printable(path.replace(/\/+$/, ''))}/*`,
      );
    }
    bytesTotal = bytesTotal === null || !facts.isFile() ? null : bytesTotal + facts.size;
  }
  const progress: InputProgress = { bytesRead: 0, bytesTotal };

  async function* counted(bytes: Bytes): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      progress.bytesRead += chunk.length;
      yield chunk;
    }
  }

  const files = names.map((path): InputFile => {
    const isStdin = path === STDIN;
    const name = inputName(path);
    return {
      name,
      members() {
        const source: Bytes = streams.get(path) ?? createReadStream(path, { highWaterMark: READ_BYTES });
        const fileName = isStdin ? null : path.slice(path.lastIndexOf('/') + 1);
        return membersOf(name, fileName, counted(named(name, source)));
      },
    };
  });
  return { progress, files };
}
