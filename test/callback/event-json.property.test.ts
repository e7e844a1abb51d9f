/** The pieces of an answer against the text that `JSON.stringify` and one `TextDecoder` make of the whole body. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BodyForm, bodyFormOf } from '../../src/base/media-type.ts';
import type { EventPart } from '../../src/callback/event.ts';
import { type EventParts, finishedJson, JsonPieces } from '../../src/callback/event-json.ts';
import { PAYLOAD_BYTES_MAX, PIECE_BYTES_MAX } from '../../src/callback/limits.ts';
import { partOf } from '../support/whole.ts';

const HEAD = '{"id":"evt","headers":{"x-signature":"é\\"\\u0000"},"body":';

/** Every encoding of the Encoding Standard that decodes, by one label each. */
const CHARSETS = [
  ...['utf-8', 'ibm866', 'koi8-r', 'koi8-u', 'macintosh', 'x-mac-cyrillic', 'iso-8859-8-i', 'windows-874'],
  ...[2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16].map((n) => `iso-8859-${n}`),
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8].map((n) => `windows-125${n}`),
  ...['gbk', 'gb18030', 'big5', 'euc-jp', 'iso-2022-jp', 'shift_jis', 'euc-kr', 'utf-16be', 'utf-16le'],
];

const textForm = (charset: string): BodyForm => bodyFormOf(`text/plain; charset=${charset}`)!;

const whole = (form: BodyForm, bytes: Uint8Array): EventPart => ({ head: HEAD, form, sizeBytes: bytes.length, bytes });

/** Cuts the body into parts of `partBytes`; gives every second one later. */
const partsOf = (event: EventPart, partBytes: number): EventParts<never> => ({
  read(index) {
    const part = { ...event, bytes: event.bytes.subarray(index * partBytes, (index + 1) * partBytes) };
    return index % 2 === 0 ? part : Promise.resolve(part);
  },
});

interface Cuts {
  readonly partBytes: number;
  readonly pieceBytes: number;
  readonly sliceBytes: number;
}

async function piecesOf(
  segments: readonly (string | EventParts<never>)[],
  { pieceBytes, sliceBytes }: Cuts,
): Promise<Uint8Array[]> {
  const json = new JsonPieces<never>(segments, pieceBytes, sliceBytes);
  const pieces: Uint8Array[] = [];
  for (let piece = await json.next(); piece !== null; piece = await json.next()) {
    expect(piece.length).toBeGreaterThan(0);
    expect(piece.length).toBeLessThanOrEqual(pieceBytes);
    pieces.push(piece.slice());
  }
  expect(await json.next()).toBeNull();
  return pieces;
}

async function expectSame(event: EventPart, cuts: Cuts): Promise<void> {
  const pieces = await piecesOf(['["é', partsOf(event, cuts.partBytes), '","', partsOf(event, 7), '"]'], cuts);
  const expected = `["é${finishedJson(event)}","${finishedJson(event)}"]`;
  expect(Buffer.concat(pieces).toString('latin1')).toBe(Buffer.from(expected).toString('latin1'));
}

const cuts: fc.Arbitrary<Cuts> = fc.record({
  partBytes: fc.integer({ min: 1, max: 40 }),
  pieceBytes: fc.integer({ min: 8, max: 60 }),
  sliceBytes: fc.integer({ min: 1, max: 20 }),
});

/** Bytes in which sequences begin, go on, break off and end. */
const roughBytes = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...[
          [0xef, 0xbb, 0xbf],
          [0xef, 0xbb],
          [0xf0, 0x9f, 0x98, 0x80],
          [0xf0, 0x9f, 0x98],
          [0xe2, 0x82, 0xac],
        ],
        ...[[0xe2, 0x82], [0xc3, 0xa9], [0xc3], [0xed, 0xa0, 0x80], [0xf5], [0xff], [0xfe, 0xff], [0xff, 0xfe]],
        ...[
          [0x3d, 0xd8, 0x00, 0xde],
          [0x3d, 0xd8],
          [0x00, 0xde],
          [0xd8, 0x3d],
          [0xde, 0x00],
          [0x3d, 0xd8, 0x3d, 0xd8],
          [0x1b, 0x24, 0x42],
          [0x1b, 0x28, 0x42],
          [0x1b],
        ],
        ...[[0x81, 0x30, 0x81, 0x30], [0x81, 0x30], [0x88, 0x62], [0x8f, 0xa2, 0xaf], [0x8f], [0x82, 0xa0], [0x22]],
        ...[[0x5c], [0x0a], [0x1f], [0x7f], [0x00]],
      ),
      fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 4 }),
      fc.array(fc.integer({ min: 0x20, max: 0x7e }), { maxLength: 12 }),
    ),
    { maxLength: 20 },
  )
  .map((runs) => Uint8Array.from(runs.flat()));

describe('an event in pieces has the bytes of its finished JSON (reliability 152 to 155, 202)', () => {
  it.each(CHARSETS.filter((charset) => charset !== 'iso-2022-jp'))(
    'a text in %s, however it is cut',
    async (charset) => {
      const form = textForm(charset);
      await fc.assert(
        fc.asyncProperty(roughBytes, cuts, (bytes, cut) => expectSame(whole(form, bytes), cut)),
        { numRuns: partOf(charset.startsWith('utf-') ? 1_000 : 100) },
      );
    },
  );

  it.each(['utf-8', 'utf-16le', 'utf-16be', 'gb18030'])(
    'a text in %s that begins with a BOM or nearly',
    async (charset) => {
      const marks = [
        ...[
          [0xef, 0xbb, 0xbf],
          [0xef, 0xbb, 0x80],
          [0xef, 0xbe, 0xbf],
          [0xe0, 0xbb, 0xbf],
        ],
        ...[
          [0xff, 0xfe],
          [0xfe, 0xff],
          [0x84, 0x31, 0x95, 0x33],
        ],
      ];
      for (const mark of marks) {
        for (const sliceBytes of [1, 2, 3]) {
          const bytes = Uint8Array.from([...mark, ...mark, 0x61, 0x00]);
          await expectSame(whole(textForm(charset), bytes), { partBytes: 8, pieceBytes: 16, sliceBytes });
        }
      }
    },
  );

  const shifted = fc
    .array(
      fc.oneof(
        fc.string({ maxLength: 8 }).map((text) => `\x1b(B${text.replaceAll('\x1b', '')}.`),
        fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 1, maxLength: 6 }).map((cells) => {
          return `\x1b$B${cells.map((cell) => `$${String.fromCharCode(0x20 + cell)}`).join('')}`;
        }),
        fc.constantFrom('\x1b(J~\\', '\x1b(I123', '\x1b$@$"'),
      ),
      { maxLength: 12 },
    )
    .map((runs) => Buffer.from(`.${runs.join('')}\x1b(B`, 'latin1'));

  it('a text in iso-2022-jp, however it is cut', async () => {
    const form = textForm('iso-2022-jp');
    await fc.assert(
      fc.asyncProperty(shifted, cuts, (bytes, cut) => expectSame(whole(form, bytes), cut)),
      { numRuns: partOf(500) },
    );
  });

  it('a malformed text in iso-2022-jp is JSON with its size, however it is cut', async () => {
    const form = textForm('iso-2022-jp');
    await fc.assert(
      fc.asyncProperty(roughBytes, cuts, async (bytes, cut) => {
        const pieces = await piecesOf([partsOf(whole(form, bytes), cut.partBytes)], cut);
        const event = JSON.parse(Buffer.concat(pieces).toString()) as { body: unknown; size_bytes: number };
        expect(event).toMatchObject({ body: expect.any(String), size_bytes: bytes.length });
      }),
      { numRuns: partOf(300) },
    );
  });

  it('JSON, however it is cut, with a BOM and without', async () => {
    const form = bodyFormOf('application/json')!;
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue(),
        fc.string({ unit: 'grapheme' }),
        fc.boolean(),
        cuts,
        (value, text, isMarked, cut) => {
          const json = `${isMarked ? '\ufeff' : ''}${JSON.stringify([value, text, '\ufeff'], null, 1)}`;
          return expectSame(whole(form, Buffer.from(json)), cut);
        },
      ),
      { numRuns: partOf(300) },
    );
  });

  it.each([
    ['control characters', new Uint8Array(PAYLOAD_BYTES_MAX).fill(1)],
    ['line feeds', new Uint8Array(PAYLOAD_BYTES_MAX).fill(10)],
    ['letters', new Uint8Array(PAYLOAD_BYTES_MAX).fill(0x61)],
    ['malformed bytes', new Uint8Array(PAYLOAD_BYTES_MAX).fill(0xff)],
    ['characters that lie across every cut', Buffer.from(`a${'\u{1f600}'.repeat(65_535)}`)],
    ['no bytes', new Uint8Array(0)],
  ])('a body of the greatest size, in pieces of at most 64 KiB: %s', async (_, bytes) => {
    const event = whole(textForm('utf-8'), bytes);
    const json = new JsonPieces<never>([partsOf(event, 65_536)]);
    const pieces: Uint8Array[] = [];
    for (let piece = await json.next(); piece !== null; piece = await json.next()) pieces.push(piece);
    for (const piece of pieces.slice(0, -1)) expect(piece.length).toBeGreaterThan(PIECE_BYTES_MAX - 6);
    for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(PIECE_BYTES_MAX);
    expect(Buffer.concat(pieces).equals(Buffer.from(finishedJson(event)))).toBe(true);
  });
});

describe('pieces', () => {
  const event = whole(textForm('utf-8'), Buffer.from('x'.repeat(100)));
  const later = (found: object): EventParts<{ readonly kind: 'expired' }> => ({
    read: (index) => (index === 0 ? { ...event, bytes: event.bytes.subarray(0, 10) } : (found as never)),
  });
  const all = async (parts: EventParts<{ readonly kind: 'expired' }>): Promise<unknown[]> => {
    const json = new JsonPieces([parts], 32);
    const given: unknown[] = [];
    for (;;) {
      const piece = await json.next();
      if (piece === null) return given;
      given.push(piece);
      if ('kind' in piece) return given;
    }
  };

  it('end with the reason where an event is no longer there', async () => {
    expect((await all(later({ kind: 'expired' }))).at(-1)).toEqual({ kind: 'expired' });
  });

  it.each([0, 91])('refuse a part of %i bytes that the body cannot have', async (length) => {
    await expect(all(later({ ...event, bytes: new Uint8Array(length) }))).rejects.toThrow('a part of another body');
  });
});
