/** Cases 1 to 24 of the reliability catalogue: what is decided before anybody pays. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchJobs } from '../../src/modules/jobs/search.ts';
import { type Answer, expectError, expectOffer, expectPaid, parsedBody } from '../support/answers.ts';
import { expectAtPaceOf } from '../support/pace.ts';
import { exchange, rawGet, requestText } from '../support/raw-socket.ts';
import { RUNTIMES } from '../support/server.ts';
import { wallet } from '../support/wallet.ts';
import { type Counter, JOBS_PATHS, openCounter } from './counter.ts';
import { BAD_INPUTS, encoded, GOOD_INPUTS, repeated } from './inputs.ts';

describe.each(RUNTIMES)('before payment, under %s', (runtime) => {
  let counter: Counter;
  const account = wallet();
  beforeAll(async () => {
    counter = await openCounter(runtime);
  });
  afterAll(async () => {
    expect(await counter.server.stop()).toBe(0);
  });

  /** The server still answers after whatever was done to it. */
  const expectAlive = async (): Promise<void> => {
    expect((await counter.get('/health')).status).toBe(200);
  };

  const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND'];

  it.each(JOBS_PATHS.flatMap((path) => METHODS.map((method) => [method, path] as const)))(
    'case 1, 2, 4: %s %s is 405 with Allow: GET',
    async (method, path) => {
      const { answers } = await exchange(counter.port, requestText(method, path, ['Host: x', 'Content-Length: 0']));
      const [answer] = answers as [Answer];
      // A method that the runtime's parser does not know is refused by it, without a body of ours.
      if (method === 'QUERY' && answer.status === 400) return;
      expectError(answer, 405, 'METHOD_NOT_ALLOWED');
      expect(answer.headers.get('allow')).toBe('GET');
    },
  );

  it.each(JOBS_PATHS)('case 1: HEAD %s is 405 with Allow: GET and no body', async (path) => {
    const request = requestText('HEAD', path, ['Host: x', 'Connection: close']);
    const { answers, received } = await exchange(counter.port, request, { methods: ['HEAD'] });
    expect(answers[0]?.status).toBe(405);
    expect(answers[0]?.headers.get('allow')).toBe('GET');
    expect(answers[0]?.headers.get('payment-required')).toBeNull();
    expect(received.endsWith('\r\n\r\n')).toBe(true);
  });

  it.each(['x:443', '/v1/jobs/search'])('case 3: CONNECT %s is refused and the process serves on', async (target) => {
    const { answers } = await exchange(counter.port, requestText('CONNECT', target, ['Host: x']), { timeoutMs: 300 });
    for (const answer of answers) expect([400, 404, 405, 501]).toContain(answer.status);
    await expectAlive();
  });

  it.each(['get', 'Get', 'FOO', 'G\u00cbT', ''])(
    'case 4: the method %j is 405 or a refusal by the parser, never an answer',
    async (method) => {
      const { answers } = await exchange(counter.port, requestText(method, counter.search, ['Host: x']), {
        timeoutMs: 300,
      });
      // 501 and 505 are words of the runtimes' parsers for what is no HTTP to them.
      for (const answer of answers) expect([400, 405, 501, 505]).toContain(answer.status);
      await expectAlive();
    },
  );

  it.each([
    '//v1/jobs/search',
    '/v1//jobs/search',
    '/v1/jobs/search/',
    '/v1/jobs/search//',
    '/v1/%6aobs/search',
    '/%76%31/jobs/search',
    '/v1/jobs/search;x',
    '/v1/jobs/search;x=1?limit=1',
    '/v1/jobs%2Fsearch',
    '/v1%2fjobs/search',
    '/v1/jobs%5Csearch',
    '/V1/jobs/search',
    '/v1/jobs/Search',
    '/v1/jobs/search%20',
    '/v1/jobs/search%00',
    '/v1/jobs/search.json',
    '/v1/jobs',
    '/v1/jobs/',
    '/v1',
    '/v1/jobs/companies',
    '/v1/jobs/search%3Flimit=1',
  ])('case 5: the alias %s is 404', async (target) => {
    expectError(await rawGet(counter.port, target), 404, 'NOT_FOUND');
  });

  it.each([
    '/v1/x/../jobs/search',
    '/v1/./jobs/search',
    '/v1/x/%2e%2e/jobs/search',
    '/v1/%2e/jobs/search',
    '/v1/x/.%2E/jobs/search',
    '\\v1\\jobs\\search',
    '/v1\\jobs\\search',
    '/../../v1/jobs/search',
    '/v1/jobs/search#fragment',
  ])('case 5: the alias %s, which a runtime may fold, is 404, 400 or the same paywall', async (target) => {
    const { answers } = await exchange(counter.port, requestText('GET', target, ['Host: x', 'Connection: close']));
    const [answer] = answers as [Answer];
    if (answer.status === 402) expectError(answer, 402, 'PAYMENT_REQUIRED');
    else if (answer.status === 404) expectError(answer, 404, 'NOT_FOUND');
    else expect(answer.status).toBe(400);
  });

  it('case 6: every jobs route of the contract has a price and asks for it', async () => {
    const { paths } = JSON.parse((await counter.get('/openapi.json')).text) as {
      paths: Record<string, { get?: Record<string, unknown> }>;
    };
    const jobs = Object.entries(paths).filter(([path]) => path.startsWith('/v1/jobs/'));
    expect(jobs.map(([path]) => path).sort()).toEqual([...JOBS_PATHS].sort());
    for (const [path, { get }] of jobs) {
      expect(get?.['x-payment-info']).toMatchObject({ protocols: ['x402'] });
      expectError(await counter.get(path === '/v1/jobs/company' ? counter.company : path), 402, 'PAYMENT_REQUIRED');
    }
  });

  it.each(BAD_INPUTS)('case %i: %s is 400 %s, unpaid', async (_, path, code, named) => {
    const { message } = expectError(await rawGet(counter.port, path), 400, code);
    expect(message).toContain(named);
  });

  it.each(GOOD_INPUTS)('case %i: %s is accepted', async (_, path) => {
    expectError(await rawGet(counter.port, path), 402, 'PAYMENT_REQUIRED');
  });

  it('case 15: an unknown company is 402 unpaid, and 404 without a charge to a good payment', async () => {
    const path = '/v1/jobs/company?company=nobody.example.org';
    expectError(await counter.get(path), 402, 'PAYMENT_REQUIRED');
    const payment = await counter.payment(counter.company, account);
    const { message } = expectError(await counter.pay(path, payment), 404, 'COMPANY_NOT_FOUND');
    expect(message).toContain('nobody.example.org');
    expectPaid(await counter.pay(counter.company, payment), account.address);
  });

  it.each([
    ['5,000 parameters', repeated('&limit=1', 5000).slice(1)],
    ['5,000 unknown parameters', repeated('&a=1', 3000).slice(1)],
    ['a value of 15 KiB', `keyword=${repeated('a', 15 * 1024)}`],
    ['a name of 15 KiB', repeated('a', 15 * 1024)],
    ['a value of 5,000 escapes', `keyword=${repeated('%20', 5000)}`],
  ])('case 18: %s are 400, 414 or 431, and soon', async (_, query) => {
    const expectRefused = async (sent: string): Promise<void> => {
      const { answers } = await exchange(
        counter.port,
        requestText('GET', `/v1/jobs/search?${sent}`, ['Host: x', 'Connection: close']),
      );
      expect([400, 414, 431]).toContain(answers[0]?.status);
    };
    await expectAtPaceOf(
      () => expectRefused('limit=0'),
      () => expectRefused(query),
    );
  });

  it('case 19: a keyword of 120 characters of near-matches is answered soon', async () => {
    const payments = await Promise.all(Array.from({ length: 6 }, () => counter.payment(counter.search, account)));
    const expectBought = async (keyword: string, payment: unknown): Promise<void> =>
      void expectPaid(await counter.pay(`/v1/jobs/search?keyword=${keyword}`, payment as never), account.address);
    const near = encoded(repeated('engineee ', 8).trim() + repeated('e', 49));
    await expectAtPaceOf(
      (index) => expectBought('engineer', payments[index]),
      (index) => expectBought(near, payments[3 + index]),
    );
  });

  it.each([
    ['search', '/v1/jobs/search?limit=0'],
    ['company', '/v1/jobs/company?company=localhost'],
    ['signals', '/v1/jobs/signals?days=7'],
  ] as const)('case 20: a good payment with bad input to %s is 400 and still buys afterwards', async (route, bad) => {
    const payment = await counter.payment(counter[route], account);
    expectError(await counter.pay(bad, payment), 400, ['INVALID_PARAMETER', 'UNKNOWN_PARAMETER']);
    expectPaid(await counter.pay(counter[route], payment), account.address);
  });

  it.each([
    ['Content-Length', ['Content-Length: 5'], 'hello'],
    ['chunks', ['Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n'],
    ['a body that looks like a request', ['Content-Length: 30'], 'GET /health HTTP/1.1\r\nHost: x\r\n'.slice(0, 30)],
  ] as const)('case 21: a GET with a body (%s) is answered, and so is what follows it', async (_, headers, body) => {
    const first = requestText('GET', counter.search, ['Host: x', ...headers], body);
    const second = requestText('GET', '/v1/jobs/search?limit=0', ['Host: x']);
    const { answers } = await exchange(counter.port, first + second, { answerCount: 2 });
    expectError(answers[0] as Answer, 402, 'PAYMENT_REQUIRED');
    expectError(answers[1] as Answer, 400, 'INVALID_PARAMETER');
  });

  it('case 21: ten requests in one write are answered in order', async () => {
    const limits = Array.from({ length: 10 }, (_, i) => i + 2);
    const requests = limits.map((limit) => requestText('GET', `/v1/jobs/search?limit=${limit}`, ['Host: x']));
    const { answers } = await exchange(counter.port, requests.join(''), { answerCount: 10 });
    expect(answers.map(({ status }) => status)).toEqual([...Array(9).fill(402), 400]);
    const urls = answers.slice(0, 9).map((answer) => expectOffer(answer).resource.url);
    expect(urls).toEqual(limits.slice(0, 9).map((limit) => counter.url(`/v1/jobs/search?limit=${limit}`)));
  });

  it.each(['http://evil.example', 'https://evil.example:1', 'http://user@evil.example'])(
    'case 22: the absolute form %s/v1/jobs/search is served by its path alone',
    async (origin) => {
      const { answers } = await exchange(
        counter.port,
        requestText('GET', `${origin}/v1/jobs/search?limit=1`, ['Host: x', 'Connection: close']),
      );
      const [answer] = answers as [Answer];
      expect(answer.text).not.toContain('evil');
      if (answer.status === 402) expect(expectOffer(answer).resource.url).toBe(counter.url('/v1/jobs/search?limit=1'));
      else if (answer.status === 404) expectError(answer, 404, 'NOT_FOUND');
      else expect(answer.status).toBe(400);
    },
  );

  it.each([
    ['no Host', []],
    ['two Hosts', ['Host: a', 'Host: b']],
    ['a Host with user and port', ['Host: a@b:99999']],
    ['a Host of markup', ['Host: x"><script>']],
    ['an empty Host', ['Host:']],
    ['a Host of brackets', ['Host: [::1']],
    ['a Host with a blank', ['Host: a b']],
    ['a Host beyond ASCII', ['Host: \u00e4.example']],
  ] as const)('case 23: %s is 400 or the normal answer, never 500 and never HTML', async (_, headers) => {
    const { answers } = await exchange(
      counter.port,
      requestText('GET', counter.search, [...headers, 'Connection: close']),
    );
    const [answer] = answers as [Answer];
    expect([400, 402]).toContain(answer.status);
    expect(answer.text).not.toMatch(/<|evil/);
    if (answer.status === 402) expect(expectOffer(answer).resource.url).toBe(counter.url(counter.search));
  });

  it('case 23: HTTP/1.0 without Host gets the normal answer', async () => {
    const { answers, closed } = await exchange(counter.port, `GET ${counter.search} HTTP/1.0\r\n\r\n`, {
      answerCount: 2,
      timeoutMs: 1000,
    });
    expect([400, 402]).toContain(answers[0]?.status);
    if (answers[0]?.status === 402) expectError(answers[0], 402, 'PAYMENT_REQUIRED');
    expect(closed).toBe(true);
  });

  it('case 24: forwarded hosts and protocols change no URL', async () => {
    const answer = await counter.get(counter.search, {
      'X-Forwarded-Host': 'evil.example',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Port': '1',
      Forwarded: 'host=evil.example;proto=https',
      'X-Original-URL': '/health',
      'X-HTTP-Method-Override': 'POST',
    });
    expectError(answer, 402, 'PAYMENT_REQUIRED');
    expect(expectOffer(answer).resource.url).toBe(counter.url(counter.search));
    expect(answer.text).not.toContain('evil');
  });

  it('case 24: the resource is named by the configured address, whatever Host says', async () => {
    const answer = await rawGet(counter.port, counter.search, ['Host: shop.example']);
    expect(expectOffer(answer).resource.url).toBe(counter.url(counter.search));
  });

  it('an unknown path is the Error object too', async () => {
    for (const path of ['/', '/nothing', '/v1/unknown', '/favicon.ico']) {
      expectError(await counter.get(path), 404, 'NOT_FOUND');
    }
  });

  it('an answer without a match is zero counts and empty arrays, and is paid for', async () => {
    const payment = await counter.payment(counter.search, account);
    const answer = await counter.pay('/v1/jobs/search?keyword=zzzzzzqqqq', payment);
    expectPaid(answer, account.address);
    const { data } = parsedBody(answer, searchJobs.answer) as { data: unknown };
    expect(data).toEqual({ jobs: [], returned_jobs: 0, limit: 10 });
  });
});
