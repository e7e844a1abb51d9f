/** Where the redirects of answers lead. */
import { expect, it } from 'vitest';
import { REDIRECT_STATUSES, redirectTarget } from '../../src/outbound/redirect.ts';

const FROM = new URL('https://news.example/a/b?c');
const LONGEST = `https://news.example/${'x'.repeat(2048 - 21)}`;

it.each([
  ['an address', 'https://xn--bcher-kva.example/', 'https://xn--bcher-kva.example/'],
  ['an address between blanks', ' \thttps://next.example/ ', 'https://next.example/'],
  ['a path beside its own', './d', 'https://news.example/a/d'],
  ['its own path with another query', '?d', 'https://news.example/a/b?d'],
  ['its own address', '', 'https://news.example/a/b?c'],
  ['UTF-8', '/caf\u00c3\u00a9', 'https://news.example/caf%C3%A9'],
  ['Latin-1', '/caf\u00e9', 'https://news.example/caf%C3%A9'],
  ['2,048 characters', LONGEST, LONGEST],
  ['2,049 characters', `${LONGEST}x`, undefined],
  ['what is no address', 'https://', undefined],
  ['no Punycode, on both runtimes', 'https://xn--a.example/', undefined],
])('a redirect to %s', (_, location, href) => {
  const next = redirectTarget({ status: 302, headers: [['location', location]] }, FROM);
  expect(next).not.toBeUndefined();
  expect(next?.href).toBe(href);
});

it('are those of the statuses that name the same resource elsewhere', () => {
  expect([...REDIRECT_STATUSES]).toEqual([301, 302, 303, 307, 308]);
  const headers = [['location', '/d']] as const;
  for (const status of [200, 201, 300, 304, 404]) expect(redirectTarget({ status, headers }, FROM)).toBeUndefined();
  expect(redirectTarget({ status: 301, headers: [] }, FROM)).toBeUndefined();
});
