/** `GET /metrics` of a real server: what customers did is what it counts, in a page that Prometheus can read. */
import { readFileSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/base/version.ts';
import { expectError, expectPaid } from '../support/answers.ts';
import { OPERATIONS } from '../support/declared.ts';
import { type JobsServer, startJobsServer } from '../support/jobs-server.ts';
import { MetricsPage } from '../support/metrics-page.ts';
import { oneRuntime } from '../support/server.ts';
import { smallSample } from '../support/small-sample.ts';
import { buy, offerOf, paymentFor, wallet } from '../support/wallet.ts';
import { expectPending, type Facilitated, openFacilitated, transactionOf } from './facilitated-server.ts';

const OPERATIONS_MD = new URL('../../docs/operations.md', import.meta.url);
const CLAIM_BYTES = 10 * 262_144 + 65_536;

const pageOf = async (jobs: JobsServer): Promise<MetricsPage> => {
  const answer = await jobs.get('/metrics');
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return new MetricsPage(answer.text);
};

describe.each(oneRuntime('bun'))('the metrics, under %s', (runtime) => {
  let jobs: JobsServer;
  const account = wallet();
  beforeAll(async () => {
    jobs = await startJobsServer(runtime);
  });
  afterAll(async () => {
    expect(await jobs.server.stop()).toBe(0);
  });

  it('shows every operation and every component from the start, and nothing that a request could add to', async () => {
    const before = await pageOf(jobs);
    for (const { operation, status = 200 } of OPERATIONS) {
      expect(
        before.value('paygrade_requests_total', { operation, status: String(status) }),
        operation,
      ).toBeGreaterThanOrEqual(0);
    }
    for (const component of ['snapshot', 'state', 'settlement'])
      expect(before.value('paygrade_ready', { component })).toBe(1);
    for (let i = 0; i < 20; i++) {
      await jobs.get(`/v1/nothing-${i}?secret=canary-${i}`);
      await jobs.get(`/v1/callbacks/cb_${'0'.repeat(22)}${10 + i}/events`, { authorization: 'Bearer canary-token' });
      await jobs.get(`/v1/jobs/search?keyword=canary-${i}`, { 'x-forwarded-for': `10.0.0.${i}` });
    }
    const after = await pageOf(jobs);
    expect(after.series).toEqual(before.series);
    expect(after.value('paygrade_requests_total', { operation: 'none', status: '404' })).toBe(20);
    expect(after.value('paygrade_refusals_total', { operation: 'listEvents', code: 'CALLBACK_NOT_FOUND' })).toBe(20);
    expect(after.series.join('\n')).not.toContain('canary');
    const [, about = ''] =
      /series \(about ([\d,]+) with all surfaces\)/.exec(readFileSync(OPERATIONS_MD, 'utf8')) ?? [];
    expect(Math.abs(after.series.length / Number(about.replace(',', '')) - 1)).toBeLessThan(0.05);
  });

  it('counts payments by what became of them, and requests by status and latency', async () => {
    const before = await pageOf(jobs);
    const payment = await jobs.payment(jobs.search, account);
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
    expectError(await jobs.pay(jobs.search, payment), 409, 'PAYMENT_ALREADY_USED');
    expectError(await jobs.pay(jobs.search, 'rubbish'), 402, 'PAYMENT_INVALID');
    expectError(await jobs.get('/v1/jobs/search?limit=0'), 400, 'INVALID_PARAMETER');
    const unknown = '/v1/jobs/company?company=nobody.example';
    expectError(await jobs.pay(unknown, await jobs.payment(unknown, account)), 404, 'COMPANY_NOT_FOUND');
    const after = await pageOf(jobs);
    const rise = (name: string, labels: Record<string, string>): number =>
      after.value(name, labels) - before.value(name, labels);
    const search = { operation: 'searchJobs' };
    const outcomes = [
      'offered',
      'settled',
      'repeated',
      'invalid',
      'released',
      'refused',
      'unknown',
      'unavailable',
      'failed',
    ];
    expect(outcomes.map((outcome) => rise('paygrade_payments_total', { ...search, outcome }))).toEqual([
      1, 1, 1, 1, 0, 0, 0, 0, 0,
    ]);
    expect(rise('paygrade_payments_total', { operation: 'summarizeCompany', outcome: 'released' })).toBe(1);
    expect(
      ['200', '400', '402', '409'].map((status) => rise('paygrade_requests_total', { ...search, status })),
    ).toEqual([1, 1, 2, 1]);
    expect(rise('paygrade_request_duration_seconds', search)).toBe(5);
    expect(rise('paygrade_refusals_total', { ...search, code: 'INVALID_PARAMETER' })).toBe(1);
    expect(rise('paygrade_reservations', {})).toBe(1);
    expect(rise('paygrade_state_commits_total', {})).toBeGreaterThanOrEqual(2);
    expect(after.value('paygrade_settlements_in_flight')).toBe(0);
    expect(after.value('paygrade_verification_threads_configured')).toBe(1);
    await expect.poll(async () => (await pageOf(jobs)).value('paygrade_verification_threads')).toBe(1);
  });

  it('follows callbacks, their bytes, waits and events', async () => {
    const created = await buy(jobs.url('/v1/callbacks'), account, { method: 'POST' });
    const { id, read_token } = (await created.json()) as { id: string; read_token: string };
    const headers = { authorization: `Bearer ${read_token}` };
    const waiting = fetch(jobs.url(`/v1/callbacks/${id}/wait?timeout=20`), { headers });
    await expect.poll(async () => (await pageOf(jobs)).value('paygrade_callback_waits')).toBe(1);
    await fetch(jobs.url(`/hooks/${id}`), { method: 'POST', body: 'one' });
    await fetch(jobs.url(`/hooks/${id}`), { method: 'PUT', body: 'two' });
    expect((await waiting).status).toBe(200);
    const held = await pageOf(jobs);
    expect(held.value('paygrade_callbacks_live')).toBe(1);
    expect(held.value('paygrade_callback_claimed_bytes')).toBe(CLAIM_BYTES);
    expect(held.value('paygrade_events_stored_total')).toBe(2);
    expect(held.value('paygrade_callback_waits')).toBe(0);
    await fetch(jobs.url(`/v1/callbacks/${id}`), { method: 'DELETE', headers });
    const after = await pageOf(jobs);
    expect(after.value('paygrade_callbacks_live')).toBe(0);
    expect(after.value('paygrade_callback_claimed_bytes')).toBe(0);
  });

  it('tells the size and age of the catalogue and counts reloads', async () => {
    const before = await pageOf(jobs);
    const rows = ['active', 'closed'].map((status) => before.value('paygrade_catalogue_jobs', { status }));
    expect(rows.every((count) => count > 20)).toBe(true);
    expect(before.value('paygrade_cohort_jobs')).toBe(Math.min(rows[0]!, 10_000));
    // A run of the tests makes it once, at its beginning.
    const ageSeconds = (Date.now() - statSync(smallSample()).mtimeMs) / 1000;
    expect(Math.abs(before.value('paygrade_snapshot_age_seconds') - ageSeconds)).toBeLessThan(60);
    const ages = ['newest', 'oldest'].map((observation) =>
      before.value('paygrade_cohort_age_seconds', { observation }),
    );
    expect(ages[0]).toBeLessThan(ages[1]!);
    jobs.server.child.kill('SIGHUP');
    const done = { result: 'done' };
    const rise = before.value('paygrade_catalogue_reloads_total', done) + 1;
    await expect.poll(async () => (await pageOf(jobs)).value('paygrade_catalogue_reloads_total', done)).toBe(rise);
  });

  it('tells what the process takes', async () => {
    const page = await pageOf(jobs);
    expect(page.value('process_resident_memory_bytes')).toBeGreaterThan(20e6);
    expect(page.value('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(
      Math.abs(page.value('process_start_time_seconds') + page.value('paygrade_uptime_seconds') - Date.now() / 1000),
    ).toBeLessThan(30);
    const [build] = page.families.get('paygrade_build_info')!.samples;
    expect(build).toMatchObject({ value: 1, labels: { version: VERSION, runtime: expect.stringContaining(runtime) } });
  });
});

describe('the metrics of a server with a facilitator', () => {
  const account = wallet();
  let shop: Facilitated;
  beforeAll(async () => {
    shop = await openFacilitated('node', wallet().address);
  });
  afterAll(async () => {
    expect(await shop.close()).toBe(0);
  });

  it('shows a settlement in flight, then of unknown outcome, then recovered', async () => {
    let answer: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { jobs } = shop;
    const payment = await paymentFor(await offerOf(jobs.url(jobs.search)), account);
    const settled = {
      status: 200,
      body: {
        success: true,
        transaction: transactionOf(payment.payload.authorization.nonce),
        network: 'eip155:8453',
        payer: account.address,
      },
    };
    shop.plan(payment, '/settle', () => held.then(() => ({ status: 500, body: {} })), settled);
    const paying = jobs.pay(jobs.search, payment);
    await expect.poll(async () => (await pageOf(jobs)).value('paygrade_settlements_in_flight')).toBe(1);
    answer();
    expectPending(await paying, '');
    const after = await pageOf(jobs);
    expect(after.value('paygrade_settlements_in_flight')).toBe(0);
    expect(after.value('paygrade_settlements_unknown')).toBe(1);
    expect(after.value('paygrade_payments_total', { operation: 'searchJobs', outcome: 'unknown' })).toBe(1);
    await expect
      .poll(async () => (await pageOf(jobs)).value('paygrade_payment_recoveries_total', { end: 'settled' }), {
        timeout: 10_000,
      })
      .toBe(1);
    expect((await pageOf(jobs)).value('paygrade_settlements_unknown')).toBe(0);
  });
});
