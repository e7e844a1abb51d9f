/** Where the redirects of answers lead. */
import { expect, it } from 'vitest';
import { redirectTarget } from '../../src/outbound/redirect.ts';

it.each([
  ['an address', 'https://xn--bcher-kva.example/', 'https://xn--bcher-kva.example/'],
  ['no Punycode, on both runtimes', 'https://xn--a.example/', undefined],
])('a redirect to %s', (_, location, href) => {
  const answer = { status: 302, headers: [['location', location]] as const };
  expect(redirectTarget(answer, new URL('https://news.example/'))?.href).toBe(href);
});
