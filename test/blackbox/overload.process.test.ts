/** Overload of real servers (decisions §4; reliability 211, 212): real memory, and a process that really stands still. */
import { setTimeout as passed } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { bearer, createCallback, post } from '../support/callback-client.ts';
import { MetricsPage } from '../support/metrics-page.ts';
import { RUNTIMES, type RunningServer, type Runtime, startServer } from '../support/server.ts';
import { encodeHeader, offerFrom, paymentFor, wallet } from '../support/wallet.ts';

const PATH = '/v1/jobs/search?limit=1';
const TRIES_MAX = 8;
/** Each try is a start of a server. */
const PRESSED_TIMEOUT_MS = 120_000;

const start = (runtime: Runtime, variables: Record<string, string> = {}): Promise<RunningServer> =>
  startServer(runtime, { SHEDDING: 'true', RATE_LIMIT_PER_MINUTE: '0', LOG_LEVEL: 'warn', ...variables });

const pageOf = async (server: RunningServer): Promise<MetricsPage> =>
  new MetricsPage(await (await server.fetch('/metrics')).text());
const levelOf = async (server: RunningServer): Promise<number> =>
  (await pageOf(server)).value('paygrade_overload_level');

async function outcomeOf(answer: Promise<Response>): Promise<string> {
  const { status, headers, text } = await answer.then(async (response) => ({
    status: response.status,
    headers: response.headers,
    text: await response.text(),
  }));
  if (status !== 503) return String(status);
  expect(headers.get('retry-after')).toBe('5');
  expect(headers.get('payment-required')).toBeNull();
  return `503 ${(JSON.parse(text) as { error: { code: string } }).error.code}`;
}

async function expectFreeRoutes(server: RunningServer): Promise<void> {
  for (const path of ['/health', '/metrics', '/openapi.json', '/']) {
    const answer = await server.fetch(path, { headers: path === '/' ? { accept: 'text/html' } : {} });
    expect([path, answer.status]).toEqual([path, 200]);
    await answer.arrayBuffer();
  }
  const ready = await server.fetch('/ready');
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { snapshot: true, state: true, settlement: true, load: false },
  ]);
  const unknown = `/v1/payments/eip155:8453/${wallet().address}/0x${'00'.repeat(32)}`;
  expect((await server.fetch(unknown)).status).toBe(404);
}

/** A server whose memory is at 85 to 92 % of its limit; what a runtime holds differs from start to start. */
async function startPressed(
  runtime: Runtime,
  variables: Record<string, string>,
  whileQuiet: (quiet: RunningServer) => Promise<void>,
): Promise<RunningServer> {
  const quiet = await start(runtime, variables);
  await whileQuiet(quiet);
  await passed(500);
  let limit = Math.round((await pageOf(quiet)).value('process_resident_memory_bytes') / 0.885);
  await quiet.stop();
  for (let i = 0; i < TRIES_MAX; i++) {
    const server = await start(runtime, { ...variables, MEMORY_LIMIT_BYTES: String(limit) });
    await passed(600);
    const page = await pageOf(server);
    if (page.value('paygrade_overload_level') === 1) return server;
    limit = Math.round(page.value('process_resident_memory_bytes') / 0.885);
    await server.stop();
  }
  throw new Error('no limit of memory brought the server to the first level');
}

const loggedOf = (server: RunningServer): readonly Record<string, unknown>[] =>
  server
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => 'overload_level' in line);

describe.each(RUNTIMES)('overload, under %s', (runtime) => {
  it(
    'a server above 85 % of its memory makes no offers, and the payments of before still buy (reliability 211)',
    async () => {
      const variables = { PAY_TO: wallet().address, BASE_URL: 'http://shop.example' };
      let payment = '';
      const server = await startPressed(runtime, variables, async (quiet) => {
        payment = encodeHeader(await paymentFor(await offerFrom(quiet.fetch(PATH)), wallet()));
      });
      try {
        expect(await outcomeOf(server.fetch(PATH, { headers: { 'PAYMENT-SIGNATURE': payment } }))).toBe('200');
        expect(await outcomeOf(server.fetch(PATH))).toBe('503 OVERLOADED');
        expect(await outcomeOf(server.fetch('/v1/callbacks', { method: 'POST' }))).toBe('503 OVERLOADED');
        await expectFreeRoutes(server);
        const begun = loggedOf(server).find(({ overload_level }) => overload_level === 1);
        expect(begun).toMatchObject({ level: 'warn', reason: 'memory' });
      } finally {
        await server.stop();
      }
    },
    PRESSED_TIMEOUT_MS,
  );

  it('a server above 92 % accepts no payments either', async () => {
    const server = await start(runtime, { MEMORY_LIMIT_BYTES: '1000000' });
    try {
      expect(await outcomeOf(server.fetch(PATH))).toBe('503 OVERLOADED');
      const headers = { 'PAYMENT-SIGNATURE': 'e30=' };
      expect(await outcomeOf(server.fetch(PATH, { headers }))).toBe('503 OVERLOADED');
      expect(await outcomeOf(server.fetch('/v1/callbacks', { method: 'POST', headers }))).toBe('503 OVERLOADED');
      expect(await outcomeOf(server.fetch('/v1/jobs/search?limit=0'))).toBe('400');
      await expectFreeRoutes(server);
      const page = await pageOf(server);
      expect(page.value('paygrade_shed_requests_total', { operation: 'searchJobs', reason: 'memory' })).toBe(2);
      expect(page.value('paygrade_overload_level')).toBe(2);
      expect(page.families.has('paygrade_heap_limit_bytes')).toBe(runtime === 'node');
      expect(loggedOf(server)).toMatchObject([{ overload_level: 2, reason: 'memory' }]);
    } finally {
      expect(await server.stop()).toBe(0);
    }
  });

  it('a loop that stood still sheds right after it, and serves again five seconds later (reliability 212)', async () => {
    const server = await start(runtime);
    try {
      const callback = await createCallback(server);
      const payment = encodeHeader(await paymentFor(await offerFrom(server.fetch(PATH)), wallet()));
      await passed(200);
      server.child.kill('SIGSTOP');
      await passed(2_000);
      server.child.kill('SIGCONT');
      await expect.poll(() => outcomeOf(server.fetch(PATH)), { timeout: 1_000, interval: 5 }).toBe('503 OVERLOADED');
      const pay = (): Promise<string> => outcomeOf(server.fetch(PATH, { headers: { 'PAYMENT-SIGNATURE': payment } }));
      expect(await pay()).toBe('503 OVERLOADED');
      await expectFreeRoutes(server);
      expect((await post(server, callback.id, 'hello')).status).toBe(200);
      const read = await server.fetch(`/v1/callbacks/${callback.id}/events`, { headers: bearer(callback) });
      expect([read.status, (await read.text()).includes('hello')]).toEqual([200, true]);
      const page = await pageOf(server);
      expect(page.value('paygrade_event_loop_lag_seconds', { statistic: 'max' })).toBeGreaterThan(1.9);
      await expect.poll(() => levelOf(server), { timeout: 6_000, interval: 100 }).toBe(0);
      expect(await pay()).toBe('200');
      expect(await outcomeOf(server.fetch(PATH))).toBe('402');
      const levels = loggedOf(server).map(({ overload_level }) => overload_level);
      expect([levels[0], levels.at(-1)]).toEqual([2, 0]);
    } finally {
      expect(await server.stop()).toBe(0);
    }
  });
});
