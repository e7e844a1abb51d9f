/** A customer's request and a target's answer (siblings §6; RFC 9110 §5): headers, and the body of a result. */
import { describe, expect, it } from 'vitest';
import { RESPONSE_BYTES_MAX } from '../../src/retry/limits.ts';
import { faultOfHeaders, type HeaderPairs, hasHeader } from '../../src/retry/request-headers.ts';
import { resultBodyOf } from '../../src/retry/result-body.ts';

const many = (count: number): HeaderPairs => Array.from({ length: count }, (_, i) => [`x-${i}`, 'v'] as const);

describe('headers of a request', () => {
  it.each([
    ['none', []],
    ['names of every allowed character', [["!#$%&'*+-.^_`|~0aZ", 'v']]],
    ['an empty value', [['x-a', '']]],
    ['a value with blanks inside and other bytes', [['x-a', 'a b\tc ÿ']]],
    ['fifty', many(50)],
    ['exactly 8 KiB', [['x', 'v'.repeat(8192 - 5)]]],
    [
      'Authorization and Idempotency-Key',
      [
        ['Authorization', 'Bearer x'],
        ['Idempotency-Key', 'mine'],
      ],
    ],
  ] as readonly (readonly [string, HeaderPairs])[])('may be %s', (_, headers) => {
    expect(faultOfHeaders(headers)).toBeUndefined();
  });

  it.each([
    ['fifty-one', many(51), undefined],
    ['one byte more than 8 KiB', [['x', 'v'.repeat(8192 - 4)]], undefined],
    ['an empty name', [['', 'v']], ''],
    ['a name with a blank', [['x a', 'v']], 'x a'],
    ['a name with a colon', [['x:', 'v']], 'x:'],
    ['a line break in a value', [['x', 'a\r\nb: c']], 'x'],
    ['a NUL in a value', [['x', 'a\0']], 'x'],
    ['a character above a byte', [['x', '€']], 'x'],
    ['a blank at an end', [['x', ' v']], 'x'],
    [
      'one name twice',
      [
        ['X-A', '1'],
        ['x-a', '2'],
      ],
      'x-a',
    ],
    ...['Host', 'Content-Length', 'Connection', 'TE', 'Trailer', 'Trailers'].map((name) => [name, [[name, 'v']], name]),
    ...['Transfer-Encoding', 'Upgrade', 'HTTP2-Settings', 'Keep-Alive'].map((name) => [name, [[name, 'v']], name]),
    ...['X-Retry-Id', 'x-retry-other', 'Proxy-Authorization', 'Webhook-Id'].map((name) => [name, [[name, 'v']], name]),
  ] as readonly (readonly [string, HeaderPairs, string | undefined])[])('must not be %s', (_, headers, name) => {
    expect(faultOfHeaders(headers)).toMatchObject({ name });
  });

  it('are found in any case, among others', () => {
    const headers = [
      ['x-a', 'v'],
      ['User-AGENT', 'v'],
    ] as const;
    expect([hasHeader(headers, 'user-agent'), hasHeader(headers, 'x-b'), hasHeader([], 'x-a')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('the body of a result', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  it.each([
    [
      'JSON as it came',
      bytes(' {"n": 1.50, "big":12345678901234567890} '),
      'application/json',
      '{"n": 1.50, "big":12345678901234567890}',
    ],
    ['JSON by its suffix', bytes('[1]'), 'application/problem+json; charset=utf-8', '[1]'],
    ['JSON without its byte order mark', bytes('\ufeff[1]'), 'application/json', '[1]'],
    ['XML as text', bytes('<a/>'), 'application/xml', '"<a/>"'],
    ['XML by its suffix', bytes('<a/>'), 'Application/Atom+XML; type=feed', '"<a/>"'],
    ['XML of another charset', new Uint8Array([0xe9]), 'application/rss+xml; charset=iso-8859-1', '"é"'],
    ['XML of an unknown charset as UTF-8', bytes('é'), 'application/xml; charset=none', '"é"'],
    ['text of an unknown charset as UTF-8', bytes('é'), 'text/html; charset=none', '"é"'],
    ['JSON whatever its charset', bytes('{"n":1.0}'), 'application/json; charset=none', '{"n":1.0}'],
    ['a form as text', bytes('a=b'), 'application/x-www-form-urlencoded', '"a=b"'],
    ['broken JSON as text', bytes('{"a":'), 'application/json', '"{\\"a\\":"'],
    ['text', bytes('a "b" é'), 'text/plain', '"a \\"b\\" é"'],
    ['text of another charset', new Uint8Array([0xe9]), 'text/plain; charset=iso-8859-1', '"é"'],
    ['no type as text', bytes('x'), null, '"x"'],
    ['other types as null', new Uint8Array([1, 2]), 'image/png', 'null'],
    ['an empty body as null', new Uint8Array(), 'application/json', 'null'],
    [
      'JSON that nests too deep as text',
      bytes('['.repeat(65) + ']'.repeat(65)),
      'application/json',
      JSON.stringify('['.repeat(65) + ']'.repeat(65)),
    ],
  ] as const)('shows %s', (_, body, type, json) => {
    expect(resultBodyOf(body, type, false)).toEqual({ json, isTruncated: false });
  });

  it.each([
    ['text/plain', bytes('é')],
    ['application/json', bytes('é')],
    ['text/plain; charset=shift_jis', new Uint8Array([0x93, 0xfa])],
  ] as const)('leaves out the character of %s that the cut went through', (type, character) => {
    const kept = 'x'.repeat(RESPONSE_BYTES_MAX - 1);
    const body = Buffer.concat([bytes(kept), character]);
    expect(resultBodyOf(body, type, false)).toEqual({ json: `"${kept}"`, isTruncated: true });
  });

  it('keeps the first 262,144 bytes, and then JSON is text', () => {
    const fits = `"${'x'.repeat(RESPONSE_BYTES_MAX - 2)}"`;
    expect(resultBodyOf(bytes(fits), 'application/json', false)).toEqual({ json: fits, isTruncated: false });
    const cut = resultBodyOf(bytes(`"${'x'.repeat(RESPONSE_BYTES_MAX)}"`), 'application/json', false);
    expect(cut.isTruncated).toBe(true);
    expect(JSON.parse(cut.json)).toBe(`"${'x'.repeat(RESPONSE_BYTES_MAX - 1)}`);
    expect(resultBodyOf(bytes('{}'), 'application/json', true)).toEqual({ json: '"{}"', isTruncated: true });
  });
});
