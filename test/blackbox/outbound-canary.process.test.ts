/**
 * What customers of retries and resolves trust the server with (siblings §6, §7): queries, headers and bodies of their requests,
 * and the tokens and secrets that they were given, are in no log and no metric, and in the state only encrypted, during the work and
 * after its end.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contentOf } from '../support/folder-content.ts';
import { bodyFor, type Created, ended, RESOLVE_PATH, resolve } from '../support/resolve-client.ts';
import { RUNTIMES, type RunningServer, startServer } from '../support/server.ts';
import type { Transport } from '../support/transport.ts';
import { until } from '../support/until.ts';
import { encodeHeader, offerFrom, paymentFor, wallet } from '../support/wallet.ts';

const ADMIN_TOKEN = 'operator-canary-of-at-least-32-characters';
const RETRIES = '/retry/v1/retries';

/** A retry as its creation shows it. */
interface Retry {
  readonly id: string;
  readonly status: string;
  readonly read_token?: string;
  readonly callback_secret: string;
}

/** A target that fails until it is told to work, and what it was sent. */
async function target() {
  const seen: string[] = [];
  let status = 503;
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part as Buffer);
    seen.push(`${request.url} ${JSON.stringify(request.headers)} ${Buffer.concat(parts).toString()}`);
    const isPage = request.url!.startsWith('/page');
    response.writeHead(isPage ? 200 : status, { 'content-type': 'text/html' }).end('<title>answer-canary</title>');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const work = (): void => {
    status = 200;
  };
  return { seen, work, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function expectNowhere(server: RunningServer, secrets: readonly string[]): Promise<void> {
  const places = {
    log: server.stdout() + server.stderr(),
    metrics: await (await server.fetch('/metrics')).text(),
    state: contentOf(server.stateDir),
  };
  for (const secret of secrets) {
    for (const [where, text] of Object.entries(places)) {
      expect(text.includes(secret), `${secret} in the ${where}`).toBe(false);
    }
  }
}

async function keyOf(server: Transport): Promise<string> {
  const post = async (path: string, body: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    return (await server.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  await post('/admin/v1/grants', { organization: 'canary', kind: 'onboarding', amount: 100 });
  const made = await post('/admin/v1/keys', { organization: 'canary', scopes: ['retries:read', 'retries:write'] });
  return (made as { key: string }).key;
}

describe.each(RUNTIMES)('retries and resolves under %s', (runtime) => {
  it('leave nothing of their requests in the log, the metrics or the state', async () => {
    const { seen, work, host } = await target();
    const server = await startServer(runtime, { TARGET_ALLOW: host, LOG_LEVEL: 'debug', ADMIN_TOKEN });
    onTestFinished(async () => void (await server.stop()));
    const key = await keyOf(server);
    const order = {
      request: {
        method: 'POST',
        url: `http://${host}/target?query-canary=1`,
        headers: { 'x-canary': 'header-canary', 'content-type': 'text/plain' },
        body: 'body-canary',
      },
      policy: { initial_delay_seconds: 1, backoff: 'fixed', max_attempts: 10 },
      callback_url: `http://${host}/hook?hook-canary=1`,
    };
    const create = async (headers: Record<string, string>): Promise<Retry> => {
      const init = bodyFor(order);
      const answer = await server.fetch(RETRIES, { ...init, headers: { ...init.headers, ...headers } });
      expect(answer.status).toBe(201);
      return (await answer.json()) as Retry;
    };
    const keyed = await create({ authorization: `Bearer ${key}`, 'idempotency-key': 'idempotency-canary-0001' });
    const payment = paymentFor(await offerFrom(server.fetch(RETRIES, bodyFor(order))), wallet());
    const paid = await create({ 'PAYMENT-SIGNATURE': encodeHeader(await payment) });
    const resolved = await resolve(server, { url: `http://${host}/page?resolve-canary=1`, max_wait_seconds: 0 });
    expect([200, 202]).toContain(resolved.status);
    const page = (await resolved.json()) as Created;
    await ended(server, page);
    await until('attempts', () => seen.filter((one) => one.startsWith('/target')).length >= 3);
    for (const canary of ['query-canary', 'header-canary', 'body-canary', 'resolve-canary']) {
      expect(seen.some((one) => one.includes(canary))).toBe(true);
    }
    const secrets = [
      ...['query-canary', 'header-canary', 'body-canary', 'hook-canary', 'idempotency-canary'],
      ...[key, keyed.callback_secret, paid.callback_secret, paid.read_token!, page.read_token],
    ];
    await expectNowhere(server, secrets);
    work();
    const shown = async ({ id }: Retry, token: string): Promise<Retry> =>
      (await (
        await server.fetch(`${RETRIES}/${id}`, { headers: { authorization: `Bearer ${token}` } })
      ).json()) as Retry;
    await until('the end of the retries', async () => {
      const all = [await shown(keyed, key), await shown(paid, paid.read_token!)];
      return all.every(({ status }) => status === 'succeeded');
    });
    await until('the deliveries', () => seen.filter((one) => one.startsWith('/hook')).length === 2);
    await expectNowhere(server, secrets);
    const { log, metrics } = {
      log: server.stdout() + server.stderr(),
      metrics: await (await server.fetch('/metrics')).text(),
    };
    // The state has the answers of resolves for their hour; log and metrics have nothing of them.
    for (const canary of ['resolve-canary', 'answer-canary']) {
      expect(log).not.toContain(canary);
      expect(metrics).not.toContain(canary);
    }
    expect(log).toContain(RESOLVE_PATH);
  });
});
