import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import { Refusal } from '../../src/http/errors.ts';
import { queryDecoder } from '../../src/http/query.ts';
import { summarizeCompany } from '../../src/modules/jobs/company.ts';
import { searchJobs } from '../../src/modules/jobs/search.ts';
import { findSignals } from '../../src/modules/jobs/signals.ts';
import { integer } from '../../src/modules/parameter-rules.ts';

const search = queryDecoder(searchJobs.query);
const company = queryDecoder(summarizeCompany.query);
const signals = queryDecoder(findSignals.query);

const long = (count: number): string => 'x'.repeat(count);
const astral = (count: number): string => encodeURIComponent('𝒳'.repeat(count));

describe('a query that is accepted', () => {
  it.each([
    ['nothing gives the defaults', '', { limit: 10 }],
    ['a bare question mark is no query', '?', { limit: 10 }],
    ['empty pieces are skipped', '?&&limit=3&', { limit: 3 }],
    ['the least limit', '?limit=1', { limit: 1 }],
    ['the greatest limit', '?limit=10', { limit: 10 }],
    ['a plus is a blank', '?keyword=data+engineer', { keyword: 'data engineer', limit: 10 }],
    ['an escaped plus is a plus', '?keyword=c%2B%2B', { keyword: 'c++', limit: 10 }],
    ['an escaped name', '?%6cimit=2', { limit: 2 }],
    ['a value may have an equals sign', '?keyword=a=b', { keyword: 'a=b', limit: 10 }],
    ['digits are text where text is asked for', '?keyword=42', { keyword: '42', limit: 10 }],
    ['blanks at the ends do not count', '?keyword=%20%20rust%20', { keyword: 'rust', limit: 10 }],
    ['the shortest keyword', '?keyword=go', { keyword: 'go', limit: 10 }],
    ['the longest keyword', `?keyword=${long(120)}`, { keyword: long(120), limit: 10 }],
    [
      'the longest keyword in code points beyond the basic plane',
      `?keyword=${astral(120)}`,
      { keyword: '𝒳'.repeat(120), limit: 10 },
    ],
    ['eight terms', '?keyword=a+b+c+d+e+f+g+h', { keyword: 'a b c d e f g h', limit: 10 }],
    ['true is a boolean', '?remote=true', { remote: true, limit: 10 }],
    ['false is a boolean', '?remote=false', { remote: false, limit: 10 }],
    ['a category', '?employment_type=full_time', { employment_type: 'full_time', limit: 10 }],
    ['a domain is lower-cased', '?company=Example.COM', { company: 'example.com', limit: 10 }],
  ])('%s: %s', (_, query, expected) => {
    expect({ ...search(query) }).toStrictEqual(expected);
  });

  it('accepts the only period', () => {
    expect({ ...signals('?period=7d&limit=5') }).toEqual({ period: '7d', limit: 5 });
  });
});

describe('a query that is refused', () => {
  it.each([
    ['?days=7', 'UNKNOWN_PARAMETER', 'days'],
    ['?__proto__=1', 'UNKNOWN_PARAMETER', '__proto__'],
    ['?constructor=1', 'UNKNOWN_PARAMETER', 'constructor'],
    ['?toString=1', 'UNKNOWN_PARAMETER', 'toString'],
    ['?=1', 'UNKNOWN_PARAMETER', '""'],
    ['?LIMIT=1', 'UNKNOWN_PARAMETER', 'LIMIT'],
    ['?limit=1&limit=1', 'DUPLICATE_PARAMETER', 'limit'],
    ['?limit=1&%6cimit=1', 'DUPLICATE_PARAMETER', 'limit'],
    ['?remote=true&remote=', 'DUPLICATE_PARAMETER', 'remote'],
    ...['0', '11', '01', '1.0', '1e0', '%2B1', '+1', '%201', '', '１', '0x1', '-0', '-1', '100', 'ten'].map(
      (limit) => [`?limit=${limit}`, 'INVALID_PARAMETER', 'limit'] as const,
    ),
    ['?limit', 'INVALID_PARAMETER', 'limit'],
    ...['TRUE', '1', 'yes', ''].map((remote) => [`?remote=${remote}`, 'INVALID_PARAMETER', 'remote'] as const),
    ['?employment_type=Full_Time', 'INVALID_PARAMETER', 'employment_type'],
    ['?keyword', 'INVALID_PARAMETER', 'keyword'],
    ['?keyword=a', 'INVALID_PARAMETER', 'keyword'],
    ['?keyword=%20a%20', 'INVALID_PARAMETER', 'keyword'],
    ['?keyword=', 'INVALID_PARAMETER', 'keyword'],
    ['?keyword=+++', 'INVALID_PARAMETER', 'keyword'],
    [`?keyword=${long(121)}`, 'INVALID_PARAMETER', 'keyword'],
    [`?keyword=${astral(121)}`, 'INVALID_PARAMETER', 'keyword'],
    [`?keyword=${astral(1)}`, 'INVALID_PARAMETER', 'keyword'],
    ['?keyword=a+b+c+d+e+f+g+h+i', 'INVALID_PARAMETER', 'keyword'],
    ['?keyword=a%C2%A0b%E3%80%80c%09d+e+f+g+h+i', 'INVALID_PARAMETER', 'keyword'],
    [`?location=${long(81)}`, 'INVALID_PARAMETER', 'location'],
    ...['%', '%ZZ', 'ab%C0%AF', 'ab%ED%A0%80', 'ab%00'].map(
      (text) => [`?keyword=${text}`, 'INVALID_PARAMETER', 'keyword'] as const,
    ),
    ['?%ZZ=1', 'INVALID_PARAMETER', 'name'],
  ] as [string, string, string][])('%s is %s naming %s', (query, code, named) => {
    const refusal = search(query);
    expect(refusal).toBeInstanceOf(Refusal);
    expect((refusal as Refusal).code).toBe(code);
    expect((refusal as Refusal).message).toContain(named);
  });

  it.each([
    'https%3A%2F%2Fexample.com',
    'example.com:443',
    'example.com/jobs',
    'user@example.com',
    'ex%C3%A4mple.com',
    'K%E2%84%AA.com',
    `${'a.'.repeat(126)}aa`,
    'a..com',
    '.com',
    'example.com.',
    'example',
    '127.0.0.1',
    '1.2.3.4.5',
    'a.0x7f',
    '-a.com',
    'a-.com',
    `${'a'.repeat(64)}.com`,
    'a_b.com',
    '%20example.com',
    '',
  ])('company=%s is not a domain', (text) => {
    expect((company(`?company=${text}`) as Refusal).code).toBe('INVALID_PARAMETER');
  });

  it('distinguishes a missing company from an empty one', () => {
    expect((company('') as Refusal).code).toBe('MISSING_PARAMETER');
    expect((company('') as Refusal).message).toContain('company');
    expect((company('?company') as Refusal).code).toBe('INVALID_PARAMETER');
  });

  it.each(['7D', '30d', '7d%20', '', '7'])('period=%s has its own code', (text) => {
    expect((signals(`?period=${text}`) as Refusal).code).toBe('UNSUPPORTED_PERIOD');
  });

  it('stops at the first fault: five thousand parameters cost little', () => {
    const many = `?${Array.from({ length: 5000 }, (_, i) => `p%30${i}=%31`).join('&')}`;
    const decoding = vi.spyOn(globalThis, 'decodeURIComponent');
    try {
      expect((search(many) as Refusal).code).toBe('UNKNOWN_PARAMETER');
      expect(decoding.mock.calls).toEqual([['p%300']]);
    } finally {
      decoding.mockRestore();
    }
  });

  it.each([
    ['?keyword=ab%FF', '`keyword` is not valid percent-encoded UTF-8'],
    ['?keyword=ab%00', '`keyword` must be text without U+0000'],
    ['?limit=0', '`limit` must be a whole number from 1 to 10, written without sign, blank or leading zero'],
  ])('%s is refused for its own reason', (query, message) => {
    expect(search(query)).toMatchObject({ code: 'INVALID_PARAMETER', message });
  });

  it.each([
    [long(64), `"${long(64)}"`],
    [long(65), `"${long(64)}…"`],
  ])('names an unknown parameter, cut, and those that the route accepts: %s', (name, shown) => {
    const accepted = Object.keys(searchJobs.query?.entries ?? {}).map((known) => `\`${known}\``);
    expect(search(`?${name}=1`)).toMatchObject({
      message: `unknown query parameter ${shown}: this route accepts ${accepted.join(', ')}`,
    });
  });

  it('of a parameter without a stated rule is refused as not valid', () => {
    const bare = queryDecoder(v.strictObject({ word: v.pipe(v.string(), v.minLength(2)) }));
    expect(bare('?word=a')).toMatchObject({ message: '`word` must be valid' });
  });

  it('changes no prototype', () => {
    search('?__proto__=x&constructor=y');
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

it('a range of many digits is accepted up to its end, and no number beyond it', () => {
  const pages = queryDecoder(v.strictObject({ page: integer(1, 12_000) }));
  expect({ ...pages('?page=12000') }).toEqual({ page: 12_000 });
  for (const page of ['12001', '9'.repeat(400)]) {
    expect(pages(`?page=${page}`)).toMatchObject({ code: 'INVALID_PARAMETER' });
  }
});

describe('a route without parameters', () => {
  it('refuses every parameter', () => {
    const none = queryDecoder(v.strictObject({}));
    expect((none('?a=1') as Refusal).message).toContain('accepts none');
    expect({ ...none('') }).toEqual({});
  });
});
