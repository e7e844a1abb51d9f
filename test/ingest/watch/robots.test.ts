/** The Robots Exclusion Protocol, RFC 9309. */
import { describe, expect, it } from 'vitest';
import { ALL_ALLOWED, isAllowed, parseRobots, ROBOTS_BYTES_MAX } from '../../../src/ingest/watch/robots.ts';

const allowed = (robots: string, path: string, token = 'paygrade'): boolean =>
  isAllowed(parseRobots(robots, token), new URL(path, 'https://example.com'));

describe('robots rules (RFC 9309)', () => {
  it.each([
    { because: 'there is no rule', robots: '', path: '/x', may: true },
    { because: 'an empty disallow forbids nothing', robots: 'User-agent: *\nDisallow:', path: '/x', may: true },
    { because: 'everything is disallowed', robots: 'User-agent: *\nDisallow: /', path: '/x', may: false },
    {
      because: 'robots.txt itself is always allowed (RFC 9309 §2.2.2)',
      robots: 'User-agent: *\nDisallow: /',
      path: '/robots.txt',
      may: true,
    },
    { because: 'another path is disallowed', robots: 'User-agent: *\nDisallow: /jobs', path: '/careers', may: true },
    {
      because: 'a pattern is a beginning',
      robots: 'User-agent: *\nDisallow: /jobs',
      path: '/jobs-in-bern',
      may: false,
    },
    { because: 'the case of paths counts', robots: 'User-agent: *\nDisallow: /Jobs', path: '/jobs', may: true },
    {
      because: 'the longest match decides (RFC 9309 §5.2)',
      robots: 'User-agent: *\nDisallow: /example/\nAllow: /example/page/',
      path: '/example/page/a',
      may: true,
    },
    {
      because: 'the longest match decides, wherever it stands',
      robots: 'User-agent: *\nAllow: /example/page\nDisallow: /example/page/disallowed.gif',
      path: '/example/page/disallowed.gif',
      may: false,
    },
    {
      because: 'of equal ones allow wins',
      robots: 'User-agent: *\nDisallow: /page\nAllow: /page',
      path: '/page',
      may: true,
    },
    {
      because: 'our own group takes the place of *',
      robots: 'User-agent: *\nDisallow: /\n\nUser-agent: paygrade\nAllow: /jobs',
      path: '/x',
      may: true,
    },
    {
      because: 'the group of another is none of ours',
      robots: 'User-agent: otherbot\nDisallow: /',
      path: '/x',
      may: true,
    },
    {
      because: 'names compare without case and version',
      robots: 'User-agent: PayGrade/1.0\nDisallow: /',
      path: '/x',
      may: false,
    },
    { because: 'a longer name is another', robots: 'User-agent: paygrade-news\nDisallow: /', path: '/x', may: true },
    {
      because: 'groups of one name are joined (RFC 9309 §2.2.1)',
      robots: 'User-agent: paygrade\nDisallow: /a\n\nUser-agent: paygrade\nDisallow: /b',
      path: '/b',
      may: false,
    },
    {
      because: 'several names share a group',
      robots: 'User-agent: otherbot\nUser-agent: paygrade\nDisallow: /',
      path: '/x',
      may: false,
    },
    {
      because: 'a group is of its first name too',
      robots: 'User-agent: paygrade\nUser-agent: otherbot\nDisallow: /',
      path: '/x',
      may: false,
    },
    {
      because: 'of two equal patterns allow decides, the first (RFC 9309 §2.2.2)',
      robots: 'User-agent: *\nAllow: /x\nDisallow: /x',
      path: '/x',
      may: true,
    },
    {
      because: 'of two equal patterns allow decides, the second',
      robots: 'User-agent: *\nDisallow: /x\nAllow: /x',
      path: '/x',
      may: true,
    },
    {
      because: 'rules before any name are of no group',
      robots: 'Disallow: /\nUser-agent: *\nAllow: /',
      path: '/x',
      may: true,
    },
    {
      because: 'a sitemap does not end a group (RFC 9309 §2.2.4)',
      robots: 'User-agent: paygrade\nSitemap: https://example.com/s.xml\nDisallow: /',
      path: '/x',
      may: false,
    },
    {
      because: '* is any run of characters',
      robots: 'User-agent: *\nDisallow: /*/private',
      path: '/a/b/private/c',
      may: false,
    },
    { because: '$ is the end of the path', robots: 'User-agent: *\nDisallow: /*.gif$', path: '/a.gif?x', may: true },
    { because: '$ matches at the end', robots: 'User-agent: *\nDisallow: /*.gif$', path: '/a.gif', may: false },
    {
      because: 'the query is part of the path',
      robots: 'User-agent: *\nDisallow: /*?page=',
      path: '/jobs?page=2',
      may: false,
    },
    {
      because: 'comments and blanks are no part of a value',
      robots: 'User-agent : * # all\n\tDisallow:/x # here',
      path: '/x',
      may: false,
    },
    {
      because: 'escapes compare as what they stand for',
      robots: 'User-agent: *\nDisallow: /%6Aobs/ü',
      path: '/jobs/%C3%BC',
      may: false,
    },
    { because: 'an escaped slash is no slash', robots: 'User-agent: *\nDisallow: /a%2fb', path: '/a/b', may: true },
    {
      because: 'line ends of every kind count',
      robots: 'User-agent: *\rDisallow: /a\r\nDisallow: /b\nDisallow: /c',
      path: '/c',
      may: false,
    },
    {
      because: 'a byte order mark is no part of the first name',
      robots: '\ufeffUser-agent: *\nDisallow: /',
      path: '/x',
      may: false,
    },
    {
      because: 'the group of another ends that for all',
      robots: 'User-agent: *\nDisallow: /a\n\nUser-agent: otherbot\nDisallow: /b',
      path: '/b',
      may: true,
    },
    {
      because: 'the group of another ends our own',
      robots: 'User-agent: paygrade\nDisallow: /a\n\nUser-agent: otherbot\nDisallow: /b',
      path: '/b',
      may: true,
    },
    {
      because: 'our own group holds also before that for all',
      robots: 'User-agent: paygrade\nDisallow: /a\n\nUser-agent: *\nDisallow: /',
      path: '/x',
      may: true,
    },
    {
      because: 'our own group holds also without a rule',
      robots: 'User-agent: paygrade\nDisallow:\n\nUser-agent: *\nDisallow: /',
      path: '/x',
      may: true,
    },
    {
      because: 'the parts of a pattern do not overlap',
      robots: 'User-agent: *\nDisallow: /ab*b$',
      path: '/ab',
      may: true,
    },
    {
      because: '$ is the end of a path without a * too',
      robots: 'User-agent: *\nDisallow: /a$',
      path: '/ab',
      may: true,
    },
    { because: 'escapes compare without case', robots: 'User-agent: *\nDisallow: /a%2fb', path: '/a%2Fb', may: false },
    {
      because: 'a carriage return ends a line',
      robots: 'User-agent: *\rDisallow: /a\r\nDisallow: /b\nDisallow: /c',
      path: '/a',
      may: false,
    },
    { because: 'a page of HTML has no rules', robots: '<!doctype html><p>Disallow: /', path: '/x', may: true },
    {
      because: 'what is beyond 512 KiB does not count (RFC 9309 §2.5)',
      robots: `${'#'.repeat(ROBOTS_BYTES_MAX)}\nUser-agent: *\nDisallow: /`,
      path: '/x',
      may: true,
    },
  ])('$may for $path, because $because', ({ robots, path, may }) => {
    expect(allowed(robots, path)).toBe(may);
  });

  it('allows all without a file (RFC 9309 §2.3.1.3)', () => {
    expect(isAllowed(ALL_ALLOWED, new URL('https://a.example/x'))).toBe(true);
  });

  it.each([
    ['blanks within a value', (blanks: string) => `Disallow: /a${blanks}b`],
    ['blanks before a line separator', (blanks: string) => `Disallow:${blanks}/a\u2028`],
    ['blanks before a name', (blanks: string) => `${blanks}disallow`],
    ['blanks before a comment', (blanks: string) => `Disallow: /a${blanks}#`],
  ])('reads a file of %s in a moment', (_, lineOf) => {
    const startMs = performance.now();
    const robots = `User-agent: *\n${lineOf(' '.repeat(100_000))}\nDisallow: /b`;
    expect(allowed(robots, '/b')).toBe(false);
    expect(performance.now() - startMs).toBeLessThan(2000);
  });

  it('ends in a moment for a pattern of many stars', () => {
    const robots = `User-agent: *\nDisallow: /${'*a'.repeat(5000)}$`;
    expect(allowed(robots, `/${'a'.repeat(1900)}`)).toBe(true);
  });
});
