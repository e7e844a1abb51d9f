/** Overload as clients meet it (decisions §4; reliability 211, 212), on memory and time that the test owns. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unlessOverloaded } from '../../src/access/overload.ts';
import { paid } from '../../src/access/x402.ts';
import type { OverloadChange } from '../../src/app/overload.ts';
import { waysIn } from '../../src/http/access.ts';
import { type Answer, expectError, expectOffer, expectPaid } from '../support/answers.ts';
import { bearer, createCallback, post } from '../support/callback-client.ts';
import { isPaid, OPERATIONS } from '../support/declared.ts';
import { type JobsApp, openJobsApp } from '../support/jobs-app.ts';
import { ManualTime } from '../support/manual-time.ts';
import { type MetricsPage, metricsOf } from '../support/metrics-page.ts';
import { RUNTIME } from '../support/opened-app.ts';
import { LIMIT_BYTES, PressedMemory } from '../support/pressed-memory.ts';
import { promptWorker, recoverAsServer } from '../support/recovery.ts';
import { encodeHeader, paymentFor, wallet } from '../support/wallet.ts';

const PAID = OPERATIONS.filter(isPaid);
const PaidWay = paid('0.01').constructor;

describe(`overload, under ${RUNTIME}`, () => {
  it.each(PAID.map(({ operation, access }) => [operation, access] as const))(
    '%s is shed right before its payment is looked at',
    (_, access) => {
      const ways = waysIn(access);
      const at = ways.findIndex((way) => way instanceof PaidWay);
      expect(Object.is(ways[at - 1], unlessOverloaded)).toBe(true);
    },
  );

  const account = wallet();
  const time = new ManualTime(Date.now());
  let memory: PressedMemory;
  let changes: OverloadChange[];
  let jobs: JobsApp;
  let recoveryCount: number;

  beforeEach(async () => {
    memory = new PressedMemory();
    changes = [];
    recoveryCount = 0;
    time.catchUp();
    jobs = await openJobsApp(
      { MEMORY_LIMIT_BYTES: String(LIMIT_BYTES) },
      {
        clock: time,
        timers: time,
        memory,
        recoveryWorker: promptWorker((digest, signature) => {
          recoveryCount++;
          return recoverAsServer(digest, signature);
        }),
        onOverload: (change) => changes.push(change),
      },
    );
    time.pass(0); // the turn of the start is over
  });
  afterEach(async () => {
    await jobs.close();
    expect(time.pendingCount).toBe(0);
  });

  const press = (residentBytes: number): void => {
    memory.residentBytes = residentBytes;
    time.pass(300);
  };
  const block = (ms: number): void => {
    time.areTimersStopped = true;
    time.pass(ms);
    time.areTimersStopped = false;
    time.pass(0);
  };
  const page = (): Promise<MetricsPage> => metricsOf(jobs.opened);
  const reservations = async (): Promise<number> => (await page()).value('paygrade_reservations');
  const shed = async (operation: string, reason: string): Promise<number> =>
    (await page()).value('paygrade_shed_requests_total', { operation, reason });

  /** Each paid operation as a request. */
  const requests = (): readonly { readonly operation: string; readonly path: string; readonly init: RequestInit }[] => {
    const paths: Readonly<Record<string, string>> = {
      searchJobs: jobs.search,
      summarizeCompany: jobs.company,
      findSignals: jobs.signals,
      getJob: jobs.detail,
    };
    return PAID.map(({ operation, method, path }) => ({ operation, path: paths[operation] ?? path, init: { method } }));
  };
  const withPayment = (init: RequestInit, payment: unknown): RequestInit => ({
    ...init,
    headers: { 'PAYMENT-SIGNATURE': encodeHeader(payment) },
  });
  const expectShed = (answer: Answer): void => {
    expectError(answer, 503, 'OVERLOADED');
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(answer.headers.get('payment-required')).toBeNull();
    expect(answer.headers.get('cache-control')).toBe('no-store');
  };

  it('from 85 % of the memory no offer is made, and every payment still buys (reliability 211)', async () => {
    for (const { operation, path, init } of requests()) {
      press(0);
      const payment = await paymentFor(await jobs.offer(path, init), account);
      const before = await shed(operation, 'memory');
      press(850);
      // The offer is memoized from its first use and prepared from its second; so is the refusal.
      for (let i = 0; i < 4; i++) expectShed(await jobs.send(path, init));
      expectShed(await jobs.send(path, { ...init, headers: { 'PAYMENT-SIGNATURE': '' } }));
      expect(await shed(operation, 'memory')).toBe(before + 5);
      const bought = await jobs.send(path, withPayment(init, payment));
      expect(bought.status, operation).toBe(operation === 'createCallback' ? 201 : 200);
      expectError(await jobs.send(path, withPayment(init, payment)), 409, 'PAYMENT_ALREADY_USED');
    }
    press(0);
    for (const { path, init } of requests()) expectOffer(await jobs.send(path, init));
  });

  it('from 92 % no payment is accepted, and its authorization is free afterwards (reliability 211)', async () => {
    for (const { operation, path, init } of requests()) {
      press(0);
      const payment = await paymentFor(await jobs.offer(path, init), account);
      const before = [await reservations(), recoveryCount];
      press(920);
      expectShed(await jobs.send(path, init));
      for (let i = 0; i < 3; i++) expectShed(await jobs.send(path, withPayment(init, payment)));
      expect([await reservations(), recoveryCount]).toEqual(before);
      press(800); // below the beginning, above the end
      expectShed(await jobs.send(path, init));
      expect((await jobs.send(path, withPayment(init, payment))).status, operation).toBeLessThan(300);
      press(920);
      const replayed = await jobs.send(path, withPayment(init, payment));
      expectShed(replayed);
      expect(replayed.text).not.toContain('is free');
    }
  });

  it('a loop that is late sheds as memory does, before anything is reserved (reliability 212)', async () => {
    const payment = await jobs.payment(jobs.search, account);
    block(820); // p90 over five seconds: 300 ms
    expectShed(await jobs.get(jobs.search));
    const before = await reservations();
    block(820); // now 550 ms
    expectShed(await jobs.pay(jobs.search, payment));
    expect(await reservations()).toBe(before);
    expect([await shed('searchJobs', 'loop'), await shed('searchJobs', 'memory')]).toEqual([2, 0]);
    time.pass(5_000);
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
    expect(changes.map(({ level, kind }) => [level, kind])).toEqual([
      [1, 'loop'],
      [2, 'loop'],
      [1, 'loop'],
      [0, 'loop'],
    ]);
  });

  it('stands behind input and rate, and in front of the payment', async () => {
    press(920);
    expectError(await jobs.get('/v1/jobs/search?limit=0'), 400, 'INVALID_PARAMETER');
    expectError(await jobs.send('/v1/callbacks', { method: 'POST', body: '{' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    expectShed(await jobs.pay(jobs.search, 'rubbish'));
    press(800);
    expectError(await jobs.pay(jobs.search, 'rubbish'), 402, 'PAYMENT_INVALID');
  });

  it('answers keyed requests at the first level, and refuses them at the second, uncharged', async () => {
    const { app } = jobs.opened;
    const keyed = async (): Promise<Answer> =>
      jobs.get('/data/v1/metrics/overview', { authorization: `Bearer ${app.demoKey}` });
    press(0.86 * LIMIT_BYTES);
    expect((await keyed()).headers.get('x-credits-remaining')).toBe('9998');
    press(0.93 * LIMIT_BYTES);
    expectShed(await keyed());
    press(0.5 * LIMIT_BYTES);
    expect((await keyed()).headers.get('x-credits-remaining')).toBe('9996');
  });

  it('never touches the free routes and an existing callback', async () => {
    const callback = await createCallback(jobs.transport);
    const payment = await jobs.payment(jobs.search, account);
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
    press(990);
    expectShed(await jobs.get(jobs.search));
    const { payer, nonce } = { payer: account.address, nonce: payment.payload.authorization.nonce };
    for (const path of [
      '/health',
      '/ready',
      '/metrics',
      '/openapi.json',
      '/.well-known/x402',
      `/v1/payments/eip155:8453/${payer}/${nonce}`,
    ]) {
      expect((await jobs.get(path)).status, path).toBe(200);
    }
    expect((await post(jobs.transport, callback.id, 'hello')).status).toBe(200);
    for (const what of ['events', 'wait?timeout=1']) {
      const read = await jobs.get(`/v1/callbacks/${callback.id}/${what}`, bearer(callback));
      expect([read.status, read.text.includes('hello')]).toEqual([200, true]);
    }
    const { events } = JSON.parse((await jobs.get(`/v1/callbacks/${callback.id}/events`, bearer(callback))).text) as {
      events: { id: string }[];
    };
    const raw = await jobs.get(`/v1/callbacks/${callback.id}/events/${events[0]!.id}/raw`, bearer(callback));
    expect([raw.status, raw.text]).toEqual([200, 'hello']);
    const deleted = await jobs.send(`/v1/callbacks/${callback.id}`, { method: 'DELETE', headers: bearer(callback) });
    expect(deleted.status).toBeLessThan(300);
  });

  it('shows in /ready without changing its status, and in the metrics', async () => {
    const ready = async (): Promise<unknown> => {
      const { status, text } = await jobs.get('/ready');
      return [status, JSON.parse(text)];
    };
    const components = { snapshot: true, state: true, settlement: true };
    expect(await ready()).toEqual([200, { ...components, load: true }]);
    press(850);
    block(270);
    expect(await ready()).toEqual([200, { ...components, load: false }]);
    const shown = await page();
    expect(shown.value('paygrade_overload_level')).toBe(1);
    expect(shown.value('paygrade_memory_pressure_ratio')).toBe(0.85);
    expect(shown.value('paygrade_memory_limit_bytes')).toBe(LIMIT_BYTES);
    expect(shown.value('paygrade_event_loop_lag_seconds', { statistic: 'max' })).toBeCloseTo(0.25, 1);
    expect(shown.value('paygrade_event_loop_lag_seconds', { statistic: 'p90' })).toBe(0);
    expect(changes).toMatchObject([{ level: 1, kind: 'memory', memoryShare: 0.85 }]);
  });

  it('an app that does not measure its memory is never overloaded', async () => {
    const jobs = await openJobsApp({ MEMORY_LIMIT_BYTES: '1' });
    expectOffer(await jobs.get(jobs.search));
    const { families } = await metricsOf(jobs.opened);
    expect(families.has('paygrade_event_loop_lag_seconds')).toBe(false);
    await jobs.close();
  });
});
