/** What the app decides before anyone pays: paths, methods, queries (reliability 1 to 24). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchJobs } from '../../src/modules/jobs/search.ts';
import { expectError, expectOffer, expectPaid, parsedBody } from '../support/answers.ts';
import { type JobsApp, openJobsApp } from '../support/jobs-app.ts';
import { JOBS_PATHS } from '../support/jobs-client.ts';
import { BAD_INPUTS, encoded, GOOD_INPUTS, repeated } from '../support/jobs-inputs.ts';
import { RUNTIME } from '../support/opened-app.ts';
import { expectAtPaceOf } from '../support/pace.ts';
import { wallet } from '../support/wallet.ts';

describe(`before payment, under ${RUNTIME}`, () => {
  let jobs: JobsApp;
  const account = wallet();
  beforeAll(async () => {
    jobs = await openJobsApp();
  });
  afterAll(async () => {
    await jobs.close();
  });

  const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY', 'PROPFIND'];

  it.each(JOBS_PATHS.flatMap((path) => METHODS.map((method) => [method, path] as const)))(
    '%s %s is 405 with Allow: GET (reliability 1, 2, 4)',
    async (method, path) => {
      const answer = await jobs.send(path, { method });
      expectError(answer, 405, 'METHOD_NOT_ALLOWED');
      expect(answer.headers.get('allow')).toBe('GET');
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
  ])('the alias %s is 404 (reliability 5)', async (target) => {
    expectError(await jobs.get(target), 404, 'NOT_FOUND');
  });

  it('every jobs route of the contract has a price and asks for it (reliability 6)', async () => {
    const { paths } = JSON.parse((await jobs.get('/openapi.json')).text) as {
      paths: Record<string, { get?: Record<string, unknown> }>;
    };
    const listed = Object.entries(paths).filter(([path]) => path.startsWith('/v1/jobs/'));
    expect(listed.map(([path]) => path).sort()).toEqual([...JOBS_PATHS].sort());
    for (const [path, { get }] of listed) {
      expect(get?.['x-payment-info']).toMatchObject({ protocols: ['x402'] });
      expectError(await jobs.get(jobs.targetOf(path)), 402, 'PAYMENT_REQUIRED');
    }
  });

  it.each(BAD_INPUTS.map(([number, path, code, named]) => [path, code, number, named] as const))(
    '%s is 400 %s, unpaid (reliability %i)',
    async (path, code, _, named) => {
      const { message } = expectError(await jobs.get(path), 400, code);
      expect(message).toContain(named);
    },
  );

  it.each(GOOD_INPUTS.map(([number, path]) => [path, number] as const))(
    '%s is accepted (reliability %i)',
    async (path) => {
      expectError(await jobs.get(path), 402, 'PAYMENT_REQUIRED');
    },
  );

  it('an unknown company is 402 unpaid, and 404 without a charge to a good payment (reliability 15)', async () => {
    const path = '/v1/jobs/company?company=nobody.example.org';
    expectError(await jobs.get(path), 402, 'PAYMENT_REQUIRED');
    const payment = await jobs.payment(jobs.company, account);
    const { message } = expectError(await jobs.pay(path, payment), 404, 'COMPANY_NOT_FOUND');
    expect(message).toContain('nobody.example.org');
    expectPaid(await jobs.pay(jobs.company, payment), account.address);
  });

  it('a keyword of 120 characters of near-matches is answered soon (reliability 19)', async () => {
    const payments = await Promise.all(Array.from({ length: 6 }, () => jobs.payment(jobs.search, account)));
    const expectBought = async (keyword: string, payment: unknown): Promise<void> =>
      void expectPaid(await jobs.pay(`/v1/jobs/search?keyword=${keyword}`, payment as never), account.address);
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
  ] as const)(
    'a good payment with bad input to %s is 400 and still buys afterwards (reliability 20)',
    async (route, bad) => {
      const payment = await jobs.payment(jobs[route], account);
      expectError(await jobs.pay(bad, payment), 400, ['INVALID_PARAMETER', 'UNKNOWN_PARAMETER']);
      expectPaid(await jobs.pay(jobs[route], payment), account.address);
    },
  );

  it('forwarded hosts and protocols change no URL (reliability 24)', async () => {
    const answer = await jobs.get(jobs.search, {
      'X-Forwarded-Host': 'evil.example',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Port': '1',
      Forwarded: 'host=evil.example;proto=https',
      'X-Original-URL': '/health',
      'X-HTTP-Method-Override': 'POST',
    });
    expectError(answer, 402, 'PAYMENT_REQUIRED');
    expect(expectOffer(answer).resource.url).toBe(jobs.url(jobs.search));
    expect(answer.text).not.toContain('evil');
  });

  it('an unknown path is the Error object too', async () => {
    for (const path of ['/', '/nothing', '/v1/unknown', '/favicon.ico']) {
      expectError(await jobs.get(path), 404, 'NOT_FOUND');
    }
  });

  it('an answer without a match is zero counts and empty arrays, and is paid for', async () => {
    const payment = await jobs.payment(jobs.search, account);
    const answer = await jobs.pay('/v1/jobs/search?keyword=zzzzzzqqqq', payment);
    expectPaid(answer, account.address);
    const { data } = parsedBody(answer, searchJobs.answer) as { data: unknown };
    expect(data).toEqual({ jobs: [], returned_jobs: 0, limit: 10 });
  });
});
