/** The table of targets: what a request line may name, and what `Request.url` makes of it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestTargetOf } from '../../../src/adapters/listen/request-target.ts';
import { targetOf } from '../../../src/http/target.ts';

const pathOf = (target: string): string | undefined => {
  const found = requestTargetOf(target);
  if (found === undefined) return undefined;
  const { path, search } = targetOf(found);
  return path + search;
};

describe('the target of a request', () => {
  it.each([
    ['/', '/'],
    ['/v1/jobs/search?keyword=a%20b&limit=1', '/v1/jobs/search?keyword=a%20b&limit=1'],
    ['/a/../b', '/b'],
    ['/a/./b', '/a/b'],
    ['/a/%2e%2E/b', '/b'],
    ['/a/.%2e/b', '/b'],
    ['/%2E/b', '/b'],
    ['/a/..', '/'],
    ['/../../b', '/b'],
    ['/a/.', '/a/'],
    ['/a/%2e%2e%2fb', '/a/%2e%2e%2fb'],
    ['/a/..;/b', '/a/..;/b'],
    ['/a/.hidden/...', '/a/.hidden/...'],
    ['/a..b', '/a..b'],
    ['/a?b=/../c', '/a?b=/../c'],
    ['//evil.example/b', '//evil.example/b'],
    ['/%', '/%'],
    ['/%zz', '/%zz'],
    ['/a#b', '/a'],
    ['/a?b#c?d', '/a?b'],
    // As node:http gives bytes beyond ASCII: one unit each.
    ['/\u00c3\u00a9', '/%C3%83%C2%A9'],
    ['/a"<>`{}b', '/a%22%3C%3E%60%7B%7Db'],
    ['/a?"<>', '/a?%22%3C%3E'],
    ['/a?b=\\', '/a?b=\\'],
    ['http://evil.example/a/../b?c', '/b?c'],
    ['HTTPS://user:name@evil.example:1', '/'],
    ['http://evil.example?a', '/?a'],
  ])('%s is %s', (target, path) => {
    expect(pathOf(target)).toBe(path);
  });

  it.each([
    '',
    '*',
    '?',
    '#',
    'a',
    'a/b',
    'ftp://evil.example/',
    'mailto:a@evil.example',
    '\\',
    '/\\',
    '/a\\..\\b',
    '/a#\\',
    'http://evil.example\\a',
    'http://',
    'http://[::1/a',
    'http://evil.example:99999/a',
  ])('%j is none', (target) => {
    expect(requestTargetOf(target)).toBeUndefined();
  });

  it('is what the URL Standard makes of it, up to the quote that it encodes in a query', () => {
    const piece = fc.constantFrom(
      '/',
      '.',
      '..',
      '%2e',
      '%2E%2e',
      'a',
      '?',
      '#',
      "'",
      '"',
      '{',
      '%',
      '&',
      '=',
      ':',
      '@',
      '\u00e9',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const target = `/${pieces.join('')}`;
        const { pathname, search } = new URL(`http://localhost${target}`);
        expect(pathOf(target)?.replaceAll("'", '%27')).toBe((pathname + search).replaceAll("'", '%27'));
      }),
      { numRuns: 2_000 },
    );
  });
});
