/**
 * A server under pressure refuses what costs it and is not promised yet, and nothing else (decisions §4;
 * reliability 211, 212). Memory pressure: a limit below what the process holds. Loop pressure: the process is stopped and
 * continued by signals, which is what a loop that is late looks like from inside.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { oneRuntime } from '../support/server.ts';
import { until } from '../support/until.ts';
import { ask, hangUp, nameOf, type Question, type Reply } from './ask.ts';
import { AttackedServer } from './attacked-server.ts';
import { AttackedFacilitator } from './facilitator.ts';
import { bearer, buyCallback, CREATION, Purse, SEARCH } from './purse.ts';

const from = '127.0.0.1';
let server: AttackedServer;
afterEach(async () => {
  hangUp(server.target);
  await server.kill();
});

const asked = (question: Omit<Question, 'from'>): Promise<Reply> => ask(server.target, { from, ...question });

function expectShed(reply: Reply): void {
  expect(nameOf(reply)).toBe('503 OVERLOADED');
  expect(reply.headers['retry-after']).toMatch(/^[1-9][0-9]*$/);
}

/** Refused for load, to be tried again; nothing else is refused for load. */
async function expectOthersServed(): Promise<void> {
  expect((await asked({ path: '/health' })).status).toBe(200);
  const ready = await asked({ path: '/ready' });
  expect(ready.status).toBe(200);
  expect(JSON.parse(ready.text)).toMatchObject({ load: false });
  const payment = `/v1/payments/eip155:8453/0x${'1'.repeat(40)}/0x${'2'.repeat(64)}`;
  expect(nameOf(await asked({ path: payment }))).toBe('404 PAYMENT_NOT_FOUND');
  expect((await asked({ path: '/metrics' })).status).toBe(200);
}

/** What an operator sees of pressure (decisions §4), and of a facilitator that is odd (reliability 72, 88, 102). */
const METRICS = [
  'paygrade_event_loop_lag_seconds',
  'paygrade_memory_limit_bytes',
  'paygrade_memory_pressure_ratio',
  'paygrade_overload_level',
  'paygrade_shed_requests_total',
  'paygrade_clock_skew_seconds',
  'paygrade_settlement_repeated_transactions_total',
  'paygrade_verification_divergences_total',
] as const;

const STOPPED_MS = 600;
/** Short, so that most of what the loop measures of itself is late. */
const RUNNING_MS = 15;
/** Decisions §4: lateness counts over 5 s. */
const STOPPING_MS = 6500;
const RECOVERED_MS_MAX = 12_000;

async function stopAndContinue(): Promise<void> {
  const endMs = performance.now() + STOPPING_MS;
  while (performance.now() < endMs) {
    server.signal('SIGSTOP');
    await pause(STOPPED_MS);
    server.signal('SIGCONT');
    await pause(RUNNING_MS);
  }
}

describe.each(oneRuntime('node'))('a server under pressure, under %s', { timeout: 90_000 }, (runtime) => {
  it('has no memory left: refuses offers, creations and payments, and nothing else (reliability 211)', async () => {
    server = await AttackedServer.start(runtime, { MEMORY_LIMIT_BYTES: String(48 * 2 ** 20) });
    const payment = { 'payment-signature': 'AAAA' };
    for (const operation of [SEARCH, CREATION]) {
      expectShed(await asked(operation));
      // Above the second step payments are refused before they are looked at.
      expectShed(await asked({ ...operation, headers: payment }));
    }
    // What is wrong with a request is said all the same: input comes first.
    expect((await asked({ path: '/v1/jobs/search?limit=0' })).status).toBe(400);
    await expectOthersServed();
    // On a busy machine the loop of a server that starts may be late for a moment, which is a reason of its own.
    const isMemory = async (): Promise<boolean> => {
      expectShed(await asked(SEARCH));
      const { text } = await asked({ path: '/metrics' });
      return /^paygrade_shed_requests_total\{[^}]*reason="memory"[^}]*\} [1-9]/m.test(text);
    };
    await until('the memory is the reason', isMemory, 20_000);
  });

  it('is late: refuses new work, serves callbacks that exist, and comes back (reliability 212)', async () => {
    server = await AttackedServer.start(runtime, {});
    const purse = new Purse(server.target, from);
    await purse.sign(SEARCH);
    const callback = await buyCallback(server.target, purse, from);
    await stopAndContinue();
    expectShed(await asked(SEARCH));
    expectShed(await asked(CREATION));
    const headers = { 'payment-signature': await purse.sign(SEARCH) };
    expectShed(await asked({ ...SEARCH, headers }));
    await expectOthersServed();
    const sent = await asked({ method: 'POST', path: `/hooks/${callback.id}`, body: 'x' });
    expect(sent.status).toBe(200);
    const read = await asked({ path: `/v1/callbacks/${callback.id}/events`, headers: bearer(callback) });
    expect(read.status).toBe(200);
    const recoveredBy = performance.now() + RECOVERED_MS_MAX;
    let offer = await asked(SEARCH);
    while (offer.status !== 402 && performance.now() < recoveredBy) {
      await pause(200);
      offer = await asked(SEARCH);
    }
    expect(nameOf(offer)).toBe('402 PAYMENT_REQUIRED');
    // Nothing was reserved by the refusal: the same payment buys.
    expect((await asked({ ...SEARCH, headers })).status).toBe(200);
    expect(JSON.parse((await asked({ path: '/ready' })).text)).toMatchObject({ load: true });
  });

  it('says in its metrics how it is: lateness, memory, refusals, clock, settlements', async () => {
    const facilitator = new AttackedFacilitator();
    onTestFinished(() => facilitator.close());
    server = await AttackedServer.start(runtime, await facilitator.settings());
    const metrics = async (): Promise<string> => (await asked({ path: '/metrics' })).text;
    const purse = new Purse(server.target, from);
    // There is a skew from the facilitator's first answer on, unless that took two seconds, as it may on a busy machine.
    const metricsAfterSale = async (): Promise<string> => {
      await asked({ ...SEARCH, headers: { 'payment-signature': await purse.sign(SEARCH).catch(() => '') } });
      return metrics();
    };
    await expect.poll(metricsAfterSale).toContain('# TYPE paygrade_clock_skew_seconds ');
    const text = await metrics();
    const families = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    for (const name of METRICS) expect(families, name).toContain(name);
    expect(text).toMatch(/^paygrade_event_loop_lag_seconds\{statistic="p90"\} [0-9.]+$/m);
    await expect.poll(metrics, { timeout: 30_000 }).toMatch(/^paygrade_overload_level 0$/m);
    // Only Node's heap has a limit; Bun counts what is resident.
    expect(families.has('paygrade_heap_limit_bytes')).toBe(runtime === 'node');
  });
});
