/** What is kept of a body while it comes. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { BodyTooLargeError, readBody, unpackAtOnce } from '../../../src/adapters/outbound/unpack.ts';
import type { Coding } from '../../../src/outbound/codings.ts';

const BOUNDS = { wireBytesMax: 1000, unpackedBytesMax: 1000 };

const sumOf = (lengths: readonly number[]): number => lengths.reduce((sum, length) => sum + length, 0);

/** Bytes one at a time, each in the place of the one before. */
async function* oneByOne(text: string): AsyncGenerator<Uint8Array> {
  const place = new Uint8Array(1);
  for (const byte of Buffer.from(text)) {
    place[0] = byte;
    yield place;
  }
}

describe('a body in tiny pieces', () => {
  it.each([1000, null])(
    'is copied as it comes, so that no piece is kept (at most %j bytes unpacked) (reliability 230)',
    async (unpackedBytesMax) => {
      const { bytes } = await readBody(oneByOne('a body'), [], { ...BOUNDS, unpackedBytesMax });
      expect(Buffer.from(bytes).toString()).toBe('a body');
    },
  );

  it('takes no more memory than it has bytes', async () => {
    const { bytes } = await readBody(oneByOne('a body'), [], BOUNDS);
    expect(bytes.buffer.byteLength).toBe(6);
  });

  it.each([1000, null])(
    'takes no memory for a length that is only said (at most %j unpacked)',
    async (unpackedBytesMax) => {
      for (const lengthHint of [0, 6, 2 ** 50]) {
        const bounds = { ...BOUNDS, unpackedBytesMax };
        const { bytes } = await readBody(oneByOne('a body'), [], bounds, lengthHint);
        expect(Buffer.from(bytes).toString()).toBe('a body');
        expect(bytes.buffer.byteLength).toBeLessThanOrEqual(1000);
      }
    },
  );
});

describe('a body on the wire', () => {
  it.each([
    [[600, 400], 1000, false],
    [[600, 401], 1000, true],
    [[600, 400, 1], 1000, true],
    [[1001], 1000, true],
    [[], 0, false],
  ])('of pieces of %j bytes gives %d, cut: %s, and is read no further', async (lengths, length, isTruncated) => {
    let readCount = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      for (const each of [...lengths, ...(isTruncated ? [1] : [])]) {
        readCount++;
        yield new Uint8Array(each).fill(7);
      }
    }
    for (const unpackedBytesMax of [null, 1000]) {
      readCount = 0;
      const body = await readBody(source(), [], { ...BOUNDS, unpackedBytesMax });
      expect([body.bytes, body.isTruncated, readCount]).toEqual([
        new Uint8Array(length).fill(7),
        isTruncated,
        lengths.length,
      ]);
    }
  });
});

describe.each<[string, Coding, (text: string) => Buffer]>([
  ['gzip', 'gzip', gzipSync],
  ['x-gzip', 'x-gzip', gzipSync],
  ['deflate', 'deflate', deflateSync],
  ['deflate without its frame', 'deflate', deflateRawSync],
  ['br', 'br', brotliCompressSync],
])('a body as %s', (_, coding, pack) => {
  const text = Array.from({ length: 200 }, (_, i) => (i * i).toString(36))
    .join('')
    .slice(0, 500);
  async function* inParts(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 50) yield bytes.subarray(at, at + 50);
  }
  const read = async (packed: Uint8Array, bounds: object = {}): Promise<string> =>
    Buffer.from((await readBody(inParts(packed), [coding], { ...BOUNDS, ...bounds })).bytes).toString();
  const unpack = (packed: Uint8Array, bytesMax: number, isWhole = true): string =>
    Buffer.from(unpackAtOnce(packed, [coding], { bytesMax, isWhole })).toString();

  it('is unpacked up to its bound and not beyond, in parts and in one', async () => {
    expect([await read(pack(text), { unpackedBytesMax: 500 }), unpack(pack(text), 500)]).toEqual([text, text]);
    const parts: number[] = [];
    const onPart = async (bytes: number): Promise<void> => void parts.push(bytes);
    await expect(read(pack(text), { unpackedBytesMax: 499, onPart })).rejects.toThrow(BodyTooLargeError);
    expect(sumOf(parts.splice(0))).toBeLessThan(500);
    await read(pack(text), { onPart });
    expect(sumOf(parts)).toBe(500);
    const noRoom = () => Promise.reject(new Error('no room'));
    await expect(read(pack(text), { onPart: noRoom })).rejects.toThrow('no room');
    expect(() => unpack(pack(text), 499)).toThrow(BodyTooLargeError);
  });

  it('gives what came before our cut, unless it has to be whole', async () => {
    const wireBytesMax = pack(text).length - 20;
    const cut = pack(text).subarray(0, -20);
    for (const given of [await read(pack(text), { wireBytesMax }), unpack(cut, 1000, false)]) {
      expect(text.startsWith(given) && given !== '').toBe(true);
    }
    await expect(read(pack(text), { wireBytesMax, isWhole: true })).rejects.toThrow();
    expect(await read(pack(text), { isWhole: true })).toBe(text);
    expect([await read(Buffer.of()), unpack(Buffer.of(), 1000)]).toEqual(['', '']);
  });

  it('that ends early by itself is none', async () => {
    for (const missing of [1, 20]) {
      const early = pack(text).subarray(0, -missing);
      await expect(read(early)).rejects.toThrow();
      expect(() => unpack(early, 1000)).toThrow('unexpected end of file');
    }
  });
});
