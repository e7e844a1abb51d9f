/**
 * A synchronous stand-by takes the place of a database that was killed, behind the one address that processes know (scaling.md):
 * how long nothing is sold, and that nothing which was answered is lost. Prints the figures of docs/benchmarks.md.
 */
import type { PrivateKeyAccount } from 'viem/accounts';
import { expect, it } from 'vitest';
import { type OwnServer, type StandbyServer, startPostgres } from '../support/postgres.ts';
import { startServer } from '../support/server.ts';
import { TcpLink } from '../support/tcp-link.ts';
import { overSocket } from '../support/transport.ts';
import { pause, until } from '../support/until.ts';
import { buyOver, wallet } from '../support/wallet.ts';
import { Fleet } from './fleet.ts';

const ROUNDS = Number(process.env.PAYGRADE_TRIALS ?? '4');
const CUSTOMER_COUNT = 6;
/** From the moment at which the stand-by takes writes. */
const SELLING_MS = 5000;

const first = await startPostgres({ fsync: true });
if (first === undefined) console.log('skipping stand-bys: there is no PostgreSQL to start');
else await first.close();

interface Outage {
  readonly withoutSalesMs: number;
  readonly promotedMs: number;
  readonly resumedMs: number;
}

/** One primary, killed under load, and its stand-by, which is promoted. */
async function round(primary: OwnServer, standby: StandbyServer): Promise<Outage> {
  const url = await primary.freshUrl();
  const link = await TcpLink.to(url);
  const variables = { DATABASE_URL: link.url, LOCAL_BALANCE: '1000000000000', STATE_SYNC: 'full' };
  const fleet = await new Fleet(standby.urlOf(url), ['node', 'node', 'bun'], variables).start();
  const path = fleet.client(0).search;
  const sold: { readonly ms: number; readonly transaction: string }[] = [];
  let isOpen = true;
  const customer = async (account: PrivateKeyAccount, place: number): Promise<void> => {
    const shop = overSocket(fleet.members[place % 3]!.server.url);
    while (isOpen) {
      const answer = await buyOver(shop, path, account).catch(() => undefined);
      if (answer?.status === 200) {
        const receipt = JSON.parse(atob(answer.headers.get('payment-response') ?? '')) as { transaction: string };
        sold.push({ ms: performance.now(), transaction: receipt.transaction });
      }
      await pause(10);
    }
  };
  const customers = Promise.all(Array.from({ length: CUSTOMER_COUNT }, (_, place) => customer(wallet(), place)));
  await until('sales', () => sold.length > 20, 20_000);
  const downMs = performance.now();
  await primary.kill();
  link.close();
  await standby.promote();
  link.leadTo(standby.urlOf(url));
  link.open();
  const upMs = performance.now();
  await until('a sale after it', () => (sold.at(-1)?.ms ?? 0) > upMs, 20_000);
  const lastMs = Math.max(...sold.map(({ ms }) => ms).filter((ms) => ms < upMs));
  const firstMs = Math.min(...sold.map(({ ms }) => ms).filter((ms) => ms > upMs));
  await until('more sales', () => sold.filter(({ ms }) => ms > upMs).length > 20, 20_000);
  isOpen = false;
  await customers;
  const rows = await fleet.rows<{ transaction: string }>('SELECT transaction FROM paygrade.sales');
  const entered = rows.map(({ transaction }) => transaction);
  expect(new Set(entered).size).toBe(entered.length);
  expect(sold.filter(({ transaction }) => !entered.includes(transaction))).toEqual([]);
  await fleet.stop();
  await link.end();
  return { withoutSalesMs: firstMs - lastMs, promotedMs: upMs - downMs, resumedMs: firstMs - upMs };
}

it.skipIf(first === undefined)(
  `sell again soon after a stand-by was promoted, and nothing is lost, in ${ROUNDS} rounds`,
  { timeout: ROUNDS * 120_000 },
  async () => {
    const outages: Outage[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      const primary = (await startPostgres({ fsync: true }))!;
      const standby = await primary.startStandby();
      outages.push(await round(primary, standby));
      await standby.close();
      await primary.close();
    }
    for (const { withoutSalesMs, promotedMs, resumedMs } of outages) {
      const [without, promoted, resumed] = [withoutSalesMs, promotedMs, resumedMs].map((ms) => ms.toFixed(0));
      console.log(`${without} ms without sales: promoted after ${promoted} ms, sold ${resumed} ms after it`);
    }
    expect(Math.max(...outages.map(({ resumedMs }) => resumedMs))).toBeLessThan(SELLING_MS);
  },
);

it.skipIf(first === undefined)('a start at a stand-by waits until it is promoted', { timeout: 60_000 }, async () => {
  const primary = (await startPostgres())!;
  const standby = await primary.startStandby();
  const url = await primary.freshUrl();
  const variables = { STATE_KEY: Buffer.alloc(32, 7).toString('base64'), STATE_SYNC: 'normal' };
  const maker = await startServer('node', { DATABASE_URL: url, ...variables });
  expect(await maker.stop()).toBe(0);
  let isListening = false;
  const starting = startServer('node', { DATABASE_URL: standby.urlOf(url), ...variables }).then((server) => {
    isListening = true;
    return server;
  });
  await pause(3000);
  const isEarly = isListening;
  await primary.kill();
  await standby.promote();
  const server = await starting;
  await until('readiness', async () => (await server.fetch('/ready')).status === 200, 20_000);
  expect((await buyOver(server, '/v1/jobs/search?limit=1')).status).toBe(200);
  expect(await server.stop()).toBe(0);
  expect(isEarly).toBe(false);
  await standby.close();
  await primary.close();
});
