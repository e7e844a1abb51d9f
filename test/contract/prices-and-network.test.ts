/** What an operator may change about the money (decisions §2): prices and network, the same in every place that states them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { priceOf } from '../../src/access/x402.ts';
import { ANSWER_DETAILS, bazaarOf } from '../../src/access/x402-discovery.ts';
import { MODULES } from '../../src/app/modules.ts';
import { x402Listing } from '../../src/modules/service/x402-listing.ts';
import { PRICE_KEYS } from '../../src/payment/prices.ts';
import { NETWORK_IDS } from '../../src/payment/protocol/network.ts';
import { expectError, receiptOf } from '../support/answers.ts';
import { type JobsApp, openJobsApp } from '../support/jobs-app.ts';
import { JOBS_PATHS } from '../support/jobs-client.ts';
import { RUNTIME } from '../support/opened-app.ts';
import { decodeHeader, encodeHeader, type PaymentRequired, paymentFor, wallet } from '../support/wallet.ts';

const PRICES = PRICE_KEYS.map((key, i) => `${key}=0.0${i + 1}1`).join(',');
const OWN_KEYS = ['search', 'company', 'signals', 'detail', 'changes', 'skills', 'market', 'callback'] as const;
const PATHS: Readonly<Record<(typeof OWN_KEYS)[number], string>> = {
  search: '/v1/jobs/search',
  company: '/v1/jobs/company',
  signals: '/v1/jobs/signals',
  detail: '/v1/jobs/detail',
  changes: '/v1/jobs/changes',
  skills: '/v1/jobs/skills',
  market: '/v1/jobs/market',
  callback: '/v1/callbacks',
};
const priceOfKey = (key: string): string => `0.0${(PRICE_KEYS as readonly string[]).indexOf(key) + 1}1`;
const atomicOfKey = (key: string): string => String(Math.round(Number(priceOfKey(key)) * 1e6));

const offerOfPath = (jobs: JobsApp, path: string): Promise<PaymentRequired> =>
  jobs.offer(jobs.targetOf(path), { method: path === PATHS.callback ? 'POST' : 'GET' });

describe(`prices that the operator set, under ${RUNTIME}`, () => {
  let jobs: JobsApp;
  const baseUrl = 'http://shop.example';
  beforeAll(async () => {
    jobs = await openJobsApp({ PRICES, BASE_URL: baseUrl });
  });
  afterAll(() => jobs.close());

  it.each(OWN_KEYS)('%s costs that in its offer, the documents and the listing', async (key) => {
    const path = PATHS[key];
    expect((await offerOfPath(jobs, path)).accepts[0]?.amount).toBe(atomicOfKey(key));
    const { paths } = JSON.parse((await jobs.get('/openapi.json')).text);
    const operation = paths[path][key === 'callback' ? 'post' : 'get'];
    expect(operation['x-payment-info'].price).toBe(priceOfKey(key));
    const { items } = JSON.parse((await jobs.get('/.well-known/x402')).text);
    const listed = items.find(({ resource }: { resource: string }) => resource === baseUrl + path);
    expect(listed.accepts[0].amount).toBe(atomicOfKey(key));
    const line = (await jobs.get('/llms.txt')).text.split('\n').find((one) => one.includes(` ${path}]`));
    expect(line).toContain(`Costs ${priceOfKey(key)} USDC`);
    const home = (await jobs.get('/', { accept: 'text/html' })).text;
    expect(home).toMatch(new RegExp(`${path}[^]{0,400}>${priceOfKey(key).replace('.', '\\.')} `));
  });

  it('a payment for the price of before is 402 with the new offer, and nothing is charged', async () => {
    const before = await openJobsApp({ BASE_URL: baseUrl });
    const account = wallet();
    const payment = await before.payment(before.search, account);
    await before.close();
    const answer = await jobs.pay(jobs.search, payment);
    expect(answer.status).toBe(402);
    expect(JSON.parse(answer.text)).toMatchObject({
      error: { code: 'PAYMENT_INVALID' },
      accepts: [{ amount: atomicOfKey('search') }],
    });
    expect(answer.headers.get('payment-response')).toBeNull();
  });

  it('every paid operation has a price that can be set, each its own', async () => {
    const listed = JSON.parse((await jobs.get('/.well-known/x402')).text);
    const amounts = listed.items.map(({ accepts }: { accepts: { amount: string }[] }) => accepts[0]!.amount);
    expect(new Set(amounts)).toEqual(new Set(OWN_KEYS.map(atomicOfKey)));
    expect(amounts).toHaveLength(OWN_KEYS.length);
  });
});

describe(`the network that the operator chose, under ${RUNTIME}`, () => {
  const BASE_URL = 'http://shop.example';
  const TOKEN = 'x'.repeat(40);
  const SEPOLIA = 'eip155:84532';

  it.each(NETWORK_IDS)('%s sells every route, with its own USDC, signature and receipt', async (network) => {
    const jobs = await openJobsApp({ NETWORK: network, LOCAL_BALANCE: '100000000' });
    for (const path of [...JOBS_PATHS, PATHS.callback]) {
      const method = path === PATHS.callback ? 'POST' : 'GET';
      const offer = await offerOfPath(jobs, path);
      const isTest = network === SEPOLIA;
      expect(offer.accepts).toEqual([
        expect.objectContaining({
          network,
          asset: isTest ? '0x036CbD53842c5426634e7929541eC2318f3dCF7e' : '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
          extra: { name: isTest ? 'USDC' : 'USD Coin', version: '2' },
        }),
      ]);
      const account = wallet();
      const payment = await paymentFor(offer, account);
      const headers = { 'PAYMENT-SIGNATURE': encodeHeader(payment) };
      const bought = await jobs.send(jobs.targetOf(path), { method, headers });
      expect([200, 201], bought.text.slice(0, 200)).toContain(bought.status);
      expect(receiptOf(bought)).toMatchObject({ success: true, network });
      const { nonce } = payment.payload.authorization;
      const status = await jobs.get(`/v1/payments/${network}/${account.address}/${nonce}`);
      expect(JSON.parse(status.text)).toMatchObject({ network, state: 'settled' });
      const other = NETWORK_IDS.find((id) => id !== network);
      expectError(await jobs.get(`/v1/payments/${other}/${account.address}/${nonce}`), 404, 'PAYMENT_NOT_FOUND');
    }
    const listing = JSON.parse((await jobs.get('/.well-known/x402')).text);
    expect(v.safeParse(x402Listing.answer, listing).issues).toBeUndefined();
    expect(listing.items[0].accepts).toMatchObject([{ network }]);
    await jobs.close();
  });

  it('a payment for the other network is 402, whether its terms or only its signature are of the other', async () => {
    const base = await openJobsApp({ BASE_URL });
    const sepolia = await openJobsApp({ BASE_URL, NETWORK: SEPOLIA });
    const account = wallet();
    const ofBase = await base.payment(base.search, account);
    const ofSepolia = await sepolia.payment(sepolia.search, account);
    for (const payment of [ofBase, { ...ofSepolia, payload: ofBase.payload }]) {
      const answer = await sepolia.pay(sepolia.search, payment);
      expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([402, 'PAYMENT_INVALID']);
    }
    expect((await sepolia.pay(sepolia.search, ofSepolia)).status).toBe(200);
    await Promise.all([base.close(), sepolia.close()]);
  });

  it('a state folder used with both keeps their payments and their books apart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'paygrade-networks-'));
    const open = (network: string): Promise<JobsApp> =>
      openJobsApp({ BASE_URL, STATE_DIR: folder, NETWORK: network, ADMIN_TOKEN: TOKEN });
    const account = wallet();
    const nonce = `0x${'7'.repeat(64)}` as const;
    const statusOn = async (jobs: JobsApp, network: string): Promise<unknown> =>
      JSON.parse((await jobs.get(`/v1/payments/${network}/${account.address}/${nonce}`)).text).state;
    const onBase = await open('eip155:8453');
    const ofBase = await onBase.payment(onBase.search, account, { authorization: { nonce } });
    expect((await onBase.pay(onBase.search, ofBase)).status).toBe(200);
    await onBase.close();

    const onSepolia = await open(SEPOLIA);
    expect(await statusOn(onSepolia, 'eip155:8453')).toBe('settled');
    expect(await statusOn(onSepolia, SEPOLIA)).toBeUndefined();
    expect((await onSepolia.pay(onSepolia.search, ofBase)).status).toBe(402);
    // The same payer and nonce: on another chain it is another authorization.
    const ofSepolia = await onSepolia.payment(onSepolia.search, account, { authorization: { nonce } });
    expect((await onSepolia.pay(onSepolia.search, ofSepolia)).status).toBe(200);
    expect((await onSepolia.pay(onSepolia.search, ofSepolia)).status).toBe(409);
    await onSepolia.close();

    const again = await open('eip155:8453');
    expect((await again.pay(again.search, ofBase)).status).toBe(409);
    expect(await statusOn(again, SEPOLIA)).toBe('settled');
    const { data } = JSON.parse((await again.get('/admin/v1/sales/days', { authorization: `Bearer ${TOKEN}` })).text);
    const searches = data.days.filter(({ operation }: { operation: string }) => operation === 'searchJobs');
    expect(searches).toMatchObject([
      { network: 'eip155:8453', sales: 1, amount_atomic: '20000' },
      { network: SEPOLIA, sales: 1, amount_atomic: '20000' },
    ]);
    await again.close();
    rmSync(folder, { recursive: true });
  });

  it('the documents name it', async () => {
    const jobs = await openJobsApp({ BASE_URL, NETWORK: SEPOLIA });
    expect((await jobs.get('/openapi.json')).text).toContain(SEPOLIA);
    expect((await jobs.get('/llms.txt')).text).toContain('USDC on Base Sepolia');
    const home = (await jobs.get('/', { accept: 'text/html' })).text;
    expect(home).toContain(`<code>${SEPOLIA}</code> Base Sepolia`);
    await jobs.close();
  });
});

describe(`the offer of a paid operation, under ${RUNTIME}`, () => {
  const paid = MODULES.flatMap(({ routes }) => routes).filter(({ access }) => priceOf(access) !== undefined);

  it.each(paid.map((route) => [route.operation, route] as const))(
    'of %s carries an example of its answer, of its schema',
    (_, route) => {
      for (const detail of ANSWER_DETAILS) {
        const { output } = bazaarOf(route, detail).info as { output: { example?: unknown } };
        if (detail === 'outline') expect(output.example).toBeUndefined();
        else v.parse(route.answer, output.example);
      }
    },
  );

  it('begins its description with [play money] where payments move none, and fits its header with the example', async () => {
    const jobs = await openJobsApp();
    for (const path of [...JOBS_PATHS, PATHS.callback]) {
      const offer = await offerOfPath(jobs, path);
      expect(offer.resource.description).toMatch(/^\[play money\] \S/);
      const { bazaar } = offer.extensions as { bazaar: { info: { output: { example?: unknown } } } };
      expect(bazaar.info.output.example, path).toBeDefined();
    }
    await jobs.close();
    const real = await openJobsApp({
      SETTLEMENT: 'facilitator',
      FACILITATOR_URL: 'http://127.0.0.1:1',
      PAY_TO: wallet().address,
    });
    const response = await real.get(real.search);
    const offer = decodeHeader<PaymentRequired>(response.headers.get('payment-required'));
    expect(offer.resource.description).not.toContain('play money');
    await real.close();
  });
});
