import { describe, expect, it } from 'vitest';
import { readAtMost } from '../../src/base/bounded-stream.ts';

/** A stream of chunks of one byte that are made as they are read. */
function endlessBytes(): { stream: ReadableStream<Uint8Array>; pulledCount: () => number } {
  let count = 0;
  const pull = (to: ReadableStreamDefaultController<Uint8Array>): void => to.enqueue(new Uint8Array([count++]));
  return { stream: new ReadableStream({ pull }, { highWaterMark: 0 }), pulledCount: () => count };
}

describe('a stream that is read up to a bound', () => {
  function read(chunks: readonly string[], bytesMax: number): Promise<Uint8Array | undefined> {
    const stream = new ReadableStream<Uint8Array>({
      start(to) {
        for (const chunk of chunks) to.enqueue(Buffer.from(chunk));
        to.close();
      },
    });
    return readAtMost(stream.getReader(), bytesMax);
  }

  it.each([
    { chunks: [], bytesMax: 0, found: '' },
    { chunks: ['abc'], bytesMax: 3, found: 'abc' },
    { chunks: ['ab', 'c'], bytesMax: 3, found: 'abc' },
    { chunks: ['abc'], bytesMax: 2, found: undefined },
    { chunks: ['ab', 'c'], bytesMax: 2, found: undefined },
    { chunks: ['a', '', 'bc', 'd'], bytesMax: 4, found: 'abcd' },
  ])('of $bytesMax bytes gives $found for $chunks', async ({ chunks, bytesMax, found }) => {
    const bytes = await read(chunks, bytesMax);
    expect(bytes && Buffer.from(bytes).toString()).toBe(found);
  });

  it('is left within one chunk after the bound, though it never ends', async () => {
    const { stream, pulledCount } = endlessBytes();
    expect(await readAtMost(stream.getReader(), 5)).toBeUndefined();
    expect(pulledCount()).toBe(6);
  });
});
