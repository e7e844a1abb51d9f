/** Content codings of an answer (RFC 9110 §8.4). */
import { describe, expect, it } from 'vitest';
import { codingsOf } from '../../src/outbound/codings.ts';

describe('the header of codings', () => {
  it.each([
    ['', []],
    ['identity', []],
    ['gzip', ['gzip']],
    ['GZIP', ['gzip']],
    ['x-gzip', ['x-gzip']],
    ['identity, br', ['br']],
    ['gzip, br', ['br', 'gzip']],
    [' gzip ,, deflate ', ['deflate', 'gzip']],
    ['gzip, gzip, gzip', undefined],
    ['zstd', undefined],
    ['gzip, zstd', undefined],
    ['identity, identity, identity', []],
  ])('%j names, the outermost first, %j', (header, codings) => {
    expect(codingsOf(header)).toEqual(codings);
  });
});
