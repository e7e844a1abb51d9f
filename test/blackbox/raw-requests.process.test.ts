/**
 * Requests that only bytes on a socket can make: methods and targets that no client library sends, repeated headers,
 * pipelines, a Host that is none, a client that hangs up (reliability 1 to 31, 107).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, expectError, expectOffer, expectPaid } from '../support/answers.ts';
import { JOBS_PATHS } from '../support/jobs-client.ts';
import { repeated } from '../support/jobs-inputs.ts';
import { type JobsServer, startJobsServer } from '../support/jobs-server.ts';
import { expectAtPaceOf } from '../support/pace.ts';
import { exchange, rawGet, requestText } from '../support/raw-socket.ts';
import { RUNTIMES } from '../support/server.ts';
import { encodeHeader, wallet } from '../support/wallet.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(RUNTIMES)('raw requests, under %s', (runtime) => {
  let jobs: JobsServer;
  const account = wallet();
  beforeAll(async () => {
    jobs = await startJobsServer(runtime);
  });
  afterAll(async () => {
    expect(await jobs.server.stop()).toBe(0);
  });

  /** The server still answers after what was done to it. */
  const expectAlive = async (): Promise<void> => {
    expect((await jobs.get('/health')).status).toBe(200);
  };

  it.each(JOBS_PATHS.map((path) => ['TRACE', path] as const))(
    '%s %s is 405 with Allow: GET (reliability 1, 2, 4)',
    async (method, path) => {
      const { answers } = await exchange(jobs.port, requestText(method, path, ['Host: x', 'Content-Length: 0']));
      const [answer] = answers as [Answer];
      expectError(answer, 405, 'METHOD_NOT_ALLOWED');
      expect(answer.headers.get('allow')).toBe('GET');
    },
  );

  it.each(JOBS_PATHS)('HEAD %s is 405 with Allow: GET and no body (reliability 1)', async (path) => {
    const request = requestText('HEAD', path, ['Host: x', 'Connection: close']);
    const { answers, received } = await exchange(jobs.port, request, { methods: ['HEAD'] });
    expect(answers[0]?.status).toBe(405);
    expect(answers[0]?.headers.get('allow')).toBe('GET');
    expect(answers[0]?.headers.get('payment-required')).toBeNull();
    expect(received.endsWith('\r\n\r\n')).toBe(true);
  });

  it.each(['x:443', '/v1/jobs/search'])(
    'CONNECT %s is refused and the process serves on (reliability 3)',
    async (target) => {
      const { answers } = await exchange(jobs.port, requestText('CONNECT', target, ['Host: x']), { timeoutMs: 300 });
      for (const answer of answers) expect([400, 404, 405, 501]).toContain(answer.status);
      await expectAlive();
    },
  );

  it.each(['get', 'Get', 'FOO', 'G\u00cbT', ''])(
    'the method %j is 405 or a refusal by the parser, never an answer (reliability 4)',
    async (method) => {
      const { answers } = await exchange(jobs.port, requestText(method, jobs.search, ['Host: x']), {
        timeoutMs: 300,
      });
      // 501 and 505 are words of the runtimes' parsers for what is no HTTP to them.
      for (const answer of answers) expect([400, 405, 501, 505]).toContain(answer.status);
      await expectAlive();
    },
  );

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
  ])('the alias %s, which a runtime may fold, is 404, 400 or the same paywall (reliability 5)', async (target) => {
    const { answers } = await exchange(jobs.port, requestText('GET', target, ['Host: x', 'Connection: close']));
    const [answer] = answers as [Answer];
    if (answer.status === 402) expectError(answer, 402, 'PAYMENT_REQUIRED');
    else if (answer.status === 404) expectError(answer, 404, 'NOT_FOUND');
    else expect(answer.status).toBe(400);
  });

  it.each([
    ['5,000 parameters', repeated('&limit=1', 5000).slice(1)],
    ['5,000 unknown parameters', repeated('&a=1', 3000).slice(1)],
    ['a value of 15 KiB', `keyword=${repeated('a', 15 * 1024)}`],
    ['a name of 15 KiB', repeated('a', 15 * 1024)],
    ['a value of 5,000 escapes', `keyword=${repeated('%20', 5000)}`],
  ])('%s are 400, 414 or 431, and soon (reliability 18)', async (_, query) => {
    const expectRefused = async (sent: string): Promise<void> => {
      const { answers } = await exchange(
        jobs.port,
        requestText('GET', `/v1/jobs/search?${sent}`, ['Host: x', 'Connection: close']),
      );
      expect([400, 414, 431]).toContain(answers[0]?.status);
    };
    await expectAtPaceOf(
      () => expectRefused('limit=0'),
      () => expectRefused(query),
    );
  });

  it.each([
    ['Content-Length', ['Content-Length: 5'], 'hello'],
    ['chunks', ['Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n'],
    ['a body that looks like a request', ['Content-Length: 30'], 'GET /health HTTP/1.1\r\nHost: x\r\n'.slice(0, 30)],
  ] as const)(
    'a GET with a body (%s) is answered, and so is what follows it (reliability 21)',
    async (_, headers, body) => {
      const first = requestText('GET', jobs.search, ['Host: x', ...headers], body);
      const second = requestText('GET', '/v1/jobs/search?limit=0', ['Host: x']);
      const { answers } = await exchange(jobs.port, first + second, { answerCount: 2 });
      expectError(answers[0] as Answer, 402, 'PAYMENT_REQUIRED');
      expectError(answers[1] as Answer, 400, 'INVALID_PARAMETER');
    },
  );

  it('ten requests in one write are answered in order (reliability 21)', async () => {
    const limits = Array.from({ length: 10 }, (_, i) => i + 2);
    const requests = limits.map((limit) => requestText('GET', `/v1/jobs/search?limit=${limit}`, ['Host: x']));
    const { answers } = await exchange(jobs.port, requests.join(''), { answerCount: 10 });
    expect(answers.map(({ status }) => status)).toEqual([...Array(9).fill(402), 400]);
    const urls = answers.slice(0, 9).map((answer) => expectOffer(answer).resource.url);
    expect(urls).toEqual(limits.slice(0, 9).map((limit) => jobs.url(`/v1/jobs/search?limit=${limit}`)));
  });

  it.each(['http://evil.example', 'https://evil.example:1', 'http://user@evil.example'])(
    'the absolute form %s/v1/jobs/search is served by its path alone (reliability 22)',
    async (origin) => {
      const { answers } = await exchange(
        jobs.port,
        requestText('GET', `${origin}/v1/jobs/search?limit=1`, ['Host: x', 'Connection: close']),
      );
      const [answer] = answers as [Answer];
      expect(answer.text).not.toContain('evil');
      if (answer.status === 402) expect(expectOffer(answer).resource.url).toBe(jobs.url('/v1/jobs/search?limit=1'));
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
  ] as const)('%s is 400 or the normal answer, never 500 and never HTML (reliability 23)', async (_, headers) => {
    const { answers } = await exchange(jobs.port, requestText('GET', jobs.search, [...headers, 'Connection: close']));
    const [answer] = answers as [Answer];
    expect([400, 402]).toContain(answer.status);
    expect(answer.text).not.toMatch(/<|evil/);
    if (answer.status === 402) expect(expectOffer(answer).resource.url).toBe(jobs.url(jobs.search));
  });

  it('HTTP/1.0 without Host gets the normal answer (reliability 23)', async () => {
    const { answers, closed } = await exchange(jobs.port, `GET ${jobs.search} HTTP/1.0\r\n\r\n`, {
      answerCount: 2,
      timeoutMs: 1000,
    });
    expect([400, 402]).toContain(answers[0]?.status);
    if (answers[0]?.status === 402) expectError(answers[0], 402, 'PAYMENT_REQUIRED');
    expect(closed).toBe(true);
  });

  it('the resource is named by the configured address, whatever Host says (reliability 24)', async () => {
    const answer = await rawGet(jobs.port, jobs.search, ['Host: shop.example']);
    expect(expectOffer(answer).resource.url).toBe(jobs.url(jobs.search));
  });

  it.each([
    ['the same payment', 'twice'],
    ['two payments', 'two'],
    ['a payment and an empty line', 'empty'],
  ] as const)('PAYMENT-SIGNATURE given twice (%s) is 402 (reliability 28)', async (_, kind) => {
    const payment = await jobs.payment(jobs.search, account);
    const second = kind === 'twice' ? payment : kind === 'two' ? await jobs.payment(jobs.search, account) : undefined;
    const request = requestText('GET', jobs.search, [
      'Host: x',
      `PAYMENT-SIGNATURE: ${encodeHeader(payment)}`,
      `payment-signature: ${second === undefined ? '' : encodeHeader(second)}`,
      'Connection: close',
    ]);
    const { answers } = await exchange(jobs.port, request);
    expectError(answers[0]!, 402, 'PAYMENT_INVALID');
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
  });

  it('an empty PAYMENT-SIGNATURE is 402 (reliability 31)', async () => {
    const request = requestText('GET', jobs.search, ['Host: x', 'PAYMENT-SIGNATURE: ', 'Connection: close']);
    const { answers } = await exchange(jobs.port, request);
    expectError(answers[0]!, 402, ['PAYMENT_REQUIRED', 'PAYMENT_INVALID']);
  });

  it('a header of 20 KiB is 431 by the runtime, or 402 (reliability 31)', async () => {
    const request = requestText('GET', jobs.search, ['Host: x', `PAYMENT-SIGNATURE: ${'A'.repeat(20_480)}`]);
    const { answers } = await exchange(jobs.port, request);
    expect([402, 431]).toContain(answers[0]?.status);
  });

  it('a client that hangs up gets nothing and the server serves on (reliability 107)', async () => {
    const payment = await jobs.payment(jobs.search, account);
    const request = requestText('GET', jobs.search, ['Host: x', `PAYMENT-SIGNATURE: ${encodeHeader(payment)}`]);
    await exchange(jobs.port, request, { timeoutMs: 0 });
    await pause(100);
    // Whether the request was read before the hang-up is chance; either way at most one answer is ever bought.
    const answer = await jobs.pay(jobs.search, payment);
    expect([200, 409]).toContain(answer.status);
    expectError(await jobs.pay(jobs.search, payment), 409, 'PAYMENT_ALREADY_USED');
  });

  it('HEAD of the catalogue has the Link header and the length of the GET, and no body', async () => {
    const head = await jobs.send('/.well-known/api-catalog', { method: 'HEAD' });
    const whole = await jobs.get('/.well-known/api-catalog');
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    for (const name of ['link', 'content-type', 'content-length'])
      expect(head.headers.get(name)).toBe(whole.headers.get(name));
    expect(head.headers.get('link')).toBe(`<${jobs.url('')}/.well-known/api-catalog>; rel="api-catalog"`);
    const other = await jobs.send('/llms.txt', { method: 'HEAD' });
    expect(other.status).toBe(405);
  });
});
