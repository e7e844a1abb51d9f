/**
 * Queries of the jobs routes and their outcomes (reliability 7 to 17), in one place for all tests that send them:
 * unpaid, paid, and to both runtimes in parallel.
 */
const ASTRAL = '\u{1F680}';
export const repeated = (text: string, count: number): string => text.repeat(count);
export const encoded = encodeURIComponent;

/** Query, code of the 400, and the name that the message must carry. */
export type BadInput = readonly [caseNumber: number, path: string, code: string, named: string];

const invalid = (caseNumber: number, route: string, name: string, value: string): BadInput => [
  caseNumber,
  `/v1/jobs/${route}?${name}=${value}`,
  'INVALID_PARAMETER',
  name,
];

const NINE_TERMS = 'aa bb cc dd ee ff gg hh ii';
const EIGHT_TERMS = 'aa bb cc dd ee ff gg hh';
const WHITE_SPACE = [' ', '\t', '\n', '\u00a0', '\u3000'];

export const BAD_INPUTS: readonly BadInput[] = [
  [7, '/v1/jobs/search?q=rust', 'UNKNOWN_PARAMETER', 'q'],
  [7, '/v1/jobs/search?Keyword=rust', 'UNKNOWN_PARAMETER', 'Keyword'],
  [7, '/v1/jobs/search?period=7d', 'UNKNOWN_PARAMETER', 'period'],
  [7, '/v1/jobs/company?company=a.com&limit=1', 'UNKNOWN_PARAMETER', 'limit'],
  [7, '/v1/jobs/signals?company=a.com', 'UNKNOWN_PARAMETER', 'company'],
  [7, '/v1/jobs/market?company=a.com', 'UNKNOWN_PARAMETER', 'company'],
  [7, '/v1/jobs/market?limit=1', 'UNKNOWN_PARAMETER', 'limit'],
  [7, '/v1/jobs/skills?keyword=rust', 'UNKNOWN_PARAMETER', 'keyword'],
  [7, '/v1/jobs/changes?remote=true', 'UNKNOWN_PARAMETER', 'remote'],
  [7, '/v1/jobs/detail?id=a&limit=1', 'UNKNOWN_PARAMETER', 'limit'],
  [7, '/v1/jobs/search?=1', 'UNKNOWN_PARAMETER', ''],
  [8, '/v1/jobs/detail?id=a&id=a', 'DUPLICATE_PARAMETER', 'id'],
  [8, '/v1/jobs/skills?role=rust&role=rust', 'DUPLICATE_PARAMETER', 'role'],
  [8, '/v1/jobs/search?limit=1&limit=1', 'DUPLICATE_PARAMETER', 'limit'],
  [8, '/v1/jobs/search?limit=1&%6cimit=1', 'DUPLICATE_PARAMETER', 'limit'],
  [8, '/v1/jobs/search?keyword=rust&keyword=', 'DUPLICATE_PARAMETER', 'keyword'],
  [8, '/v1/jobs/company?company=a.com&company=a.com', 'DUPLICATE_PARAMETER', 'company'],
  ...['0', '11', '01', '1.0', '1e0', '+1', '%2B1', '%201', '1%20', '', '%EF%BC%91', '0x1', '-0', '-1', '100'].map(
    (value) => invalid(9, 'search', 'limit', value),
  ),
  ...['0', '6', '05', ''].map((value) => invalid(9, 'signals', 'limit', value)),
  ...['changes', 'skills'].flatMap((route) => ['0', '11', '05', ''].map((value) => invalid(9, route, 'limit', value))),
  ...['TRUE', 'True', '1', 'yes', '', 'false%20'].map((value) => invalid(10, 'search', 'remote', value)),
  ...['Full_Time', 'full-time', '', 'permanent'].map((value) => invalid(10, 'search', 'employment_type', value)),
  ...(
    [
      ['search', 'keyword', 120],
      ['search', 'location', 80],
      ['signals', 'role', 80],
      ['signals', 'location', 80],
      ['signals', 'department', 80],
      ['changes', 'role', 80],
      ['skills', 'location', 80],
      ['market', 'department', 80],
    ] as const
  ).flatMap(([route, name, max]) => [
    invalid(11, route, name, ''),
    invalid(11, route, name, 'a'),
    invalid(11, route, name, encoded(ASTRAL)),
    invalid(11, route, name, '+++'),
    invalid(11, route, name, repeated('a', max + 1)),
    invalid(11, route, name, encoded(repeated(ASTRAL, max + 1))),
    invalid(12, route, name, encoded(NINE_TERMS)),
  ]),
  ...WHITE_SPACE.map((space) => invalid(12, 'search', 'keyword', encoded(NINE_TERMS.replaceAll(' ', space)))),
  ...['%', '%ZZ', '%C0%AF', '%ED%A0%80', '%00', 'a%00b', '%E2%82', 'ok%FF'].map((value) =>
    invalid(13, 'search', 'keyword', value),
  ),
  [13, '/v1/jobs/search?%ZZ=1', 'INVALID_PARAMETER', ''],
  ...[
    'https://example.com',
    'example.com:443',
    'example.com/jobs',
    'user@example.com',
    'ex%C3%A4mple.com',
    'xn--%C3%A9.com',
    `${repeated('a', 63)}.${repeated('b', 63)}.${repeated('c', 63)}.${repeated('d', 62)}`,
    'example..com',
    '.example.com',
    'example.com.',
    '127.0.0.1',
    '%5B::1%5D',
    'localhost',
    '-example.com',
    'example-.com',
    `${repeated('a', 64)}.com`,
    'ex_ample.com',
    'example.com%0A',
    '%20example.com',
    '1.2.3',
    'example.0x7f',
  ].map((value) => invalid(14, 'company', 'company', value)),
  invalid(14, 'search', 'company', 'example.com:443'),
  invalid(14, 'changes', 'company', 'example.com:443'),
  invalid(14, 'skills', 'company', ''),
  [15, '/v1/jobs/company', 'MISSING_PARAMETER', 'company'],
  [15, '/v1/jobs/company?period=7d', 'MISSING_PARAMETER', 'company'],
  [15, '/v1/jobs/company?company=', 'INVALID_PARAMETER', 'company'],
  [15, '/v1/jobs/company?company', 'INVALID_PARAMETER', 'company'],
  [15, '/v1/jobs/detail', 'MISSING_PARAMETER', 'id'],
  [15, '/v1/jobs/detail?id=', 'INVALID_PARAMETER', 'id'],
  invalid(15, 'detail', 'id', repeated('a', 201)),
  invalid(15, 'detail', 'id', encoded(repeated(ASTRAL, 201))),
  ...['7D', '30d', '7d%20', '', '7', 'week'].map(
    (value) => [16, `/v1/jobs/company?company=a.com&period=${value}`, 'UNSUPPORTED_PERIOD', 'period'] as const,
  ),
  [16, '/v1/jobs/signals?period=30d', 'UNSUPPORTED_PERIOD', 'period'],
  [16, '/v1/jobs/changes?period=30d', 'UNSUPPORTED_PERIOD', 'period'],
  [16, '/v1/jobs/skills?period=', 'UNSUPPORTED_PERIOD', 'period'],
  [16, '/v1/jobs/market?period=7D', 'UNSUPPORTED_PERIOD', 'period'],
  [16, '/v1/jobs/signals?days=7', 'UNKNOWN_PARAMETER', 'days'],
  [17, '/v1/jobs/search?__proto__=1', 'UNKNOWN_PARAMETER', '__proto__'],
  [17, '/v1/jobs/search?constructor=1', 'UNKNOWN_PARAMETER', 'constructor'],
  [17, '/v1/jobs/search?toString=1', 'UNKNOWN_PARAMETER', 'toString'],
  [17, '/v1/jobs/search?hasOwnProperty=1', 'UNKNOWN_PARAMETER', 'hasOwnProperty'],
];

export const GOOD_INPUTS: readonly (readonly [caseNumber: number, path: string])[] = [
  [8, '/v1/jobs/search?&&limit=1&'],
  [9, '/v1/jobs/search?limit=1'],
  [9, '/v1/jobs/search?limit=10'],
  [9, '/v1/jobs/signals?limit=5'],
  [10, '/v1/jobs/search?remote=true&employment_type=full_time'],
  [10, '/v1/jobs/search?remote=false&employment_type=unknown'],
  [11, '/v1/jobs/search?keyword=aa'],
  [11, `/v1/jobs/search?keyword=${repeated('a', 120)}`],
  [11, `/v1/jobs/search?keyword=${encoded(repeated(ASTRAL, 120))}`],
  [11, `/v1/jobs/search?keyword=${encoded(repeated(ASTRAL, 2))}`],
  [11, `/v1/jobs/search?keyword=+++aa+++`],
  [11, `/v1/jobs/search?location=${repeated('a', 80)}`],
  [11, `/v1/jobs/signals?role=${repeated('a', 80)}&location=aa&department=${encoded(repeated(ASTRAL, 80))}`],
  ...WHITE_SPACE.map(
    (space) => [12, `/v1/jobs/search?keyword=${encoded(EIGHT_TERMS.replaceAll(' ', space))}`] as const,
  ),
  // A zero-width space is no white space: this is one term of 26 characters.
  [12, `/v1/jobs/search?keyword=${encoded(NINE_TERMS.replaceAll(' ', '\u200b'))}`],
  [14, `/v1/jobs/company?company=${repeated('a', 63)}.${repeated('b', 63)}.${repeated('c', 63)}.${repeated('d', 61)}`],
  [14, '/v1/jobs/company?company=EXAMPLE.com'],
  [14, '/v1/jobs/company?company=xn--exmple-cua.com'],
  [16, '/v1/jobs/signals?period=7d'],
  [9, '/v1/jobs/changes?limit=10&period=7d'],
  [9, '/v1/jobs/skills?limit=1&role=engineer&location=berlin&department=engineering'],
  [16, '/v1/jobs/market?period=7d&role=engineer'],
];
