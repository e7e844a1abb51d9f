/** Archives as another implementation packs them (modern-tar), in pieces of any size, whole and cut anywhere. */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { packTar } from 'modern-tar';
import { describe, expect, it } from 'vitest';
import { TarFault, tarEntries } from '../../../src/ingest/input/tar.ts';

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
    expect(failure).toBeInstanceOf(TarFault);
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
