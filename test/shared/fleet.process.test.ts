/** Several processes on one database sell as one (siblings §9). */
import type { PrivateKeyAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startProxy } from '../../src/cli/fleet/proxy.ts';
import { expectError, expectPaid, receiptOf } from '../support/answers.ts';
import { type OwnServer, startPostgres } from '../support/postgres.ts';
import { runToEnd } from '../support/server.ts';
import { overSocket } from '../support/transport.ts';
import { pause, until } from '../support/until.ts';
import { buyOver, wallet } from '../support/wallet.ts';
import { Fleet, type Member } from './fleet.ts';

const REQUEST_COUNT = 300;

const database = await startPostgres();
if (database === undefined) console.log('skipping several processes on one database: there is no PostgreSQL to start');

describe.skipIf(database === undefined)('three processes on one database', () => {
  const server = database as OwnServer;
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await new Fleet(await server.freshUrl(), ['node', 'node', 'bun'], { DRAIN_SECONDS: '1' }).start();
  });
  afterAll(async () => {
    expect(await fleet.stop()).toEqual([0, 0, 0]);
    await server.close();
  });

  it(`${REQUEST_COUNT} identical payments at once are one 200, otherwise 409, and one settlement`, async () => {
    const account = wallet();
    const path = fleet.client(0).search;
    const payment = await fleet.client(0).payment(path, account);
    const answers = await Promise.all(
      Array.from({ length: REQUEST_COUNT }, (_, i) => fleet.client(i).pay(path, payment)),
    );
    const [paid, ...more] = answers.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    const { transaction } = expectPaid(paid!, account.address);
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused.length).toBe(REQUEST_COUNT - 1);
    for (const answer of refused) {
      expectError(answer, 409, 'PAYMENT_ALREADY_USED');
      if (answer.headers.has('payment-response'))
        expect(receiptOf(answer)).toMatchObject({ success: true, transaction });
    }
    expect(await fleet.rows('SELECT count(*)::int AS sales FROM paygrade.sales')).toEqual([{ sales: 1 }]);
    expect(await fleet.rows('SELECT count(*)::int AS cases FROM paygrade.cases')).toEqual([{ cases: 0 }]);
    expect(await fleet.rows('SELECT atomic FROM paygrade.play_spent')).toEqual([{ atomic: '20000' }]);
  });

  it('know what another has sold, and what a payer has left', async () => {
    const account = wallet();
    const path = fleet.client(0).search;
    const payment = await fleet.client(0).payment(path, account);
    expectPaid(await fleet.client(0).pay(path, payment), account.address);
    const { nonce } = payment.payload.authorization;
    for (const place of [0, 1, 2]) {
      expectError(await fleet.client(place).pay(path, payment), 409, 'PAYMENT_ALREADY_USED');
      const status = await fleet.client(place).get(`/v1/payments/eip155:8453/${account.address}/${nonce}`);
      expect(JSON.parse(status.text)).toMatchObject({ state: 'settled' });
    }
  });

  it('have books, keys and credits for the commands, which work beside them', async () => {
    const variables = { DATABASE_URL: fleet.databaseUrl };
    const paygrade = (...words: string[]) => runToEnd('node', words, variables);
    const listed = paygrade('sales', '--json');
    expect([listed.exitCode, listed.stdout.trim().split('\n').length]).toEqual([0, 2]);
    expect(JSON.parse(listed.stdout.split('\n')[0]!)).toMatchObject({ operation: 'searchJobs', settlement: 'local' });
    const created = paygrade('keys', 'create', '--org', 'acme', '--scopes', 'jobs:read', '--json');
    const { id, key } = JSON.parse(created.stdout) as { id: string; key: string };
    paygrade('credits', 'grant', '--org', 'acme', '--kind', 'onboarding', '--amount', '3');
    const ask = (place: number) =>
      fleet.client(place).get('/data/v1/jobs/search?limit=1', { authorization: `Bearer ${key}` });
    expect((await ask(0)).headers.get('x-credits-remaining')).toBe('2');
    expect((await ask(2)).headers.get('x-credits-remaining')).toBe('1');
    expect(paygrade('keys', 'revoke', id).exitCode).toBe(0);
    expectError(await ask(1), 401, 'INVALID_API_KEY');
    expect(paygrade('credits', 'show', '--org', 'acme').stdout).toContain('acme: 1 credits left');
  });

  it('refuse no payment while one of them is replaced behind a proxy that looks at /ready', async () => {
    const proxy = await startProxy(0);
    await proxy.take(fleet.members.map((one) => one.server.port));
    const shop = overSocket(`http://127.0.0.1:${proxy.port}`);
    const [{ server: replaced }] = fleet.members as [Member];
    const statuses: number[] = [];
    let isOpen = true;
    const customer = async (account: PrivateKeyAccount): Promise<void> => {
      while (isOpen) {
        statuses.push((await buyOver(shop, fleet.client(0).search, account)).status);
        await pause(50);
      }
    };
    const customers = Promise.all([customer(wallet()), customer(wallet())]);
    const stopping = replaced.stop();
    await until('the proxy lets go', () => !proxy.isReady(replaced.port), 20_000);
    expect(await stopping).toBe(0);
    await fleet.startMember(0);
    await until('the proxy takes it back', () => proxy.isReady(replaced.port), 20_000);
    isOpen = false;
    await customers;
    await proxy.close();
    expect(statuses.length).toBeGreaterThan(5);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  it('refuse paid work while the database is away, and go on by themselves when it is back', async () => {
    const account = wallet();
    const path = fleet.client(0).search;
    const payment = await fleet.client(1).payment(path, account);
    await server.kill();
    const during = await fleet.client(1).pay(path, payment);
    expect([during.status, during.headers.has('payment-response')]).toEqual([503, false]);
    await until('every process notices', async () => {
      const statuses = await Promise.all([0, 1, 2].map((place) => fleet.client(place).get('/ready')));
      return statuses.every(({ status, text }) => status === 503 && JSON.parse(text).state === false);
    });
    expectError(await fleet.client(0).get(path), 503, 'SETTLEMENT_UNAVAILABLE');
    await server.start();
    await until('every process is ready', async () => {
      const statuses = await Promise.all([0, 1, 2].map((place) => fleet.client(place).get('/ready')));
      return statuses.every(({ status }) => status === 200);
    });
    expectPaid(await fleet.client(2).pay(path, payment), account.address);
    expectError(await fleet.client(1).pay(path, payment), 409, 'PAYMENT_ALREADY_USED');
  });
});
