import { describe, expect, it } from 'vitest';
import { bodyFormOf } from '../../src/base/media-type.ts';
import {
  type EventPart,
  eventHead,
  type InlineEvent,
  inboxEventOf,
  inlinePart,
  originalContentType,
  retainedHeaders,
} from '../../src/callback/event.ts';
import { finishedJson, inlineJson, jsonBytesMax } from '../../src/callback/event-json.ts';
import type { EventId } from '../../src/callback/identifier.ts';
import {
  CONTENT_TYPE_CHARACTERS_MAX,
  INLINE_BYTES_MAX,
  OVERHEAD_BYTES,
  RETAINED_CHARACTERS_MAX,
} from '../../src/callback/limits.ts';

const ID = `evt_${'0'.repeat(32)}` as EventId;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const headersOf = (fields: Record<string, string>) => (name: string) => new Headers(fields).get(name);

/** An event of one part. */
function partOf(contentType: string | null, bytes: Uint8Array): EventPart {
  const form = bodyFormOf(contentType)!;
  const head = eventHead(
    ID,
    0,
    'POST',
    retainedHeaders((name) => (name === 'content-type' ? contentType : null)),
  );
  return { head, form, sizeBytes: bytes.length, bytes };
}

describe('retained headers (reliability 172 to 174)', () => {
  it('are the listed ones and no other', () => {
    const sent = {
      'Content-Type': 'text/plain',
      'User-Agent': 'a/1',
      'vendorA-signature': '1',
      'vendorB-id': '2',
      'vendorB-timestamp': '3',
      'vendorB-signature': '4',
      'Stripe-Signature': '5',
      'Svix-Id': '6',
      'Svix-Timestamp': '7',
      'Svix-Signature': '8',
      'X-Hub-Signature': '9',
      'X-Hub-Signature-256': '10',
      'Webhook-Id': '11',
      'Webhook-Timestamp': '12',
      'Webhook-Signature': '13',
      'X-Signature': '14',
      'X-Webhook-Signature': '15',
      Authorization: 'secret',
      Cookie: 'secret',
      'X-Forwarded-For': '1.2.3.4',
      __proto__: 'x',
    };
    const retained = Object.fromEntries(retainedHeaders(headersOf(sent)));
    expect(Object.keys(retained)).toHaveLength(17);
    expect(retained['content-type']).toBe('text/plain');
    expect(retained['x-webhook-signature']).toBe('15');
    expect(JSON.stringify(retained)).not.toContain('secret');
  });

  it('keep characters above U+007F and quotes as they are', () => {
    const head = eventHead(ID, 0, 'POST', [['x-signature', 'é"\\\u0085']]);
    expect(JSON.parse(`${head}null}`).headers).toEqual({ 'x-signature': 'é"\\\u0085' });
  });

  it('keep characters above U+00FF, which no header has, as escapes', () => {
    const head = eventHead(ID, 0, 'POST', [['x-signature', '\u0100\uffff']]);
    expect(head).toContain('"\\u0100\\uffff"');
  });

  it.each<readonly [string, Record<string, string>, readonly string[]]>([
    ['one at the bound', { 'x-signature': 'a'.repeat(RETAINED_CHARACTERS_MAX) }, ['x-signature']],
    ['one above it', { 'x-signature': 'a'.repeat(RETAINED_CHARACTERS_MAX + 1), 'user-agent': 'b' }, ['user-agent']],
    [
      'a signature and a user agent that fit only alone',
      { 'user-agent': 'b'.repeat(2_000), 'webhook-signature': 'a'.repeat(2_000) },
      ['webhook-signature'],
    ],
    [
      'signatures beside the longest content type',
      {
        'content-type': `text/${'x'.repeat(CONTENT_TYPE_CHARACTERS_MAX - 5)}`,
        'stripe-signature': 'a'.repeat(RETAINED_CHARACTERS_MAX - 2 * CONTENT_TYPE_CHARACTERS_MAX),
        'user-agent': 'b',
      },
      ['content-type', 'stripe-signature'],
    ],
  ])('are kept whole or left out, signatures first: %s', (_, sent, names) => {
    expect(retainedHeaders(headersOf(sent))).toEqual(names.map((name) => [name, sent[name]]));
  });

  it('never take more of a claim than its overhead, ten times the worst', () => {
    const filled = (length: number): string => '"é'.repeat(length / 2);
    for (const contentTypeLength of [0, CONTENT_TYPE_CHARACTERS_MAX]) {
      const sent = {
        'content-type': filled(contentTypeLength),
        'x-signature': filled(RETAINED_CHARACTERS_MAX - 2 * contentTypeLength),
      };
      const retained = retainedHeaders(headersOf(sent));
      expect(retained).toHaveLength(2);
      expect(10 * bytesOf(eventHead(ID, 0, 'PATCH', retained)).length).toBeLessThan(OVERHEAD_BYTES);
    }
  });
});

describe('an event', () => {
  it('has exactly the fields of the contract', () => {
    const part = partOf('application/json; charset=utf-8', bytesOf('{"a":1}'));
    expect(JSON.parse(finishedJson(part))).toEqual({
      id: ID,
      received_at: '1970-01-01T00:00:00Z',
      method: 'POST',
      content_type: 'application/json; charset=utf-8',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: { a: 1 },
      size_bytes: 7,
    });
  });

  it('shows text/plain where no Content-Type was sent, and keeps none (reliability 151)', () => {
    const part = partOf(null, bytesOf('x'));
    expect(JSON.parse(finishedJson(part))).toMatchObject({ content_type: 'text/plain', headers: {}, body: 'x' });
    expect(originalContentType(part.head)).toBeNull();
  });

  it.each([
    ['application/json', bytesOf('{"a": 9007199254740993 }')],
    ['application/json', bytesOf('\ufeff[1]')],
    ['application/json', bytesOf('"a string"')],
    ['application/json', bytesOf('",\\"size_bytes\\":7}"')],
    ['text/plain', bytesOf('')],
    ['text/plain', bytesOf('plain, "quoted" \u0000\u001f \u{1f600}')],
    ['text/plain', bytesOf('","size_bytes":7}')],
    ['text/plain', bytesOf('\ufeffwith a mark')],
    ['text/plain', bytesOf('a real \ufffd')],
    ['text/plain', Uint8Array.of(0x61, 0xff, 0xfe, 0xc3)],
    ['text/plain; charset=iso-8859-1', Uint8Array.of(0xe9, 0x80)],
    ['text/plain; charset=utf-16le', new Uint8Array(Buffer.from('\ufeffab', 'utf16le'))],
    // Bytes that are ASCII, and mean something else.
    ['text/plain; charset=utf-16le', new Uint8Array(Buffer.from('ab', 'utf16le'))],
    ['text/plain; charset=iso-2022-jp', bytesOf('\x1b$B$"\x1b(B')],
    ['text/plain', new Uint8Array(2_000)],
    ['application/json', bytesOf(`"${'x'.repeat(2_000)}"`)],
    ['application/x-www-form-urlencoded', bytesOf('a=1&b=%20')],
    [null, bytesOf('x')],
  ] as const)('held whole in memory has the same JSON and bytes: %j, %j', (contentType, bytes) => {
    const part = partOf(contentType, bytes);
    const held = inboxEventOf({ id: ID, ...part }, bytes.length, bytes) as InlineEvent;
    expect(inlineJson(held)).toBe(finishedJson(part));
    const again = inlinePart(held);
    expect({ ...again, bytes: [...again.bytes] }).toEqual({ ...part, bytes: [...bytes] });
    expect(originalContentType(again.head)).toBe(contentType);
    expect(Buffer.byteLength(inlineJson(held))).toBeLessThanOrEqual(jsonBytesMax(held));
  });

  it('replaces malformed bytes of a text and counts those that came (reliability 154)', () => {
    const part = partOf('text/plain', Uint8Array.of(0x61, 0xff, 0x62));
    expect(JSON.parse(finishedJson(part))).toMatchObject({ body: 'a\ufffdb', size_bytes: 3 });
  });

  it('stays in memory up to the bound of its bytes, whatever escaping makes of them (reliability 202)', () => {
    const { head } = partOf('text/plain', bytesOf(''));
    const around = (length: number, byte: number) => {
      const bytes = new Uint8Array(length).fill(byte);
      return inboxEventOf({ id: ID, ...partOf('text/plain', bytes) }, length, bytes);
    };
    for (const byte of [0, 0x78, 0xff]) {
      const longest = INLINE_BYTES_MAX - head.length;
      expect(around(longest, byte).text).toHaveLength(INLINE_BYTES_MAX);
      expect(around(longest + 1, byte).text).toBeNull();
    }
  });

  it('is held by the store alone when it was loaded without its bytes', () => {
    const { head, form } = partOf('text/plain', bytesOf('x'));
    expect(inboxEventOf({ id: ID, head, form }, 1, null)).toEqual({
      id: ID,
      text: null,
      bodyStart: head.length,
      form,
      sizeBytes: 1,
    });
  });
});
