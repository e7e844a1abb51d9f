/** The proxies of `deploy/` in front of a real server: what customers and senders must get through them, and what must not pass. */
import { ExactEvmScheme } from '@x402/evm';
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, type Callback } from '../support/callback-client.ts';
import { decodeHeader, type PaymentRequired, wallet } from '../support/wallet.ts';
import { API, type Fronted, HOOKS, installedProxies, OPERATOR, PROXIES, startFronted } from './proxy.ts';

const SEARCHES_PER_MINUTE = 12;
const JSON_BODY = { 'content-type': 'application/json' };

/** The Error object, by the server or by the proxy. */
async function refusalOf(response: Response): Promise<{ status: number; code: string }> {
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('cache-control')).toContain('no-store');
  const { error } = (await response.json()) as { error: { code: string; message: string; request_id: string } };
  expect(Object.keys(error)).toEqual(['code', 'message', 'request_id']);
  expect(error.request_id).toMatch(/^req_[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  return { status: response.status, code: error.code };
}

const proxies = installedProxies();
const isNone = proxies.length === 0;
// Without any, the tests of all are skipped: a file without a test fails.
describe.skipIf(isNone).each(isNone ? PROXIES : proxies)('behind %s', (name) => {
  let fronted: Fronted;
  beforeAll(async () => {
    fronted = await startFronted(name, name === 'nginx' ? 'node' : 'bun', {
      RATE_LIMIT_PER_MINUTE: String(SEARCHES_PER_MINUTE),
      // With a public address and play money, retries and resolves are sold only where they are named.
      SURFACES: 'jobs,callbacks,data,retry,resolve',
      // With it the server itself has the operator's paths.
      ADMIN_TOKEN: 'token-of-the-operator-0123456789-0123456789',
    });
  });
  afterAll(() => fronted?.stop());

  const paying = (): typeof fetch =>
    wrapFetchWithPaymentFromConfig(fronted.fetch, {
      schemes: [{ network: 'eip155:8453' as const, client: new ExactEvmScheme(wallet()) }],
    }) as typeof fetch;
  const newCallback = async (): Promise<Callback> =>
    (await (await paying()(`https://${API}/v1/callbacks`, { method: 'POST' })).json()) as Callback;

  it('the program itself finds nothing wrong with the file', () => {
    expect(fronted.checkOutput).toMatch(/test is successful|Valid configuration/);
    expect(fronted.checkOutput).not.toMatch(/\[warn\]/);
  });

  it('the official client reads the offer, pays it and gets answer and receipt', async () => {
    const path = '/v1/jobs/search?keyword=engineer&limit=10';
    for (const [method, target] of [
      ['GET', path],
      ['GET', '/v1/jobs/signals'],
      ['POST', '/v1/callbacks'],
    ] as const) {
      const offer = await fronted.send(API, target, { method, from: '127.0.0.20' });
      expect(offer.status).toBe(402);
      const { resource } = decodeHeader<PaymentRequired>(offer.headers.get('payment-required'));
      expect(resource.url).toMatch(`https://${API}${target.split('?')[0]}`);
    }
    const response = await paying()(`https://${API}${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    expect(decodePaymentResponseHeader(response.headers.get('payment-response') ?? '').success).toBe(true);
  });

  it('a wait is silent as long as it asked for, and a webhook by its own name ends one', async () => {
    const callback = await newCallback();
    const path = `/v1/callbacks/${callback.id}/wait`;
    const started = performance.now();
    const silent = await fronted.send(API, `${path}?timeout=2`, { headers: bearer(callback) });
    expect(silent.status).toBe(200);
    expect(performance.now() - started).toBeGreaterThan(1900);
    const pending = fronted.send(API, `${path}?timeout=20`, { headers: bearer(callback) });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const body = JSON.stringify('x'.repeat(262_142));
    const hook = await fronted.send(HOOKS, `/hooks/${callback.id}`, { method: 'POST', headers: JSON_BODY, body });
    expect(hook.status).toBe(200);
    const woken = (await (await pending).json()) as { event: { size_bytes: number } };
    expect(woken.event.size_bytes).toBe(262_144);
  });

  it('a webhook that is too large is 413, by a byte or by far', async () => {
    const { id } = await newCallback();
    for (const size of [262_145, 600_000]) {
      const sent = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(size) };
      const refusal = await refusalOf(await fronted.send(HOOKS, `/hooks/${id}`, sent));
      expect(refusal).toEqual({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
    }
  });

  it('a retry of 262,144 bytes gets its offer, and a creation that is too large is 413, by a byte or by far', async () => {
    const request = { method: 'POST', url: 'https://example.org/orders', body: '' };
    const rest = JSON.stringify({ request }).length;
    const sized = (size: number) => ({
      method: 'POST',
      headers: JSON_BODY,
      body: JSON.stringify({ request: { ...request, body: 'x'.repeat(size - rest) } }),
      from: '127.0.0.22',
    });
    expect((await fronted.send(API, '/retry/v1/retries', sized(262_144))).status).toBe(402);
    for (const [path, ...sizes] of [
      ['/retry/v1/retries', 262_145, 600_000],
      ['/resolve/v1/resolve', 16_385, 65_000, 100_000],
      ['/v1/callbacks', 16_385, 65_000, 100_000],
    ] as const) {
      for (const size of sizes) {
        const refusal = await refusalOf(await fronted.send(API, path, sized(size)));
        expect(refusal, `${path} ${size}`).toEqual({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
      }
    }
  });

  it('a payment header of 8 KiB passes, one far larger is refused before the server', async () => {
    const sized = (bytes: number) => ({ headers: { 'payment-signature': 'A'.repeat(bytes) }, from: '127.0.0.21' });
    const largest = await fronted.send(API, '/v1/jobs/search?limit=1', sized(8192));
    expect(largest.status).toBe(402);
    const oversize = await fronted.send(API, '/v1/jobs/search?limit=1', sized(60_000)).then(
      ({ status }) => status,
      ({ code }: NodeJS.ErrnoException) => code,
    );
    // nginx calls it 400, Caddy 431; either may close the connection while it still comes.
    expect([400, 431, 'ECONNRESET', 'EPIPE']).toContain(oversize);
  });

  it('a client cannot choose the address that it is counted under', async () => {
    const ask = (from: string, claimed: string) =>
      fronted.send(API, '/v1/jobs/search?limit=1', { from, headers: { 'x-forwarded-for': claimed } });
    const statuses: number[] = [];
    for (let i = 0; i < SEARCHES_PER_MINUTE + 3; i++) statuses.push((await ask('127.0.0.30', `203.0.113.${i}`)).status);
    expect(statuses).toEqual([...Array<number>(SEARCHES_PER_MINUTE).fill(402), 429, 429, 429]);
    // Another client is untouched, though it claims to be the first.
    expect((await ask('127.0.0.31', '127.0.0.30')).status).toBe(402);
  });

  it.each([
    '/metrics',
    '/ready',
    '/admin/v1/sales',
    '/sales',
    '/boards',
    '/%61dmin/v1/sales',
    '/admin/v1/organizations/%0Aacme',
    '/hooks/cb_000000000000000000000000',
  ])('%s is not there for the public', async (path) => {
    expect(await refusalOf(await fronted.send(API, path))).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it('the operator reads metrics and readiness, and the hooks name has nothing but hooks', async () => {
    for (const path of ['/metrics', '/ready']) {
      expect((await fronted.send(API, path, { from: OPERATOR })).status).toBe(200);
      expect(await refusalOf(await fronted.send(HOOKS, path, { from: OPERATOR }))).toMatchObject({ status: 404 });
    }
    expect((await fronted.send(API, '/health')).status).toBe(200);
  });

  it('plain HTTP is sent to HTTPS and not served', async () => {
    const response = await fronted.sendPlain(API, '/v1/jobs/search?limit=1');
    expect(response.status).toBe(308);
    expect(response.headers.get('location')).toMatch(/^https:\/\/api\.example\.com[:/]/);
  });

  it.runIf(name === 'nginx')(
    'a method that HTTP does not know ends before the server, which may hang up on it',
    async () => {
      for (const host of [API, HOOKS]) {
        const response = await fronted.send(host, '/hooks/cb_000000000000000000000000', { method: 'BREW' });
        expect(response.headers.get('allow')).toBe(host === API ? 'GET, POST, DELETE' : 'POST');
        expect(await refusalOf(response)).toEqual({ status: 405, code: 'METHOD_NOT_ALLOWED' });
      }
    },
  );

  it.runIf(name === 'nginx')('a backslash, which Bun takes for a slash, opens no path of the operator', async () => {
    const onBun = await startFronted('nginx', 'bun');
    try {
      for (const [host, path] of [
        [API, '/x\\..\\metrics'],
        [API, '/admin\\v1/sales'],
        [HOOKS, '/hooks/\\..\\..\\metrics'],
      ] as const) {
        expect(await refusalOf(await onBun.send(host, path))).toEqual({ status: 404, code: 'NOT_FOUND' });
      }
      expect((await onBun.send(API, '/v1/jobs/search?keyword=a\\b&limit=1')).status).toBe(402);
    } finally {
      await onBun.stop();
    }
  });

  it('the path of all hooks is no path', async () => {
    expect(await refusalOf(await fronted.send(HOOKS, '/hooks'))).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.runIf(name === 'nginx')('a flood from one address is 429 by nginx, and another address is served', async () => {
    const flood = Array.from({ length: 400 }, () => fronted.send(API, '/health', { from: '127.0.0.40' }));
    const answers = await Promise.all(flood);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
    expect(refused[0]!.headers.get('retry-after')).toBe('1');
    expect(await refusalOf(refused[0]!)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
    expect((await fronted.send(API, '/health', { from: '127.0.0.41' })).status).toBe(200);
  });

  it('without the server the proxy answers an error that asks for no second payment', async () => {
    await fronted.server.kill();
    const response = await fronted.send(API, '/v1/jobs/search?limit=1');
    expect(response.headers.get('retry-after')).toBe('2');
    expect(await refusalOf(response)).toEqual({ status: 503, code: 'INTERNAL_ERROR' });
  });
});
