/** `paygrade load` against running servers: every scenario, what it leaves behind, and how it ends. */
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as requestOver } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPES } from '../../src/accounts/scopes.ts';
import type { LoadResult } from '../../src/load/result.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { binaryOf, MAIN, oneRuntime, type RunningServer, startProcess, startServer } from '../support/server.ts';
import { loaded, runLoadCommand, startLoad } from './load-support.ts';

const ADMIN_TOKEN = 'a token of the operator of this test'.replaceAll(' ', '-');
const folder = suiteFolder();

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const share = v.pipe(v.number(), v.minValue(0));
const latency = v.nullable(
  v.strictObject({
    count,
    min: count,
    mean: count,
    p50: count,
    p75: count,
    p90: count,
    p95: count,
    p99: count,
    p99_9: count,
    max: count,
  }),
);
/** Closed: a field that is not declared here fails. */
const RESULT = v.strictObject({
  paygrade: v.string(),
  runtime: v.pipe(v.string(), v.regex(/^(Node|Bun) \d/)),
  url: v.string(),
  server_version: v.nullable(v.string()),
  started_at: v.pipe(v.string(), v.isoTimestamp()),
  scenario: v.string(),
  mix: v.record(v.string(), count),
  loop: v.picklist(['open', 'closed']),
  rate: v.nullable(count),
  connections: count,
  warmup_ms: count,
  duration_ms: count,
  ended: v.picklist(['in time', 'interrupted', 'nothing left to send']),
  requests: v.strictObject({
    expected: count,
    unexpected: count,
    unsent: count,
    passed_over: count,
    in_warmup: count,
    per_second: share,
  }),
  latency_us: latency,
  operations: v.array(
    v.strictObject({
      operation: v.string(),
      latency_us: latency,
      curve: v.array(v.tuple([share, count])),
      outcomes: v.array(v.strictObject({ outcome: v.string(), expected: v.boolean(), count, latency_us: latency })),
    }),
  ),
  timeline: v.strictObject({
    stretch_ms: count,
    stretches: v.array(
      v.strictObject({ at_ms: count, expected: count, unexpected: count, p50_us: count, p99_us: count }),
    ),
  }),
  generator: v.strictObject({
    cpu_share: share,
    lag_us: latency,
    connections_busy_share: share,
    waits_busy_share: share,
    unsigned_share: share,
    was_the_limit: v.boolean(),
    reason: v.nullable(v.string()),
  }),
  payments: v.nullable(v.strictObject({ signed: count, sent: count, expired: count, failure: v.null() })),
  credits: v.nullable(v.strictObject({ charged: count })),
  callbacks: v.nullable(v.strictObject({ created: count, deleted: count, waits_held: count })),
  hints: v.array(v.string()),
});

/** `operation outcome` -> count */
const outcomesOf = ({ operations }: LoadResult): Record<string, number> =>
  Object.fromEntries(
    operations.flatMap(({ operation, outcomes }) =>
      outcomes.map(({ outcome, count: times }) => [`${operation} ${outcome}`, times] as const),
    ),
  );

describe.each(oneRuntime('bun'))('paygrade load on a server under %s', (runtime) => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer(runtime, {
      RATE_LIMIT_PER_MINUTE: '0',
      CALLBACK_LIMIT_PER_MINUTE: '0',
      KEY_RATE_LIMIT_PER_MINUTE: '0',
      LOG_LEVEL: 'error',
    });
  });
  afterAll(() => server.stop());

  const short = (scenario: string, ...words: string[]) =>
    loaded([server.url, '--scenario', scenario, '--warmup', '0', ...words]);

  it('asks for offers, in a closed loop', async () => {
    const { exitCode, result } = await short('unpaid', '--connections', '4');
    expect(exitCode).toBe(0);
    expect(v.parse(RESULT, result)).toMatchObject({ scenario: 'unpaid', loop: 'closed', rate: null, connections: 4 });
    expect(Object.keys(outcomesOf(result))).toEqual(['unpaid 402 PAYMENT_REQUIRED']);
    expect(result.requests.expected).toBeGreaterThan(0); // a second of a busy machine
    expect(result.latency_us?.count).toBe(result.requests.expected);
    expect(result).toMatchObject({ payments: null, callbacks: null, server_version: expect.any(String) });
  });

  it('pays for answers, each with a payment of its own', async () => {
    const { exitCode, result } = await short('paid', '--rate', '20');
    expect(exitCode).toBe(0);
    v.parse(RESULT, result);
    // Twenty were due; where the machine is too busy to serve them all, the rest are unsent and none are wrong.
    expect(result.requests.expected + result.requests.unsent).toBe(20);
    expect(result.requests.unexpected).toBe(0);
    expect(outcomesOf(result)['paid 200']).toBe(result.requests.expected);
    expect(result.payments?.signed).toBeGreaterThanOrEqual(result.payments?.sent as number);
  });

  it('sends webhooks to callbacks that it buys and deletes; what is over their limits is told apart', async () => {
    const { exitCode, result } = await short('webhook', '--rate', '60', '--callbacks', '3');
    expect(exitCode).toBe(0);
    v.parse(RESULT, result);
    expect(result.callbacks).toEqual({ created: 3, deleted: 3, waits_held: 0 });
    expect(outcomesOf(result)).toEqual({ 'webhook 200': 30, 'webhook 410 CALLBACK_EVENT_LIMIT_REACHED': 30 });
    expect(result.hints).toContainEqual(expect.stringContaining('a callback refuses webhooks after its tenth'));
  });

  it('buys as many callbacks as a rate needs', async () => {
    const { exitCode, result } = await short('webhook', '--rate', '50');
    expect(exitCode).toBe(0);
    expect(result.callbacks).toEqual({ created: 6, deleted: 6, waits_held: 0 });
    expect(outcomesOf(result)).toEqual({ 'webhook 200': 50 });
  });

  it('wakes waits that it holds, several on a callback where there are many', async () => {
    const { exitCode, result } = await short('wait', '--rate', '10', '--waits', '6', '--callbacks', '6');
    expect(exitCode).toBe(0);
    v.parse(RESULT, result);
    // On a machine that is short of processors the last ones are due before the end and not sent.
    const { 'wait UNSENT': unsent = 0, ...sent } = outcomesOf(result);
    expect(sent).toEqual({ 'webhook 200': 10 - unsent, 'wait 200': 10 - unsent });
    expect(unsent).toBeLessThan(4);
    expect(result.callbacks).toEqual({ created: 6, deleted: 6, waits_held: 6 });
  });

  it('ends early when every callback has had its ten events', async () => {
    const words = ['--connections', '2', '--waits', '1', '--callbacks', '2', '--warmup', '0'];
    const { exitCode, result } = await loaded([server.url, '--scenario', 'wait', ...words], 60);
    expect(exitCode).toBe(0);
    expect(result.ended).toBe('nothing left to send');
    expect(outcomesOf(result)).toEqual({ 'webhook 200': 20, 'wait 200': 20 });
    expect(result.hints).toContainEqual(expect.stringContaining('every callback had its ten events'));
  });

  it('asks the Jobs Data API with a key, page after page', async () => {
    const keyShown = (): string | undefined => /svc_key_[A-Za-z0-9_-]{43}/.exec(server.stderr())?.[0];
    await expect.poll(keyShown).toBeDefined(); // another pipe than the line that says that the server listens
    const key = keyShown() ?? '';
    const { exitCode, result } = await short('data', '--rate', '80', '--key', key);
    expect(exitCode).toBe(0);
    expect(JSON.stringify(result)).not.toContain(key);
    v.parse(RESULT, result);
    const { 'data UNSENT': unsent = 0, ...sent } = outcomesOf(result);
    expect(sent).toEqual({ 'data 200': 80 - unsent });
    // Lists, at 25 a page, are most of the requests.
    expect(result.credits?.charged).toBeGreaterThan(5 * result.requests.expected);
  });

  it('mixes them by weight', async () => {
    const mix = 'health=2,unpaid=5,paid=1,webhook=1,wait=1';
    const { exitCode, result } = await short('mixed', '--mix', mix, '--rate', '40', '--waits', '2');
    expect(exitCode).toBe(0);
    v.parse(RESULT, result);
    expect(result.mix).toEqual({ health: 2, unpaid: 5, paid: 1, webhook: 1, wait: 1 });
    const { expected, unexpected, unsent, passed_over } = result.requests;
    expect(unexpected).toBe(0);
    // Each wait is a webhook and its answer.
    const waited = outcomesOf(result)['wait 200'] ?? 0;
    expect(expected - waited + unsent + passed_over).toBe(40);
    for (const operation of ['health 200', 'unpaid 402 PAYMENT_REQUIRED', 'paid 200', 'webhook 200']) {
      expect(outcomesOf(result)[operation]).toBeGreaterThan(0);
    }
  });
});

describe('paygrade load', () => {
  let server: RunningServer;
  beforeAll(async () => {
    const limits = { RATE_LIMIT_PER_MINUTE: '30', CALLBACK_LIMIT_PER_MINUTE: '3' };
    server = await startServer('node', { ...limits, LOG_LEVEL: 'error', ADMIN_TOKEN });
  });
  afterAll(() => server.stop());

  it('says once what to do about a server that counts requests, and fails', async () => {
    const words = [server.url, '--warmup', '0', '--duration', '1', '--rate', '100'];
    const { exitCode, stdout, stderr } = await runLoadCommand(words);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^ {2}unpaid +429 RATE_LIMIT_EXCEEDED \(!\) +70 /m);
    expect(stderr.match(/RATE_LIMIT_PER_MINUTE=0/g)).toHaveLength(1);
    expect(stderr).toMatch(/\npaygrade: 70\.0 % of the answers were not as the scenario expects\n$/);
  });

  it('says what to do where the server counts the callbacks that it buys', async () => {
    const { exitCode, stderr } = await runLoadCommand([server.url, '--scenario', 'webhook', '--callbacks', '5']);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /a payment bought no callback: 429 RATE_LIMIT_EXCEEDED; start the server with .*CALLBACK_LIMIT_PER_MINUTE=0/,
    );
  });

  it('counts answers for want of credits, takes the key from API_KEY, and refuses what is none', async () => {
    const operate = async (path: string, body: object): Promise<{ key: string }> => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await fetch(`${server.url}/admin/v1/${path}`, init)).json() as Promise<{ key: string }>;
    };
    const { key } = await operate('keys', { organization: 'few', scopes: SCOPES });
    await operate('grants', { organization: 'few', kind: 'onboarding', amount: 60 });
    const words = [server.url, '--scenario', 'data', '--warmup', '0', '--duration', '1', '--rate', '50'];
    const { exitCode, stderr } = await startLoad(words, false, { API_KEY: key }).ended;
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^ {2}data +402 INSUFFICIENT_CREDITS \(!\) /m);
    expect(stderr).toMatch(/^ {2}data +200 /m);
    expect(stderr).toContain('credits grant');
    expect(await runLoadCommand(words)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('set API_KEY, or give --key'),
    });
    const bent = await runLoadCommand([...words, '--key', 'svc_key_bent']);
    expect(bent).toMatchObject({ exitCode: 2, stderr: expect.not.stringContaining('bent') });
    const unknown = `svc_key_${'A'.repeat(43)}`;
    expect(await runLoadCommand([...words, '--key', unknown])).toMatchObject({
      exitCode: 1,
      stderr: 'paygrade: the key bought no page of jobs: 401 INVALID_API_KEY\n',
    });
  });

  it('writes a report, whole or not at all', async () => {
    const file = join(folder, 'report.html');
    const words = ['--scenario', 'health', '--rate', '20', '--warmup', '0', '--duration', '1', '--report', file];
    expect((await runLoadCommand([server.url, ...words])).exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    rmSync(file);
    expect((await runLoadCommand(['http://127.0.0.1:1', ...words])).exitCode).toBe(1);
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
    const nowhere = join(folder, 'nowhere', 'report.html');
    expect(await runLoadCommand([server.url, ...words.slice(0, -1), nowhere])).toMatchObject({
      exitCode: 1,
      stderr: `paygrade: ${nowhere} cannot be written (ENOENT)\n`,
    });
  });

  it('prints its result also where the report cannot be written in the end', async () => {
    const file = join(folder, 'report.html');
    const words = [
      '--scenario',
      'health',
      '--rate',
      '20',
      '--warmup',
      '0',
      '--duration',
      '1',
      '--json',
      '--report',
      file,
    ];
    const loading = startLoad([server.url, ...words]);
    await expect.poll(() => readdirSync(folder).length).toBe(1);
    mkdirSync(file);
    const { exitCode, stderr, stdout } = await loading.ended;
    rmSync(file, { recursive: true });
    expect([exitCode, stderr]).toEqual([1, `paygrade: ${file} cannot be written (EISDIR)\n`]);
    expect(JSON.parse(stdout)).toMatchObject({ scenario: 'health', ended: 'in time' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('draws a live line on a terminal and none in a pipe', async () => {
    const words = [server.url, '--scenario', 'health', '--rate', '20', '--warmup', '0', '--duration', '1'];
    const shown = await startLoad(words, true).ended;
    expect(shown.stderr).toMatch(/\r\u001b\[K\d of 1 s {2}[\d,]+\/s .*under way/);
    expect((await startLoad(words).ended).stderr).not.toContain('\r');
  });
});

describe.each(oneRuntime('node'))('paygrade load run by %s', (runtime) => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer('node', {
      RATE_LIMIT_PER_MINUTE: '0',
      CALLBACK_LIMIT_PER_MINUTE: '0',
      LOG_LEVEL: 'info',
    });
  });
  afterAll(() => server.stop());

  const start = (words: readonly string[]) => startProcess(binaryOf(runtime), [MAIN, 'load', server.url, ...words]);

  it('sends a mix and prints one JSON document and nothing else', async () => {
    const words = ['--scenario', 'mixed', '--mix', 'unpaid=6,paid=1,webhook=2,wait=1', '--rate', '30', '--waits', '3'];
    const { exitCode, stdout, stderr } = await start([...words, '--warmup', '0', '--duration', '1', '--json']).ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const result = v.parse(RESULT, JSON.parse(stdout));
    expect(result.runtime).toMatch(runtime === 'bun' ? /^Bun/ : /^Node/);
    expect(result.requests).toMatchObject({ unexpected: 0 });
    expect(result.requests.expected).toBeGreaterThan(10);
    expect(result.callbacks?.deleted).toBe(result.callbacks?.created);
  });

  it('ends at Ctrl-C with what it has seen, and deletes its callbacks', async () => {
    const words = ['--scenario', 'mixed', '--mix', 'health=1,webhook=1', '--rate', '50', '--warmup', '0'];
    const { child, ended } = start([...words, '--duration', '60', '--callbacks', '30', '--json']);
    // The server's log shows when webhooks come in, to callbacks that nobody else has.
    const webhookCount = (): number => server.stdout().match(/"path":"\/hooks\//g)?.length ?? 0;
    const before = webhookCount();
    await expect.poll(webhookCount, { timeout: 25_000 }).toBeGreaterThan(before + 5);
    child.kill('SIGINT');
    const { exitCode, stdout, stderr } = await ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const result = v.parse(RESULT, JSON.parse(stdout));
    expect(result.ended).toBe('interrupted');
    expect(result.duration_ms).toBeLessThan(60_000);
    expect(result.requests.expected).toBeGreaterThan(5);
    expect(result.callbacks?.deleted).toBe(result.callbacks?.created);
  });

  it('deletes its callbacks at Ctrl-C though webhooks without an answer hold all its connections', async () => {
    const proxy = createServer((request, response) => {
      const { url, method, headers } = request;
      if (url?.startsWith('/hooks/')) return;
      const passed = requestOver(server.url + url, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      request.pipe(passed);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    try {
      const words = ['--scenario', 'webhook', '--callbacks', '2', '--connections', '2', '--warmup', '0'];
      words.push('--duration', '1', '--timeout', '120', '--json'); // the last is longer than this test may take
      const loading = startLoad([`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, ...words], true);
      await expect.poll(() => loading.stderr(), { timeout: 20_000 }).toContain('waiting for the last answers');
      loading.signal('SIGINT');
      expect(JSON.parse((await loading.ended).stdout)).toMatchObject({
        ended: 'interrupted',
        requests: { unexpected: 0 },
        callbacks: { created: 2, deleted: 2 },
      });
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });
});
