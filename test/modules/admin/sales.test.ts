/** The operator's routes: who may ask, what they answer from the books, and that nobody else learns of them. */
import * as v from 'valibot';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WRONG_TOKEN_COUNT_MAX } from '../../../src/access/secret-token.ts';
import { OutageError } from '../../../src/base/outage.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { SaleRecord } from '../../../src/modules/admin/sale-record.ts';
import { salesAnswer } from '../../../src/modules/admin/sales.ts';
import { cursorText, parseCursor } from '../../../src/modules/admin/sales-cursor.ts';
import type { Books } from '../../../src/payment/books.ts';
import { MemoryBooks } from '../../../src/storage/memory/books.ts';
import { openBackend } from '../../../src/storage/open-backend.ts';
import { ADMIN_OPERATIONS, HOOK_URL } from '../../support/declared.ts';
import { type JobsApp, openJobsApp } from '../../support/jobs-app.ts';
import { enter, soldWith } from '../../support/sold.ts';
import { wallet } from '../../support/wallet.ts';

const ADMIN_TOKEN = 'operator-0123456789-0123456789-0123';
const PATHS = ['/admin/v1/sales', '/admin/v1/sales/days'];
const authorization = `Bearer ${ADMIN_TOKEN}`;

/** A server whose books hold the given sales. */
async function withSales(count: number, variables: Readonly<Record<string, string>> = {}): Promise<JobsApp> {
  const books = new MemoryBooks(systemRandom);
  for (let serial = 1; serial <= count; serial++) enter(books, soldWith(serial));
  for (let serial = 2; serial <= count; serial += 2) books.markDelivered(serial);
  return openJobsApp(
    { ADMIN_TOKEN, ...variables },
    { openBackend: async (options, ports) => ({ ...(await openBackend(options, ports)), books }) },
  );
}

interface Page {
  readonly data: { readonly sales: readonly SaleRecord[]; readonly next_cursor: string | null };
  readonly meta: { readonly generated_at: string };
}

const codeOf = (text: string): string => (JSON.parse(text) as { error: { code: string } }).error.code;

describe('the operator', () => {
  let jobs: JobsApp;
  afterEach(() => jobs.close());
  const pageOf = async (query: string): Promise<Page['data']> => {
    const { status, text } = await jobs.get(`/admin/v1/sales${query}`, { authorization });
    expect([query, status]).toEqual([query, 200]);
    return (v.parse(salesAnswer, JSON.parse(text)) as Page).data;
  };

  it('reads page after page what was sold, each sale once, oldest first', async () => {
    jobs = await withSales(25);
    const ids: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 4; pages++) {
      const { sales, next_cursor } = await pageOf(`?limit=10${cursor}`);
      ids.push(...sales.map(({ request_id }) => request_id));
      if (next_cursor === null) break;
      cursor = `&cursor=${next_cursor}`;
    }
    expect(ids).toEqual(Array.from({ length: 25 }, (_, i) => soldWith(i + 1).requestId));
  });

  it('reads what did not go out, and from a time on', async () => {
    jobs = await withSales(20);
    const undelivered = await pageOf('?undelivered=true');
    expect(undelivered.sales.map(({ delivered }) => delivered)).toEqual(Array(10).fill(false));
    const since = await pageOf(`?since=${new Date(soldWith(18).timeMs).toISOString()}&undelivered=false`);
    expect(since.sales.map(({ time }) => time)).toEqual(
      [18, 19, 20].map((serial) => new Date(soldWith(serial).timeMs).toISOString()),
    );
    expect((await pageOf('?since=2026-11-21')).sales).toEqual([]);
    expect((await pageOf('?since=2026-11-20&limit=500')).sales).toHaveLength(20);
  });

  it('reads sums by day, never those of play money with those of money', async () => {
    jobs = await withSales(3);
    await jobs.close();
    const books = new MemoryBooks(systemRandom);
    enter(books, soldWith(1));
    enter(books, soldWith(2, { settlement: 'facilitator' }));
    enter(books, soldWith(3, { settlement: 'facilitator', amountAtomic: 50_000n }));
    enter(books, soldWith(4, { timeMs: Date.UTC(2026, 10, 21) }));
    books.markDelivered(3);
    jobs = await openJobsApp(
      { ADMIN_TOKEN },
      { openBackend: async (options, ports) => ({ ...(await openBackend(options, ports)), books }) },
    );
    const daysFrom = async (query: string): Promise<unknown> =>
      (JSON.parse((await jobs.get(`/admin/v1/sales/days${query}`, { authorization })).text) as { data: unknown }).data;
    const later = { operation: 'searchJobs', sales: 1, amount_atomic: '20000', undelivered: 1 };
    expect(await daysFrom('')).toEqual({
      days: [
        {
          day: '2026-11-20',
          settlement: 'facilitator',
          network: 'eip155:8453',
          operation: 'searchJobs',
          sales: 2,
          amount_atomic: '70000',
          undelivered: 1,
        },
        { day: '2026-11-20', settlement: 'local', network: 'eip155:8453', ...later },
        { day: '2026-11-21', settlement: 'local', network: 'eip155:8453', ...later },
      ],
    });
    expect(await daysFrom('?since=2026-11-21')).toEqual({
      days: [{ day: '2026-11-21', settlement: 'local', network: 'eip155:8453', ...later }],
    });
  });

  it('is asked to come again while the books cannot be read', async () => {
    const unreadable = (): Promise<never> => Promise.reject(new OutageError('fault-canary'));
    jobs = await openJobsApp(
      { ADMIN_TOKEN },
      {
        openBackend: async (options, ports) => {
          const backend = await openBackend(options, ports);
          const books: Books = Object.assign(new MemoryBooks(systemRandom), { list: unreadable, days: unreadable });
          return { ...backend, books };
        },
      },
    );
    for (const path of PATHS) {
      const answer = await jobs.get(path, { authorization });
      expect([answer.status, codeOf(answer.text)]).toEqual([503, 'STATE_UNAVAILABLE']);
      expect(answer.headers.get('retry-after')).toBe('5');
      expect(answer.text).not.toContain('fault-canary');
    }
  });

  it('finds a sale of its own with the request id of the answer', async () => {
    jobs = await openJobsApp({ ADMIN_TOKEN });
    const account = wallet();
    const paid = await jobs.pay(jobs.search, await jobs.payment(jobs.search, account));
    expect(paid.status).toBe(200);
    const { sales } = await pageOf('');
    const requestId = paid.headers.get('x-request-id');
    expect(sales.filter(({ request_id }) => request_id === requestId)).toMatchObject([
      {
        operation: 'searchJobs',
        amount_atomic: '20000',
        payer: account.address,
        settlement: 'local',
        parameters: null,
      },
    ]);
  });
});

it('a cursor is the one that was given out', () => {
  const cursor = { timeMs: Date.UTC(2026, 10, 20), serial: 123_456 };
  expect(parseCursor(cursorText(cursor))).toEqual(cursor);
  for (const text of ['', '-', 'a', 'A-1', '1-', ' 1-1', '1-1-1', 'zzzzzzzzzzz-1', '00-0']) {
    expect([text, parseCursor(text)]).toEqual([text, undefined]);
  }
});

describe('the way in of the operator', () => {
  let jobs: JobsApp;
  beforeAll(async () => {
    jobs = await openJobsApp({ ADMIN_TOKEN, CORS_ORIGIN: '*' });
  });
  afterAll(() => jobs.close());

  it.each<readonly [string | undefined, string, string]>([
    [undefined, 'MISSING_AUTHORIZATION', 'there is no header'],
    ['', 'INVALID_AUTHORIZATION', 'it is blank'],
    [`Basic ${ADMIN_TOKEN}`, 'INVALID_AUTHORIZATION', 'the scheme is another'],
    [`${authorization}, ${authorization}`, 'INVALID_AUTHORIZATION', 'it is repeated'],
    ['Bearer', 'INVALID_TOKEN', 'there is no token'],
    [`${authorization}x`, 'INVALID_TOKEN', 'it goes on'],
    [authorization.slice(0, -1), 'INVALID_TOKEN', 'it is cut'],
    [`Bearer ${ADMIN_TOKEN.toUpperCase()}`, 'INVALID_TOKEN', 'a token has case'],
  ])('refuses %s with 401 %s, because %s', async (sent, code, _because) => {
    for (const path of PATHS) {
      const answer = await jobs.get(path, sent === undefined ? {} : { authorization: sent });
      expect([answer.status, codeOf(answer.text)]).toEqual([401, code]);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  });

  it('accepts the token under a scheme of any case, and lets no cache store the answer', async () => {
    for (const path of PATHS) {
      const answer = await jobs.get(path, { authorization: `bEARER   ${ADMIN_TOKEN}` });
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
    }
  });

  it.each([
    ['?limit=0', 'INVALID_PARAMETER'],
    ['?limit=501', 'INVALID_PARAMETER'],
    ['?limit=1000', 'INVALID_PARAMETER'],
    ['?since=yesterday', 'INVALID_PARAMETER'],
    ['?since=2026-02-30', 'INVALID_PARAMETER'],
    ['?since=', 'INVALID_PARAMETER'],
    ['?undelivered=1', 'INVALID_PARAMETER'],
    ['?cursor=', 'INVALID_PARAMETER'],
    ['?cursor=zz', 'INVALID_PARAMETER'],
    ['?cursor=01-1', 'INVALID_PARAMETER'],
    ['?page=1', 'UNKNOWN_PARAMETER'],
    ['?limit=1&limit=2', 'DUPLICATE_PARAMETER'],
  ])('tells the operator what is wrong with %s, and a stranger only that a token is missing', async (query, code) => {
    const answer = await jobs.get(`/admin/v1/sales${query}`, { authorization });
    expect([answer.status, codeOf(answer.text)]).toEqual([400, code]);
    const stranger = await jobs.get(`/admin/v1/sales${query}`);
    expect([stranger.status, codeOf(stranger.text)]).toEqual([401, 'MISSING_AUTHORIZATION']);
  });

  it('never opens to pages of another origin: no answer, refusal or preflight carries CORS', async () => {
    const headers = { authorization, Origin: 'https://app.example', 'Access-Control-Request-Method': 'GET' };
    const html = { accept: 'text/html' };
    const answers = [
      await jobs.get('/admin/v1/sales', headers),
      await jobs.get('/admin/v1/sales?limit=0', headers),
      await jobs.get('/admin/v1/sales/days', { Origin: 'https://app.example' }),
      await jobs.get('/admin', headers),
      await jobs.get('/admin/v1/nothing', headers),
      await jobs.get('/sales', headers),
      await jobs.get('/sales', html),
      await jobs.get('/boards', html),
      await jobs.send('/admin/v1/sales', { method: 'OPTIONS', headers }),
      await jobs.send('/admin/v1/sales', { method: 'POST', headers }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 401, 404, 404, 404, 200, 404, 405, 405]);
    const init = { method: 'OPTIONS', headers: { ...headers, ...html } };
    const preflight = await jobs.opened.app.fetch(new Request('http://h/sales', init));
    expect(preflight.status).toBe(405);
    for (const answer of [...answers, preflight]) {
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    for (const path of ['/health', '/administration', '/salesman']) {
      expect((await jobs.get(path)).headers.get('access-control-allow-origin')).toBe('*');
    }
  });

  it('answers 429 to one network after many wrong tokens, and lets the right one pass', async () => {
    const own = await openJobsApp({ ADMIN_TOKEN, TRUST_PROXY: 'true' });
    const wrong = (from: string) =>
      own.get('/admin/v1/sales', { authorization: 'Bearer wrong', 'x-forwarded-for': from });
    for (let count = 0; count < WRONG_TOKEN_COUNT_MAX; count++) {
      expect((await wrong(`2001:db8::${count + 1}`)).status).toBe(401);
    }
    const limited = await wrong('2001:db8::ffff');
    expect([limited.status, codeOf(limited.text)]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await wrong('2001:db9::1')).status).toBe(401);
    const right = await own.get('/admin/v1/sales', { authorization, 'x-forwarded-for': '2001:db8::1' });
    expect(right.status).toBe(200);
    await own.close();
  });
});

describe('what everybody sees', () => {
  it.each([{}, { ADMIN_TOKEN }])('names no operation of the operator in any document, with %j', async (variables) => {
    const jobs = await openJobsApp({ HOOK_BASE_URL: HOOK_URL, ...variables });
    for (const path of ['/openapi.json', '/llms.txt', '/.well-known/x402', '/.well-known/api-catalog', '/metrics']) {
      const { status, text } = await jobs.get(path);
      expect([path, status, /\/admin|adminToken|\/sales/.test(text)]).toEqual([path, 200, false]);
    }
    for (const path of ['/', '/docs', '/inbox']) {
      const { text } = await jobs.get(path, { accept: 'text/html' });
      expect([path, /admin|sales\b/i.test(text)]).toEqual([path, false]);
    }
    await jobs.close();
  });

  it('is 404 on every path of the operator without ADMIN_TOKEN, with any token', async () => {
    const jobs = await openJobsApp();
    const unknown = await jobs.get('/nothing');
    const withoutId = (text: string) => text.replace(/req_[0-9a-f-]+/, '');
    for (const path of [...PATHS, '/sales']) {
      for (const headers of [{}, { authorization }, { accept: 'text/html' }]) {
        const answer = await jobs.get(path, headers);
        expect([path, answer.status]).toEqual([path, 404]);
        expect(withoutId(answer.text)).toBe(withoutId(unknown.text));
      }
      expect((await jobs.send(path, { method: 'POST' })).status).toBe(404);
    }
    await jobs.close();
  });

  it('has paths of the operator that say so: those without CORS begin with /admin/', () => {
    expect(ADMIN_OPERATIONS.length).toBeGreaterThan(1);
    expect(ADMIN_OPERATIONS.filter(({ path }) => !path.startsWith('/admin/v1/'))).toEqual([]);
  });
});
