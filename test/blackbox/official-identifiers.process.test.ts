/** The official clients buy under a payment identifier, lose the answer, and get it without a second charge (decisions §4). */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { ExactEvmScheme } from '@x402/evm';
import { appendPaymentIdentifierToExtensions, generatePaymentId } from '@x402/extensions/payment-identifier';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MetricsPage } from '../support/metrics-page.ts';
import { oneRuntime, type RunningServer, startServer } from '../support/server.ts';
import { wallet } from '../support/wallet.ts';

/** A proxy on the way to the server that can lose answers: it cuts the client off where an answer to a payment begins. */
class LossyProxy {
  losesPaidAnswers = false;
  lostCount = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(port: number) {
    this.#server = createServer((client) => {
      const upstream = connect(port, '127.0.0.1');
      let isPaid = false;
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket)));
      }
      client.on('data', (data) => {
        isPaid = /^payment-signature:/im.test(data.toString('latin1'));
        upstream.write(data);
      });
      client.on('close', () => upstream.destroy());
      upstream.on('close', () => client.destroy());
      upstream.on('data', (data) => {
        if (isPaid && this.losesPaidAnswers) {
          this.lostCount++;
          client.resetAndDestroy();
        } else client.write(data);
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe.each(oneRuntime('bun'))('@x402/fetch with a payment identifier against %s', (runtime) => {
  let server: RunningServer;
  let proxy: LossyProxy;
  let address: string;
  beforeAll(async () => {
    server = await startServer(runtime);
    proxy = new LossyProxy(server.port);
    address = await proxy.listen();
  });
  afterAll(async () => {
    await proxy.close();
    expect(await server.stop()).toBe(0);
  });

  /** What a customer writes: each purchase under the identifier, a new authorization at each 402. */
  function fetchUnder(id: string, account = wallet()): typeof fetch {
    const client = new x402Client().register('eip155:8453', new ExactEvmScheme(account));
    client.onBeforePaymentCreation(async ({ paymentRequired }) => {
      if (paymentRequired.extensions !== undefined) appendPaymentIdentifierToExtensions(paymentRequired.extensions, id);
    });
    return wrapFetchWithPayment(fetch, client) as typeof fetch;
  }

  const sold = async (operation: string): Promise<number> => {
    const page = new MetricsPage(await (await server.fetch('/metrics')).text());
    return page.value('paygrade_sales_total', { operation });
  };
  const receiptOf = (response: Response): ReturnType<typeof decodePaymentResponseHeader> =>
    decodePaymentResponseHeader(response.headers.get('payment-response') ?? '');

  it.each([
    ['searchJobs', '/v1/jobs/search?keyword=engineer&limit=3', {}, 200],
    ['findSignals', '/v1/jobs/signals?role=engineer', {}, 200],
    ['createCallback', '/v1/callbacks', { method: 'POST' }, 201],
  ] as const)('gets a lost answer of %s, the same each time, and pays once', async (operation, path, init, status) => {
    const account = wallet();
    const id = generatePaymentId();
    const buy = fetchUnder(id, account);
    const before = await sold(operation);
    const lostBefore = proxy.lostCount;
    proxy.losesPaidAnswers = true;
    await expect(buy(address + path, init)).rejects.toThrow();
    proxy.losesPaidAnswers = false;
    expect(proxy.lostCount).toBe(lostBefore + 1);
    expect(await sold(operation)).toBe(before + 1);

    const first = await buy(address + path, init);
    const text = await first.text();
    expect(first.status).toBe(status);
    expect(receiptOf(first)).toMatchObject({ success: true, payer: account.address });
    const second = await buy(address + path, init);
    expect([second.status, await second.text(), receiptOf(second)]).toEqual([status, text, receiptOf(first)]);
    expect(await sold(operation)).toBe(before + 1);

    // Without the identifier, and under another one, the same request is another purchase.
    expect((await fetchUnder(generatePaymentId(), account)(address + path, init)).status).toBe(status);
    expect(await sold(operation)).toBe(before + 2);
  });

  it('is refused another question under the same identifier, uncharged', async () => {
    const buy = fetchUnder(generatePaymentId());
    expect((await buy(`${address}/v1/jobs/search?limit=1`)).status).toBe(200);
    const before = await sold('searchJobs');
    const other = await buy(`${address}/v1/jobs/search?limit=2`);
    expect([other.status, ((await other.json()) as { error: { code: string } }).error.code]).toEqual([
      409,
      'PAYMENT_IDENTIFIER_CONFLICT',
    ]);
    expect(await sold('searchJobs')).toBe(before);
  });
});
