/** Archives as another implementation packs them (modern-tar), in pieces of any size, whole and cut anywhere. */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { packTar } from 'modern-tar';
import { describe, expect, it } from 'vitest';
import { TarError, tarEntries } from '../../../src/ingest/input/tar.ts';

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What an archive gives out, and whether it failed. */
async function read(bytes: Uint8Array, size: number): Promise<{ files: [string, string][]; isCut: boolean }> {
  const files: [string, string][] = [];
  try {
    for await (const { name, bytes: content } of tarEntries(pieces(bytes, size))) {
      const file: [string, string] = [name, ''];
      files.push(file);
      for await (const chunk of content) file[1] += Buffer.from(chunk).toString('latin1');
    }
    return { files, isCut: false };
  } catch (failure) {
    expect(failure).toBeInstanceOf(TarError);
    return { files, isCut: true };
  }
}

const name = fc.oneof(
  fc.stringMatching(/^[a-z]{1,20}$/),
  fc.stringMatching(/^[a-z]{60,90}\/[a-z]{60,90}$/),
  fc.stringMatching(/^[a-zäöü]{120,200}$/),
);
const archive = fc
  .array(fc.tuple(name, fc.integer({ min: 0, max: 1500 })), { minLength: 1, maxLength: 4 })
  .map((files) =>
    files.map(([path, length], i) => [`${i}${path}`, 'abcdefgh'.repeat(200).slice(0, length)] as [string, string]),
  );
const packed = (files: readonly [string, string][]): Promise<Uint8Array> =>
  packTar(files.map(([path, body]) => ({ header: { name: path, size: body.length }, body })));

interface Fields {
  readonly name?: string;
  readonly size?: Uint8Array | string;
  readonly type?: string;
  readonly magic?: string;
}

/** One entry as any writer may have it; the prefix is always there. */
function entry(body: string, { name = 'own', size, type = '0', magic = 'ustar\0' }: Fields = {}): Buffer {
  const header = Buffer.alloc(512);
  const content = Buffer.from(body);
  header.write(name, 0);
  header.set(Buffer.from(size ?? content.length.toString(8)), 124);
  header.write(' '.repeat(8) + type, 148, 'latin1');
  header.write(magic, 257, 'latin1');
  header.write('before', 345);
  header.write(`${header.reduce((sum, byte) => sum + byte, 0).toString(8)}\0`, 148);
  return Buffer.concat([header, content, Buffer.alloc(-content.length & 511)]);
}

const END = Buffer.alloc(512);
const FILE = entry('text');
const READ = ['before/own', 'text'] as const;
/** Base 256, as GNU writes it from 8 GB on. */
const wide = (...bytes: readonly number[]): Uint8Array => Uint8Array.from([0x80, ...bytes]);
const pax = (key: string, value: string): string => {
  const length = Buffer.byteLength(`${key}=${value}`) + 4;
  return `${length} ${key}=${value}\n`;
};

describe('headers of a tar', () => {
  it.each<[string, readonly Buffer[], readonly (readonly [string, string])[]]>([
    ['a prefix', [FILE], [READ]],
    ['no prefix without its magic', [entry('text', { magic: 'ustar ' })], [['own', 'text']]],
    [
      'a wide size',
      [entry('x'.repeat(258), { size: wide(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2) })],
      [['before/own', 'x'.repeat(258)]],
    ],
    ['a size behind blanks', [entry('text', { size: '  4 \0' })], [READ]],
    ['no size', [entry('', { size: '' }), FILE], [['before/own', ''], READ]],
    [
      'files of old and contiguous types',
      [entry('a', { type: '\0' }), entry('b', { type: '7' })],
      [
        ['before/own', 'a'],
        ['before/own', 'b'],
      ],
    ],
    ['a folder and a link, which are no files', [entry('', { type: '5' }), entry('', { type: '2' }), FILE], [READ]],
    ['a long name for the next alone', [entry('long\0', { type: 'L' }), FILE, FILE], [['long', 'text'], READ]],
    ['a long name of a link', [entry('long\0', { type: 'K' }), FILE], [READ]],
    [
      'a long name before that of a link',
      [entry('long\0', { type: 'L' }), entry('link\0', { type: 'K' }), FILE],
      [['long', 'text']],
    ],
    ['a path for the next alone', [entry(pax('path', 'own=é'), { type: 'x' }), FILE, FILE], [['own=é', 'text'], READ]],
    [
      'a path for all, and one before it',
      [entry(pax('path', 'all'), { type: 'g' }), FILE, entry(pax('path', 'one'), { type: 'x' }), FILE],
      [
        ['all', 'text'],
        ['one', 'text'],
      ],
    ],
    ['a stated size', [entry(pax('size', '4'), { type: 'x' }), entry('text', { size: '0' })], [READ]],
  ])('have %s', async (_, blocks, files) => {
    expect(await read(Buffer.concat([...blocks, END]), 512)).toEqual({ files, isCut: false });
  });

  it.each<[string, Buffer]>([
    ['a size that no number holds', entry('', { size: wide(255, 255, 255, 255, 255, 255, 255, 255) })],
    ['a size that is not octal', entry('', { size: '9' })],
    ['an extended header of more than 1 MiB', entry('x'.repeat(1024 * 1024 + 1), { type: 'L' })],
    ['a record that is longer than its header', entry('99 path=a\n', { type: 'x' })],
    ['a record that is shorter than its own length', entry('2 path=a\n', { type: 'x' })],
    ['a record without a length', entry(' path=a\n', { type: 'x' })],
    ['a record without a key', entry('8 path\n\n', { type: 'x' })],
    ['a record without a blank', entry('path=a\n', { type: 'x' })],
    ['a stated size that is none', Buffer.concat([entry(pax('size', '-4'), { type: 'x' }), FILE])],
    ['a stated size that no number holds', Buffer.concat([entry(pax('size', '1'.repeat(16)), { type: 'x' }), FILE])],
  ])('are refused with %s', async (_, blocks) => {
    expect(await read(Buffer.concat([blocks, FILE, END]), 4096)).toEqual({ files: [], isCut: true });
  });
});

describe('tar', () => {
  it('gives every file with its bytes, whatever the pieces', async () => {
    await fc.assert(
      fc.asyncProperty(archive, fc.integer({ min: 1, max: 2000 }), async (files, size) => {
        expect(await read(await packed(files), size)).toEqual({ files, isCut: false });
      }),
      { numRuns: 40 },
    );
  });

  it('cut anywhere gives all bytes before the cut, and says that it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(archive, fc.double({ min: 0.01, max: 0.99, noNaN: true }), async (files, share) => {
        const whole = await packed(files);
        const end = whole.length - 1024; // two blocks of zeros end an archive; one is enough
        const cut = whole.subarray(0, Math.max(1, Math.floor(end * share)));
        const found = await read(cut, 700);
        expect(found.isCut).toBe(true);
        const given = found.files.map(([, body]) => body).join('');
        const all = files.map(([, body]) => body).join('');
        expect(all.startsWith(given)).toBe(true);
        expect(found.files.map(([path]) => path)).toEqual(files.slice(0, found.files.length).map(([path]) => path));
        // Headers and padding aside, nothing that was there is missing.
        const overhead = files.length * 2048 + 512;
        expect(given.length).toBeGreaterThan(Math.min(all.length, cut.length) - overhead - 512);
      }),
      { numRuns: 60 },
    );
  });

  it.each([0, 100, 124, 130, 148, 156, 257, 400])('refuses a header with byte %i altered', async (at) => {
    const whole = await packed([['a', 'text']]);
    const altered = Uint8Array.from(whole, (byte, i) => (i === at ? byte ^ 1 : byte));
    expect((await read(altered, 512)).isCut).toBe(true);
  });

  it('is not endless for what is no archive', async () => {
    expect((await read(gzipSync('x'.repeat(5000)), 512)).isCut).toBe(true);
    expect((await read(new Uint8Array(0), 512)).isCut).toBe(true);
  });
});
