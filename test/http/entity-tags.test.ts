import { describe, expect, it } from 'vitest';
import { isListed } from '../../src/http/entity-tags.ts';

describe('If-None-Match (RFC 9110 §13.1.2)', () => {
  it.each([
    ['W/"a"', 'W/"a"', true],
    ['W/"a"', '"a"', true],
    ['"a"', 'W/"a"', true],
    ['W/"a"', '"b", W/"a" ,"c"', true],
    ['W/"a"', ' * ', true],
    ['W/"a,b"', '"a,b"', true],
    ['W/"a"', null, false],
    ['W/"a"', '', false],
    ['W/"a"', 'a', false],
    ['W/"a"', '"A"', false],
    ['W/"a"', '"a', false],
    ['W/"a"', '"b"', false],
  ])('%s is listed in %s: %s', (tag, header, expected) => {
    expect(isListed(tag, header)).toBe(expected);
  });
});
