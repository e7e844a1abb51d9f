/** What is kept of a body while it comes. */
import { describe, expect, it } from 'vitest';
import { readBody } from '../../../src/adapters/outbound/unpack.ts';

const BOUNDS = { wireBytesMax: 1000, unpackedBytesMax: 1000 };

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
});
