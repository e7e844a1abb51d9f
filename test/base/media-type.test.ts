import { describe, expect, it } from 'vitest';
import { bodyFormOf, isUnpacked } from '../../src/base/media-type.ts';

const json = { kind: 'json' };
const text = (charset = 'utf-8') => ({ kind: 'text', charset });

describe('what a body is by its Content-Type (reliability 147 to 152)', () => {
  it.each<readonly [string | null, object | undefined, string]>([
    [null, text(), 'no header is text'],
    ['application/json', json, 'JSON'],
    ['Application/JSON', json, 'no case'],
    ['application/json; charset=utf-8', json, 'parameters do not matter'],
    ['application/json ;x=y', json, 'nor does white space before them'],
    ['application/json;', json, 'nor an empty one'],
    ['application/json; charset="UTF-8"', json, 'nor quotes'],
    ['application/json; charset=utf-16', json, 'JSON is judged as UTF-8 whatever is said'],
    ['application/json; charset=klingon', undefined, 'an unknown charset is refused everywhere'],
    ['text/plain', text(), 'text'],
    ['TEXT/Plain; Charset=ISO-8859-1', text('windows-1252'), 'Latin-1 by the Encoding Standard'],
    ['text/csv; header=present', text(), 'any text type'],
    ['text/xml', text(), 'text/xml is text'],
    ['text/plain; charset=utf-16le', text('utf-16le'), 'another charset'],
    ['text/plain; charset="utf-16be"', text('utf-16be'), 'a quoted charset'],
    ['text/plain; charset="\\u\\t\\f-8"', text(), 'quoted pairs'],
    ['text/plain; charset=utf-8; charset=klingon', text(), 'the first of two charsets'],
    ['text/plain; charset=klingon', undefined, 'an unknown charset'],
    ['text/plain; charset=', undefined, 'an empty charset'],
    ['text/plain; x="a,b"', text(), 'a comma inside quotes'],
    ['application/x-www-form-urlencoded', text(), 'a form'],
    ['application/vnd.api+json', undefined, '+json is another type'],
    ['application/ld+json', undefined, '+json is another type'],
    ['application/json5', undefined, 'a longer name'],
    ['multipart/form-data; boundary=x', undefined, 'an upload'],
    ['application/octet-stream', undefined, 'binary'],
    ['image/png', undefined, 'binary'],
    ['application/xml', undefined, 'not in the list'],
    ['*/*', undefined, 'a range'],
    ['text/*', undefined, 'a range'],
    ['json', undefined, 'no type'],
    ['text', undefined, 'no subtype'],
    ['text/', undefined, 'an empty subtype'],
    ['', undefined, 'an empty value'],
    ['application/json, application/json', undefined, 'a repeated header'],
    ['text/plain; charset=utf-8, text/plain', undefined, 'a repeated header with parameters'],
    ['text/plain, ', undefined, 'a second, empty one'],
    ['text /plain', undefined, 'white space inside'],
  ])('%j is %j because of %s', (contentType, form) => {
    expect(bodyFormOf(contentType)).toEqual(form);
  });

  it('reads a header of 16 KiB of half a parameter in a moment', () => {
    const startMs = performance.now();
    bodyFormOf(`text/plain${';a="\\"'.repeat(2_500)}`);
    bodyFormOf(`text/plain${' ; '.repeat(5_000)}=`);
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });
});

it.each([
  [null, true],
  ['identity', true],
  ['Identity', true],
  ['gzip', false],
  ['br', false],
  ['gzip, gzip', false],
  ['identity, gzip', false],
  ['', false],
] as const)('Content-Encoding %j is taken: %s (reliability 167)', (encoding, taken) => {
  expect(isUnpacked({ header: (name) => (name === 'content-encoding' ? encoding : null) })).toBe(taken);
});

it.each([
  [null, true],
  ['chunked', true],
  ['Chunked', true],
  ['gzip, chunked', false],
  ['gzip', false],
] as const)('Transfer-Encoding %j is taken: %s (reliability 167)', (coding, taken) => {
  expect(isUnpacked({ header: (name) => (name === 'transfer-encoding' ? coding : null) })).toBe(taken);
});
