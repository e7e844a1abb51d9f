/**
 * Retries and resolves paid on a local chain through the official facilitator (siblings §6, §7): the official clients buy both, and a
 * resolve that fails within its wait moves nothing and leaves its authorization to be used.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { wrapAxiosWithPaymentFromConfig } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import axios from 'axios';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyFor, payWith, RESOLVE_PATH, resolvePayment } from '../support/resolve-client.ts';
import { RUNTIMES, type RunningServer, startServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type Hex, wallet } from '../support/wallet.ts';
import { findAnvil } from './anvil.ts';
import { LocalChain } from './local-chain.ts';

const ANVIL = findAnvil();
const PAY_TO: Hex = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
const RETRY_PRICE = 20_000n;
const RESOLVE_PRICE = 30_000n;
const PURSE = 1_000_000n;
const RETRIES_PATH = '/retry/v1/retries';
const BOMB = gzipSync(Buffer.alloc(16 * 1_048_576));

describe.skipIf(ANVIL === undefined).each(RUNTIMES)('on a local chain, a server under %s', (runtime) => {
  let chain: LocalChain;
  let server: RunningServer;
  const seen: string[] = [];
  const target: Server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const html = { 'content-type': 'text/html; charset=utf-8' };
    if (request.url === '/bomb') response.writeHead(200, { ...html, 'content-encoding': 'gzip' }).end(BOMB);
    else if (request.url === '/private') response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    else response.writeHead(200, html).end('<title>A page</title>');
  });
  const urlOf = (path: string): string => `http://127.0.0.1:${(target.address() as AddressInfo).port}${path}`;

  beforeAll(async () => {
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    chain = await LocalChain.start(ANVIL!);
    server = await startServer(runtime, {
      LOG_LEVEL: 'error',
      SNAPSHOT: 'none',
      SETTLEMENT: 'facilitator',
      FACILITATOR_URL: chain.facilitatorUrl,
      PAY_TO,
      TARGET_ALLOW: urlOf('').slice('http://'.length),
    });
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    await chain.stop();
    target.closeAllConnections();
    target.close();
  });

  const richAccount = async () => {
    const account = wallet();
    await chain.mint(account.address, PURSE);
    return account;
  };
  const ORDERS = [
    ['a resolve', RESOLVE_PATH, () => ({ url: urlOf('/page') }), 200, RESOLVE_PRICE],
    ['a retry', RETRIES_PATH, () => ({ request: { method: 'GET', url: urlOf('/retried') } }), 201, RETRY_PRICE],
  ] as const;

  it.each(ORDERS)('sells %s to the official clients', async (_, path, order, status, price) => {
    const account = await richAccount();
    const before = await chain.balanceOf(PAY_TO);
    const schemes = [{ network: 'eip155:8453' as const, client: new ExactEvmScheme(account) }];
    const payingFetch = wrapFetchWithPaymentFromConfig(fetch, { schemes });
    const fetched = await payingFetch(server.url + path, bodyFor(order()));
    expect(fetched.status).toBe(status);
    const payingAxios = wrapAxiosWithPaymentFromConfig(axios.create() as never, { schemes } as never);
    expect((await payingAxios.post(server.url + path, order())).status).toBe(status);
    expect(await chain.balanceOf(account.address)).toBe(PURSE - 2n * price);
    expect(await chain.balanceOf(PAY_TO)).toBe(before + 2n * price);
  });

  it('sends the retries that were sold', async () => {
    await until('two attempts', () => seen.filter((one) => one === 'GET /retried').length === 2);
  });

  it.each([
    ['/bomb', 502, 'RESPONSE_TOO_LARGE'],
    ['/private', 400, 'TARGET_NOT_ALLOWED'],
    ['https://no-such-name.invalid/', 502, 'TARGET_UNREACHABLE'],
  ])(
    'moves nothing for a resolve that fails within its wait (%s), and its authorization buys another',
    async (path, status, code) => {
      const account = await richAccount();
      const payment = await resolvePayment(server, account);
      const url = path.startsWith('/') ? urlOf(path) : path;
      const failed = await payWith(server, payment, { url });
      const { error } = (await failed.json()) as { error: { code: string } };
      // A machine without a name server waits for one in vain.
      expect([
        [status, code],
        [504, 'TARGET_TIMEOUT'],
      ]).toContainEqual([failed.status, error.code]);
      expect(await chain.isUsed(payment)).toBe(false);
      expect(await chain.balanceOf(account.address)).toBe(PURSE);
      expect((await payWith(server, payment, { url: urlOf('/page') })).status).toBe(200);
      expect(await chain.isUsed(payment)).toBe(true);
      expect(await chain.balanceOf(account.address)).toBe(PURSE - RESOLVE_PRICE);
    },
  );
});
