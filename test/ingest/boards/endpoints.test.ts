/** What is asked for each kind of board, how one page leads to the next, and when a feed is whole. */
import { describe, expect, it } from 'vitest';
import {
  addressOfToken,
  type Board,
  type BoardShape,
  nameOfBoard,
  parseBoardName,
} from '../../../src/ingest/boards/board.ts';
import {
  detailRequest,
  documentOf,
  type FeedProgress,
  firstStep,
  mayBeOneAnswer,
  statedJobs,
  stepAfter,
  withDescription,
} from '../../../src/ingest/boards/endpoints.ts';
import {
  addressBehind,
  type BoardOrigins,
  parseBoardOrigins,
  replacedAddress,
} from '../../../src/ingest/boards/origins.ts';
import { type TenantPosting, type TenantRules, tenantAnswer } from '../../support/workday-tenant.ts';

/** The boards' own. */
const OWN_ORIGINS: BoardOrigins = new Map();

const board = (shape: BoardShape, token: string, address = addressOfToken({ shape, token })!): Board => ({
  ...{ shape, token, address, company: null, domain: null },
});
const WORKDAY = board('workday', 'acme/Careers', 'https://acme.wd5.myworkdayjobs.com/Careers');

/** Reads a feed to its end. @param answer to each request */
function feedOf(
  of: Board,
  answer: (request: { url: string; body: string | null }) => unknown,
): { end: FeedProgress; asked: string[] } {
  const asked: string[] = [];
  let progress: FeedProgress = firstStep(of, OWN_ORIGINS);
  while (progress.kind === 'next') {
    const { request, step } = progress;
    asked.push(request.body === null ? request.url : `${request.url} ${request.body}`);
    progress = stepAfter(of, step, answer(request), OWN_ORIGINS);
  }
  return { end: progress, asked };
}

describe('the first request of a board', () => {
  it.each([
    [board('greenhouse', 'acme'), 'https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true'],
    [
      board('greenhouse', 'acme', 'https://job-boards.eu.greenhouse.io/acme'),
      'https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true',
    ],
    [board('lever', 'acme'), 'https://api.lever.co/v0/postings/acme?mode=json'],
    [board('lever', 'acme', 'https://jobs.eu.lever.co/acme'), 'https://api.eu.lever.co/v0/postings/acme?mode=json'],
    [board('ashby', 'Retool Labs'), 'https://api.ashbyhq.com/posting-api/job-board/Retool%20Labs'],
    [board('smartrecruiters', 'Acme'), 'https://api.smartrecruiters.com/v1/companies/Acme/postings?limit=100&offset=0'],
    [board('workable', 'acme'), 'https://apply.workable.com/api/v1/widget/accounts/acme?details=true'],
    [board('recruitee', 'acme'), 'https://acme.recruitee.com/api/offers/'],
    [board('recruitee', 'jobs.acme.nl'), 'https://jobs.acme.nl/api/offers/'],
    [board('teamtailor', 'acme', 'https://acme.na.teamtailor.com'), 'https://acme.na.teamtailor.com/jobs.json'],
    [board('jsonld', 'acme.com', 'https://www.acme.com/jobs?lang=de'), 'https://www.acme.com/jobs?lang=de'],
  ])('%o', (of, url) => {
    const accept = of.shape === 'jsonld' ? 'text/html' : 'application/json';
    expect(firstStep(of, OWN_ORIGINS).request).toEqual({ method: 'GET', url, body: null, accept });
  });

  it('of Workday is a search of twenty', () => {
    const { request } = firstStep(WORKDAY, OWN_ORIGINS);
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://acme.wd5.myworkdayjobs.com/wday/cxs/acme/Careers/jobs',
    });
    expect(JSON.parse(request.body!)).toEqual({ appliedFacets: {}, limit: 20, offset: 0, searchText: '' });
  });
});

describe('a feed', () => {
  it.each([
    [board('greenhouse', 'a'), { jobs: [{}, {}], meta: { total: 2 } }, { kind: 'complete', rows: 2 }],
    [board('greenhouse', 'a'), { jobs: [], meta: { total: 0 } }, { kind: 'complete', rows: 0 }],
    [board('greenhouse', 'a'), { jobs: [{}], meta: { total: 2 } }, { kind: 'partial', rows: 1 }],
    [board('greenhouse', 'a'), { error: 'no' }, { kind: 'broken' }],
    [board('lever', 'a'), [{}, {}, {}], { kind: 'complete', rows: 3 }],
    [board('lever', 'a'), { ok: false }, { kind: 'broken' }],
    [board('ashby', 'a'), { apiVersion: '1', jobs: [{}] }, { kind: 'complete', rows: 1 }],
    [board('ashby', 'a'), null, { kind: 'broken' }],
    [board('workable', 'a'), { name: 'A', jobs: [{}] }, { kind: 'complete', rows: 1 }],
    [board('recruitee', 'a'), { offers: [] }, { kind: 'complete', rows: 0 }],
    [board('recruitee', 'a'), { offers: {} }, { kind: 'broken' }],
  ])('of one answer: %o', (of, document, end) => {
    expect(mayBeOneAnswer(of)).toBe(true);
    const reason = end.kind === 'broken' ? { reason: expect.stringContaining(of.shape) } : {};
    expect(feedOf(of, () => document).end).toMatchObject({ ...end, ...reason });
  });

  it('whose jobs are on several pages is more than one answer', () => {
    expect([WORKDAY, board('smartrecruiters', 'a')].map(mayBeOneAnswer)).toEqual([false, false]);
  });

  it('of SmartRecruiters goes on by what it has, and is cut short when pages run dry', () => {
    const of = board('smartrecruiters', 'Acme');
    const rows = (count: number): unknown[] => Array.from({ length: count }, () => ({}));
    const page = (offset: number): unknown => ({ totalFound: 230, content: rows(Math.min(100, 230 - offset)) });
    const offsetOf = (url: string): number => Number(new URL(url).searchParams.get('offset'));
    const whole = feedOf(of, ({ url }) => page(offsetOf(url)));
    expect(whole.end).toEqual({ kind: 'complete', rows: 230 });
    expect(whole.asked.map(offsetOf)).toEqual([0, 100, 200]);
    const dry = feedOf(of, ({ url }) => (offsetOf(url) < 100 ? page(0) : { totalFound: 230, content: [] }));
    expect(dry.end).toMatchObject({ kind: 'partial', rows: 100 });
  });

  it('of Teamtailor follows next_url on its own host alone', () => {
    const of = board('teamtailor', 'acme');
    const next = feedOf(of, ({ url }) =>
      url.includes('page=2') ? { items: [{}] } : { items: [{}, {}], next_url: '/jobs.json?page=2' },
    );
    expect(next.end).toEqual({ kind: 'complete', rows: 3 });
    const away = feedOf(of, () => ({ items: [{}], next_url: 'https://elsewhere.example/jobs.json' }));
    expect([away.end.kind, away.asked.length]).toEqual(['partial', 1]);
    let page = 1;
    const endless = feedOf(of, () => ({ items: [{}], next_url: `/jobs.json?page=${++page}` }));
    expect(endless.end).toMatchObject({ kind: 'partial', rows: 500 });
  });

  it('that leads back to a page it had ends there, and closes nothing', () => {
    const of = board('teamtailor', 'acme');
    const itself = feedOf(of, () => ({ items: [{}], next_url: '/jobs.json' }));
    expect([itself.end, itself.asked.length]).toMatchObject([{ kind: 'partial', rows: 1 }, 1]);
    const circle = feedOf(of, ({ url }) => ({ items: [{}], next_url: url.includes('?') ? '/jobs.json' : '?page=2' }));
    expect([circle.end, circle.asked.length]).toMatchObject([{ kind: 'partial', rows: 2 }, 2]);
  });

  it('of Workday takes the total of its first page, since later ones may say 0', () => {
    const { end, asked } = feedOf(WORKDAY, ({ body }) => {
      const { offset } = JSON.parse(body!) as { offset: number };
      return {
        total: offset === 0 ? 45 : 0,
        jobPostings: Array.from({ length: Math.min(20, 45 - offset) }, () => ({})),
      };
    });
    expect(end).toEqual({ kind: 'complete', rows: 45 });
    expect(asked).toHaveLength(3);
  });

  it('of Workday over 2000 is searched by the facet whose parts add up, those in groups included', () => {
    const facets = [
      {
        facetParameter: 'jobFamily',
        values: [
          { id: 'a', count: 1990 },
          { id: 'b', count: 30 },
        ],
      },
      { facetParameter: 'type', values: [{ id: 'x', count: 2100 }] },
      {
        facetParameter: 'places',
        values: [
          {
            facetParameter: 'country',
            values: [
              { id: 'us', count: 1500 },
              { id: 'ch', count: 510 },
            ],
          },
        ],
      },
    ];
    const { end, asked } = feedOf(WORKDAY, ({ body }) => {
      const { appliedFacets, offset } = JSON.parse(body!) as {
        appliedFacets: { country?: string[] };
        offset: number;
      };
      const country = appliedFacets.country?.[0] ?? '';
      const total = { '': 2010, us: 1500, ch: 510 }[country]!;
      const first = (country === 'ch' ? 1500 : 0) + offset;
      const rows = Array.from({ length: Math.min(20, total - offset) }, (_, row) => ({
        externalPath: `/${first + row}`,
      }));
      return { total, jobPostings: rows, facets };
    });
    expect(end).toMatchObject({ kind: 'complete', rows: 2030 });
    expect(asked.filter((one) => one.includes('jobFamily'))).toEqual([]);
  });

  describe('of Workday over 2000 is whole only when as many different postings came as the search states', () => {
    /** Postings of two families, 1100 in the first. @param others facets of the postings at those places */
    const postings = (count: number, others: Readonly<Record<number, TenantPosting['facets']>> = {}): TenantPosting[] =>
      Array.from({ length: count }, (_, at) => ({
        externalPath: `/job/x_R${at}`,
        facets: others[at] ?? { family: [at < 1100 ? 'a' : 'b'] },
      }));
    const counting = { isCapped: false };
    const capped = { isCapped: true };
    it.each<[string, TenantPosting[], TenantRules, string, number]>([
      ['every posting has the facet', postings(2040), counting, 'complete', 2060],
      ['2001 postings', postings(2001), counting, 'complete', 2021],
      ['one posting has no facet', postings(2040, { 2000: {} }), counting, 'partial', 2059],
      ['one without a facet stands on the first page', postings(2040, { 3: {} }), counting, 'complete', 2059],
      [
        'one posting has no facet and another has it twice, so that the counts add up',
        postings(2040, { 1999: { family: ['a', 'b'] }, 2000: {} }),
        counting,
        'partial',
        2060,
      ],
      ['one posting has two values', postings(2040, { 2000: { family: ['a', 'b'] } }), counting, 'complete', 2061],
      [
        'no facet, and the search goes on',
        postings(2040).map((one) => ({ ...one, facets: {} })),
        counting,
        'complete',
        2040,
      ],
      ['the tenant states 2000 of 2040', postings(2040), capped, 'partial', 2060],
      ['the tenant states 2000, and has as many', postings(2000), capped, 'partial', 2020],
      [
        'the tenant states 2000 and has no facet',
        postings(2040).map((one) => ({ ...one, facets: {} })),
        capped,
        'partial',
        2000,
      ],
      ['1999 postings are no split', postings(1999, { 1000: {} }), capped, 'complete', 1999],
    ])('%s', (_, of, rules, kind, rows) => {
      expect(feedOf(WORKDAY, ({ body }) => tenantAnswer(of, body!, rules)).end).toMatchObject({ kind, rows });
    });

    it('a search that states more than 2000 and begins again there is not whole', () => {
      const of = postings(2040).map((one) => ({ ...one, facets: {} }));
      const { end } = feedOf(WORKDAY, ({ body }) => {
        const answer = tenantAnswer(of, body!, capped) as { total: number };
        return { ...answer, total: 2040 };
      });
      expect(end).toMatchObject({ kind: 'partial', rows: 2040 });
    });
  });

  it('of Workday whose facets have facets, and so on, comes to an end', () => {
    const nested = `[${'{"facetParameter":"a","values":['.repeat(50_000)}${']}'.repeat(50_000)}]`;
    const answer = { total: 2000, jobPostings: [{ externalPath: '/job/a' }], facets: JSON.parse(nested) as unknown };
    const { end } = feedOf(WORKDAY, ({ body }) => (body!.includes('"offset":0') ? answer : { jobPostings: [] }));
    expect(end.kind).toBe('partial');
  });

  it('of a page has its postings, and the pages of its own host that it lists', () => {
    const of = board('jsonld', 'acme.com', 'https://acme.com/jobs');
    const list = (...urls: string[]): unknown[] => [
      { '@type': 'ItemList', itemListElement: urls.map((url) => ({ '@type': 'ListItem', url })) },
    ];
    const found = feedOf(of, ({ url }) =>
      url.endsWith('/jobs')
        ? list('/jobs/1', 'https://acme.com/jobs/2', 'https://elsewhere.example/3')
        : [{ '@type': 'JobPosting' }],
    );
    // What stands on another host is listed too, so nothing that is missing here is taken for closed.
    expect(found.end).toMatchObject({ kind: 'partial', rows: 2 });
    const pageOf = ({ url }: { url: string }): unknown =>
      url.endsWith('/jobs') ? list('/jobs/1') : [{ '@type': 'JobPosting' }];
    expect(feedOf(of, pageOf).end).toEqual({ kind: 'complete', rows: 1 });
    const stating =
      (numberOfItems: unknown) =>
      (request: { url: string }): unknown =>
        request.url.endsWith('/jobs')
          ? [{ '@type': 'ItemList', numberOfItems, itemListElement: [{ '@type': 'ListItem', url: '/jobs/1' }] }]
          : pageOf(request);
    expect(feedOf(of, stating(1)).end.kind).toBe('complete');
    expect(feedOf(of, stating('45')).end.kind).toBe('partial');
    const paged =
      '<script type="application/ld+json">{"@type":"JobPosting"}</script><a rel="nofollow next" href="?page=2">';
    expect(feedOf(of, () => documentOf(of, paged)!.document).end.kind).toBe('partial');
    expect(feedOf(of, () => documentOf(of, paged.replace('next', 'prev'))!.document).end.kind).toBe('complete');
    expect(found.asked).toEqual(['https://acme.com/jobs', 'https://acme.com/jobs/1', 'https://acme.com/jobs/2']);
    // A page that lost its markup does not say that the company has no jobs, nor does one that leads to other hosts alone.
    expect(feedOf(of, () => []).end.kind).toBe('broken');
    expect(feedOf(of, () => list('https://elsewhere.example/3')).end.kind).toBe('broken');
    expect(feedOf(of, () => list('/jobs')).end.kind).toBe('broken');
  });
});

describe('a description that the list lacks', () => {
  it('is asked for with SmartRecruiters and Workday, and never where the row has it', () => {
    const of = board('smartrecruiters', 'Acme');
    expect(detailRequest(of, { id: '744' }, OWN_ORIGINS)?.url).toBe(
      'https://api.smartrecruiters.com/v1/companies/Acme/postings/744',
    );
    expect(detailRequest(of, { id: '744', jobAd: {} }, OWN_ORIGINS)).toBeUndefined();
    expect(detailRequest(WORKDAY, { externalPath: '/job/Bern/Cook_R1' }, OWN_ORIGINS)?.url).toBe(
      'https://acme.wd5.myworkdayjobs.com/wday/cxs/acme/Careers/job/Bern/Cook_R1',
    );
    expect(detailRequest(WORKDAY, { externalPath: '@elsewhere.example/x' }, OWN_ORIGINS)).toBeUndefined();
    expect(detailRequest(board('greenhouse', 'a'), { id: 1 }, OWN_ORIGINS)).toBeUndefined();
  });

  it('gives its description to the row, and nothing else', () => {
    const jobAd = { sections: {} };
    expect(withDescription(board('smartrecruiters', 'a'), { id: '1', name: 'Cook' }, { name: 'Chef', jobAd })).toEqual({
      id: '1',
      name: 'Cook',
      jobAd,
    });
    const detail = { jobPostingInfo: { title: 'Chef', jobDescription: '<p>Cooks' } };
    expect(withDescription(WORKDAY, { title: 'Cook' }, detail)).toEqual({
      title: 'Cook',
      jobPostingInfo: { jobDescription: '<p>Cooks' },
    });
  });
});

describe('BOARD_ENDPOINTS', () => {
  it('replaces origins, and keeps the hosts of boards that have hosts of their own', () => {
    const parsed = parseBoardOrigins('greenhouse=http://127.0.0.1:9000, recruitee=https://mirror.example/');
    const origins = parsed.ok ? parsed.origins : OWN_ORIGINS;
    expect(firstStep(board('greenhouse', 'a'), origins).request.url).toBe(
      'http://127.0.0.1:9000/v1/boards/a/jobs?content=true',
    );
    const { url } = firstStep(board('recruitee', 'a'), origins).request;
    expect(url).toBe('https://mirror.example/a.recruitee.com/api/offers/');
    expect(addressBehind(url, 'recruitee', origins)).toBe('https://a.recruitee.com/api/offers/');
    expect(replacedAddress('https://x.example/y', 'lever', false, origins)).toBe('https://x.example/y');
  });

  it.each([
    [board('greenhouse', 'a'), 'v1'],
    [board('lever', 'a'), 'v0'],
    [board('ashby', 'a'), 'posting-api'],
    [board('smartrecruiters', 'a'), 'v1'],
    [board('workable', 'a'), 'api'],
    [board('recruitee', 'a'), 'a.recruitee.com'],
    [board('teamtailor', 'a'), 'a.teamtailor.com'],
    [WORKDAY, 'acme.wd5.myworkdayjobs.com'],
    [board('jsonld', 'a.com', 'https://a.com/jobs'), 'a.com'],
  ] as const)('%o: what follows the origin begins with %s', (of, start) => {
    const { url } = firstStep(of, new Map([[of.shape, 'https://mirror.example']])).request;
    expect(url.startsWith(`https://mirror.example/${start}/`)).toBe(true);
  });

  it.each([
    'greenhouse',
    'greenhouse=',
    'other=http://x',
    'lever=http://x/path',
    'lever=ftp://x',
    'lever=http://x,lever=http://y',
    'lever=http://x,',
    ',',
  ])('refuses %s', (text) =>
    expect(parseBoardOrigins(text)).toMatchObject({ ok: false, reason: expect.stringMatching(/^shape=origin/) }),
  );
});

it('an answer that is no JSON is no document, and a page’s is its JSON-LD', () => {
  expect(documentOf({ shape: 'lever' }, '<html>')).toBeUndefined();
  expect(documentOf({ shape: 'lever' }, '\uFEFF[]')).toEqual({ document: [] });
  expect(documentOf({ shape: 'jsonld' }, '<script type="application/ld+json">{"a":1}</script>')).toEqual({
    document: [{ a: 1 }],
  });
});

it.each([
  [board('smartrecruiters', 'a'), { totalFound: 359, content: [{}] }, 359],
  [WORKDAY, { total: 2000, jobPostings: [{}], facets: [] }, 2000],
  [board('lever', 'a'), [{}, {}], 2],
  [board('teamtailor', 'a'), { items: [{}, {}] }, 2],
])('the number of jobs that %o has now', (of, document, jobs) =>
  expect(statedJobs(of, document)).toEqual({ jobs, isFirstPage: false }),
);

it('jobs of a first page are said to be that where it leads to another and states no total', () => {
  const page = { items: [{}, {}], next_url: 'https://a.teamtailor.com/jobs.json?page=2' };
  expect(statedJobs(board('teamtailor', 'a'), page)).toEqual({ jobs: 2, isFirstPage: true });
  const list = { '@type': 'ItemList', itemListElement: [{ '@type': 'ListItem', position: 1, url: 'https://a.com/1' }] };
  expect(statedJobs(board('jsonld', 'a.com'), [list])).toEqual({ jobs: 1, isFirstPage: false });
  expect(statedJobs(board('lever', 'a'), {})).toBeUndefined();
});

it.each([
  ['greenhouse:acme', { shape: 'greenhouse', token: 'acme' }],
  ['workday:acme/Site', { shape: 'workday', token: 'acme/Site' }],
  ['ashby:Retool Labs', { shape: 'ashby', token: 'Retool Labs' }],
  ['https://acme.com', undefined],
  ['jsonld://acme', undefined],
  ['greenhouse:', undefined],
  ['native:x', undefined],
  ['acme', undefined],
])('the name %s', (text, named) => {
  expect(parseBoardName(text)).toEqual(named);
  if (named !== undefined) expect(nameOfBoard(named as Board)).toBe(text);
});
