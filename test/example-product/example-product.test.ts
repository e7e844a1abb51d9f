/** A second surface with colliding paths is one folder and one line: what it shares with the base and what it has alone. */
import { afterEach, describe, expect, it } from 'vitest';
import { type App, openApp } from '../../src/app/app.ts';
import { CONFIGURATION } from '../../src/app/configuration.ts';
import { SURFACES } from '../../src/app/modules.ts';
import type { RequestRecord } from '../../src/app/request-record.ts';
import { ConfigError, defineConfig } from '../../src/config/config.ts';
import { appPorts } from '../support/app-ports.ts';
import { ManualTime } from '../support/manual-time.ts';
import { MetricsPage } from '../support/metrics-page.ts';
import { promptWorker } from '../support/recovery.ts';
import { buyOver, offerFrom, wallet } from '../support/wallet.ts';
import { EXAMPLE, TICK_MS } from './module.ts';
import { EXAMPLE_SETTINGS } from './settings.ts';

const BASE_URL = 'https://api.example.com';
const configuration = defineConfig([...CONFIGURATION.groups, { owner: 'Example', settings: EXAMPLE_SETTINGS }]);
const KEY = { authorization: 'Bearer key-1' };

const apps: App[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

async function open(variables: Readonly<Record<string, string>> = {}) {
  const config = configuration.read({
    STATE_DIR: ':memory:',
    BASE_URL,
    HOOK_BASE_URL: BASE_URL,
    EXAMPLE_KEYS: 'key-1=acme,key-2=globex',
    ...variables,
  });
  const time = new ManualTime();
  const records: RequestRecord[] = [];
  const failures: unknown[] = [];
  const opened = await openApp(
    { ...CONFIGURATION.read(variables), ...config, baseUrl: BASE_URL, hookBaseUrl: BASE_URL },
    appPorts({
      timers: time,
      recoveryWorker: promptWorker(),
      onRequest: (record) => records.push(record),
      onFailure: (failure) => failures.push(failure),
      surfaces: [...SURFACES, EXAMPLE],
    }),
  );
  apps.push(opened);
  const fetch = async (target: string, init: RequestInit = {}): Promise<Response> =>
    opened.fetch(new Request(target.startsWith('/') ? BASE_URL + target : target, init), { address: '192.0.2.1' });
  const json = async (target: string, headers: Record<string, string> = {}): Promise<Record<string, unknown>> =>
    (await (await fetch(target, { headers })).json()) as Record<string, unknown>;
  return { fetch, json, time, records, failures, app: opened };
}

describe('a second surface', () => {
  it('answers under its path what the base sells at the same path', async () => {
    const { fetch, json } = await open();
    const keyed = await fetch('/example/v1/jobs/search', { headers: KEY });
    expect(keyed.status).toBe(200);
    expect(keyed.headers.get('cache-control')).toBe('private, no-store');
    expect(await keyed.json()).toEqual({ account: 'acme', job_count: expect.any(Number) });
    expect(await json('/example/v1/jobs/search', { authorization: 'Bearer key-2' })).toMatchObject({
      account: 'globex',
    });
    expect((await fetch('/v1/jobs/search', { headers: KEY })).status).toBe(402);
  });

  it.each([
    ['no key', {}, 401, 'MISSING_AUTHORIZATION'],
    ['a wrong key', { authorization: 'Bearer no' }, 401, 'INVALID_DEMO_KEY'],
    ['another scheme', { authorization: 'Basic a2V5' }, 401, 'INVALID_AUTHORIZATION'],
    ['a key, and a bad query', KEY, 400, 'UNKNOWN_PARAMETER'],
  ])('asks for the key before the input: %s', async (_, headers, status, code) => {
    const { fetch } = await open();
    const response = await fetch('/example/v1/jobs/search?page=2', { headers: headers as Record<string, string> });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
    expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
  });

  it('sells for its price at its address, and an authorization buys once over all surfaces', async () => {
    const { fetch } = await open();
    const offer = await offerFrom(fetch('/example/v1/ticks'));
    expect(offer.resource.url).toBe(`${BASE_URL}/example/v1/ticks`);
    expect(offer.accepts[0]?.amount).toBe('30000');
    const account = wallet();
    const bought = await buyOver({ fetch }, '/example/v1/ticks', account);
    expect(bought.status).toBe(200);
    expect(bought.headers.get('payment-response')).not.toBeNull();
    expect(await bought.json()).toEqual({ tick_count: 0, payer: account.address });
  });

  it('has its own health, contract and operation ids', async () => {
    const { json, fetch } = await open();
    expect(await json('/example/health')).toMatchObject({ status: 'ok' });
    const contract = (await json('/example/openapi.json')) as {
      servers: unknown;
      paths: Record<string, { get: { operationId: string; security?: unknown } }>;
      components: { securitySchemes: unknown };
    };
    expect(contract.servers).toEqual([{ url: `${BASE_URL}/example` }]);
    expect(Object.keys(contract.paths).sort()).toEqual(['/health', '/openapi.json', '/v1/jobs/search', '/v1/ticks']);
    expect(contract.paths['/v1/jobs/search']?.get).toMatchObject({
      operationId: 'searchJobs',
      security: [{ demoKey: [] }],
    });
    expect(contract.components.securitySchemes).toHaveProperty('demoKey');
    const base = (await json('/openapi.json')) as { paths: Record<string, unknown> };
    expect(base.paths).not.toHaveProperty('/v1/ticks');
    expect((await fetch('/v1/ticks')).status).toBe(404);
    expect((await fetch('/example/v1/payments/a/b/c')).status).toBe(404);
    expect((await fetch('/examples/health')).status).toBe(404);
    expect((await fetch('/example/health', { method: 'POST' })).headers.get('allow')).toBe('GET');
  });

  it('is told apart in metrics and in the log, and the base is labelled as before', async () => {
    const { fetch, records } = await open();
    await fetch('/example/v1/jobs/search', { headers: KEY });
    await fetch('/example/nothing');
    await fetch('/v1/jobs/search');
    const page = new MetricsPage(await (await fetch('/metrics')).text());
    const requests = (labels: Record<string, string>) => page.value('paygrade_requests_total', labels);
    expect(requests({ operation: 'searchJobs', surface: 'example', status: '200' })).toBe(1);
    expect(requests({ operation: 'searchJobs', status: '402' })).toBe(1);
    expect(requests({ operation: 'none', surface: 'example', status: '404' })).toBe(1);
    expect(records.map(({ surface, operation, path }) => [surface, operation, path])).toEqual([
      ['example', 'searchJobs', '/example/v1/jobs/search'],
      ['example', null, '/example/nothing'],
      [null, 'searchJobs', '/v1/jobs/search'],
      [null, 'metrics', '/metrics'],
    ]);
  });

  it('runs its background task from the start to the shutdown, and is part of readiness and metrics', async () => {
    const { time, json, fetch, app } = await open();
    time.pass(3 * TICK_MS);
    expect(await json('/ready')).toEqual({ snapshot: true, state: true, settlement: true, example: true, load: true });
    expect(await json('/openapi.json')).toMatchObject({
      paths: {
        '/ready': {
          get: {
            responses: {
              200: {
                content: {
                  'application/json': {
                    schema: {
                      additionalProperties: false,
                      required: ['snapshot', 'state', 'settlement', 'example', 'load'],
                    },
                  },
                },
              },
            },
          },
        },
      },
    });
    const ticks = async (): Promise<number> =>
      new MetricsPage(await (await fetch('/metrics')).text()).value('example_ticks_total');
    expect(await ticks()).toBe(3);
    app.drain();
    time.pass(3 * TICK_MS);
    expect(await ticks()).toBe(3);
  });

  it('answers at the host of its address, and only then is the Host looked at', async () => {
    const { fetch, json } = await open({ EXAMPLE_URL: 'https://example.test:8443/sample' });
    const at = { host: 'Example.test:8443', ...KEY };
    expect((await fetch('/sample/v1/jobs/search', { headers: at })).status).toBe(200);
    expect((await fetch('/example/v1/jobs/search', { headers: KEY })).status).toBe(200);
    expect((await fetch('/sample/v1/jobs/search', { headers: KEY })).status).toBe(404);
    expect((await fetch('/v1/jobs/search', { headers: { ...at, host: 'other.test' } })).status).toBe(402);
    const offer = await offerFrom(fetch('/sample/v1/ticks', { headers: at }));
    expect(offer.resource.url).toBe('https://example.test:8443/sample/v1/ticks');
    expect(await json('/sample/openapi.json', at)).toMatchObject({
      servers: [{ url: 'https://example.test:8443/sample' }],
    });
    const without = await open();
    expect((await without.fetch('/sample/v1/jobs/search', { headers: at })).status).toBe(404);
  });

  it('has its settings beside those of the server', () => {
    expect(configuration.read({ EXAMPLE_KEYS: 'a=b' }).exampleKeys).toBe('a=b');
    expect(configuration.settings.map(({ flag }) => flag)).toContain('example-url');
    expect(() => configuration.read({ EXAMPLE_URL: 'ftp://x' })).toThrow(ConfigError);
  });
});
