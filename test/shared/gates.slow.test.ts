/**
 * What `docs/scaling.md` says to run, as processes: three gates on one database, two jobs services, and a proxy that looks at
 * `/ready` (siblings §8, §9). Customers see one shop: also the official client, and also while every process is replaced.
 */
import { ExactEvmScheme } from '@x402/evm';
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningProxy, startProxy } from '../../src/cli/fleet/proxy.ts';
import { type Callback, createCallback, eventsOf, post } from '../support/callback-client.ts';
import { freePort } from '../support/free-port.ts';
import { JobsClient } from '../support/jobs-client.ts';
import { type OwnServer, startPostgres } from '../support/postgres.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { overSocket, type Transport } from '../support/transport.ts';
import { pause, until } from '../support/until.ts';
import { buyOver, wallet } from '../support/wallet.ts';
import { Fleet } from './fleet.ts';

const ENGINE_TOKEN = 'token-between-gates-and-services-0123456789';
const REQUEST_COUNT = 300;
const CUSTOMER_COUNT = 12;

const database = await startPostgres();
if (database === undefined) console.log('skipping gates on one database: there is no PostgreSQL to start');

describe.skipIf(database === undefined)('three gates on one database, behind a proxy', () => {
  const server = database as OwnServer;
  const services: RunningServer[] = [];
  let fleet: Fleet;
  let proxy: RunningProxy;
  let shop: Transport;
  const startService = (port = 0): Promise<RunningServer> =>
    startServer('node', {
      PORT: String(port),
      ENGINE_TOKEN,
      SURFACES: 'none',
      STATE_DIR: ':memory:',
      LOG_LEVEL: 'error',
    });
  const areReady = (): Promise<void> =>
    until('every gate is ready', () => fleet.members.every(({ server: { port } }) => proxy.isReady(port)), 30_000);
  const salesOf = async (operation: string): Promise<number> => {
    const [row] = await fleet.rows<{ sales: number }>(
      `SELECT count(*)::int AS sales FROM paygrade.sales WHERE operation = '${operation}'`,
    );
    return row?.sales ?? -1;
  };

  beforeAll(async () => {
    services.push(await startService(), await startService());
    const port = await freePort();
    fleet = await new Fleet(await server.freshUrl(), ['node', 'node', 'bun'], {
      BASE_URL: `http://127.0.0.1:${port}`,
      ENGINE_TOKEN,
      ENGINE_URL: services.map(({ url }) => url).join(','),
      SNAPSHOT: '',
      DRAIN_SECONDS: '1',
    }).start();
    proxy = await startProxy(port);
    await proxy.take(fleet.members.map((one) => one.server.port));
    shop = overSocket(`http://127.0.0.1:${port}`);
    await areReady();
  }, 120_000);
  afterAll(async () => {
    await proxy.close();
    await fleet.stop();
    await Promise.all(services.map((one) => one.stop()));
    await server.close();
  });

  it(`${REQUEST_COUNT} identical payments at once are one 200, otherwise 409, and one settlement`, async () => {
    const client = new JobsClient(shop, '');
    const payment = await client.payment(client.search, wallet());
    const before = await salesOf('searchJobs');
    const answers = await Promise.all(Array.from({ length: REQUEST_COUNT }, () => client.pay(client.search, payment)));
    const counts = [200, 409].map((status) => answers.filter((one) => one.status === status).length);
    expect(counts).toEqual([1, REQUEST_COUNT - 1]);
    expect(await salesOf('searchJobs')).toBe(before + 1);
  }, 60_000);

  it('sell to the official client, whichever gate made the offer and whichever is paid', async () => {
    const before = await salesOf('listSkills');
    const paths = Array.from({ length: CUSTOMER_COUNT }, () => '/v1/jobs/skills?limit=2');
    const bought = await Promise.all(
      paths.map(async (path) => {
        const account = wallet();
        const schemes = [{ network: 'eip155:8453' as const, client: new ExactEvmScheme(account) }];
        const response = await wrapFetchWithPaymentFromConfig(fetch, { schemes })(shop.url + path);
        await response.arrayBuffer();
        const receipt = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '');
        expect(receipt).toMatchObject({ success: true, network: 'eip155:8453' });
        expect(receipt.payer?.toLowerCase()).toBe(account.address.toLowerCase());
        return { status: response.status, transaction: receipt.transaction };
      }),
    );
    expect(bought.map(({ status }) => status)).toEqual(paths.map(() => 200));
    expect(new Set(bought.map(({ transaction }) => transaction)).size).toBe(CUSTOMER_COUNT);
    expect(await salesOf('listSkills')).toBe(before + CUSTOMER_COUNT);
  }, 60_000);

  it('refuse no payment and lose no webhook while every process is replaced', { timeout: 180_000 }, async () => {
    const before = await salesOf('describeMarket');
    const statuses: number[] = [];
    const acknowledged: { readonly callback: Callback; readonly ids: string[] }[] = [];
    let isOpen = true;
    const customer = async (): Promise<void> => {
      const account = wallet();
      while (isOpen) {
        statuses.push((await buyOver(shop, '/v1/jobs/market', account)).status);
        await pause(20);
      }
    };
    const sender = async (): Promise<void> => {
      while (isOpen) {
        const callback = await createCallback(shop, wallet());
        const ids: string[] = [];
        acknowledged.push({ callback, ids });
        for (let i = 0; i < 10 && isOpen; i++) {
          const answer = await post(shop, callback.id, `event ${i}`);
          statuses.push(answer.status);
          ids.push(((await answer.json()) as { event_id: string }).event_id);
          await pause(50);
        }
      }
    };
    const all = Promise.all([customer(), customer(), customer(), sender()]);
    for (const [place, service] of services.entries()) {
      expect(await service.stop()).toBe(0);
      services[place] = await startService(service.port);
    }
    for (const [place, { server: gate }] of fleet.members.entries()) {
      const stopping = gate.stop();
      await until('the proxy lets go', () => !proxy.isReady(gate.port), 30_000);
      expect(await stopping).toBe(0);
      await fleet.startMember(place);
      await areReady();
    }
    isOpen = false;
    await all;
    expect(statuses.length).toBeGreaterThan(50);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    for (const { callback, ids } of acknowledged) {
      expect((await eventsOf(shop, callback)).map(({ id }) => id)).toEqual(ids);
    }
    const bought = statuses.length - acknowledged.reduce((sum, { ids }) => sum + ids.length, 0);
    expect(await salesOf('describeMarket')).toBe(before + bought);
  });
});
