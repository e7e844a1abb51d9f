/** The usage rate of the jobs routes and whose address it counts (decisions §2, RATE_LIMIT_PER_MINUTE and TRUST_PROXY). */
import { describe, expect, it } from 'vitest';
import { expectError } from '../support/answers.ts';
import { openJobsApp } from '../support/jobs-app.ts';
import { RUNTIME } from '../support/opened-app.ts';

describe(`the usage rate, under ${RUNTIME}`, () => {
  const from = (address: string) => ({ 'X-Forwarded-For': address });

  it('counts requests that passed validation, over all jobs routes, and says when to come back', async () => {
    const jobs = await openJobsApp({
      RATE_LIMIT_PER_MINUTE: '4',
      LOCAL_BALANCE: '50000',
    });
    for (let i = 0; i < 6; i++) {
      expectError(await jobs.get('/v1/jobs/search?limit=0', from(`198.51.100.${i}`)), 400, 'INVALID_PARAMETER');
      expect((await jobs.get('/health')).status).toBe(200);
    }
    const paths = ['/v1/jobs/search', '/v1/jobs/company?company=a.com', '/v1/jobs/signals', '/v1/jobs/search?limit=2'];
    // Another address in X-Forwarded-For is only a claim where no proxy is trusted.
    for (const [i, path] of paths.entries()) {
      expectError(await jobs.get(path, from(`203.0.113.${i}`)), 402, 'PAYMENT_REQUIRED');
    }
    for (const path of paths) {
      const answer = await jobs.get(path, from('203.0.113.99'));
      expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
      expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect(answer.headers.get('payment-required')).toBeNull();
    }
    // Validation comes first, and free routes have no rate.
    expectError(await jobs.get('/v1/jobs/search?limit=0'), 400, 'INVALID_PARAMETER');
    expect((await jobs.get('/health')).status).toBe(200);
    await jobs.close();
  });

  it('TRUST_PROXY=true counts by the address that the proxy wrote', async () => {
    const jobs = await openJobsApp({
      RATE_LIMIT_PER_MINUTE: '2',
      TRUST_PROXY: 'true',
      LOCAL_BALANCE: '50000',
    });
    for (let i = 0; i < 2; i++) {
      expectError(await jobs.get(jobs.search, from(`192.0.2.${i}, 198.51.100.7`)), 402, 'PAYMENT_REQUIRED');
    }
    expectError(await jobs.get(jobs.search, from('192.0.2.50, 198.51.100.7')), 429, 'RATE_LIMIT_EXCEEDED');
    expectError(await jobs.get(jobs.search, from('198.51.100.8')), 402, 'PAYMENT_REQUIRED');
    expectError(await jobs.get(jobs.search), 402, 'PAYMENT_REQUIRED');
    await jobs.close();
  });

  it('a client has one rate however the proxy spells its address, and whichever of its /64 it uses', async () => {
    const jobs = await openJobsApp({ RATE_LIMIT_PER_MINUTE: '2', TRUST_PROXY: 'true', LOCAL_BALANCE: '50000' });
    const clients = [
      [
        '198.51.100.7:1',
        '198.51.100.7:2',
        '198.51.100.7:3',
        '198.51.100.7',
        '::ffff:198.51.100.7',
        '[::FFFF:c633:6407]:9',
      ],
      ['2001:db8:1:2::1', '[2001:db8:1:2::2]:443', '2001:DB8:1:2:ffff::3', '2001:db8:1:2::1%eth0'],
      // What is no address counts as the proxy's own, whatever the client made the proxy write.
      ['unknown', '_hidden', 'x1', '198.51.100.7, ', '"198.51.100.9"', `${'9'.repeat(4000)}`, ','],
    ] as const;
    for (const spellings of clients) {
      for (const [i, spelling] of spellings.entries()) {
        const answer = await jobs.get(jobs.search, from(spelling));
        if (i < 2) expectError(answer, 402, 'PAYMENT_REQUIRED');
        else expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
      }
    }
    expectError(await jobs.get(jobs.search, from('2001:db8:1:3::1')), 402, 'PAYMENT_REQUIRED');
    await jobs.close();
  });
});
