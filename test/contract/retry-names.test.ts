/**
 * What names the purchase of a retry: a payment identifier, an idempotency key, or both (decisions §4, siblings §6). One identifier
 * buys once and one key buys once, however they are mixed and whatever becomes of the first payment.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PrivateKeyAccount } from 'viem/accounts';
import { afterAll, describe, expect, it } from 'vitest';
import { KEPT_MS } from '../../src/payment/reservations.ts';
import { answerOf, expectError } from '../support/answers.ts';
import { type OpenedApp, openedApp, RUNTIME } from '../support/opened-app.ts';
import { quickTimers } from '../support/quick-timers.ts';
import { ShiftedClock } from '../support/shifted-clock.ts';
import { answer, TargetsByHost } from '../support/targets-by-host.ts';
import { until } from '../support/until.ts';
import { encodeHeader, offerFrom, paymentFor, wallet } from '../support/wallet.ts';

const ADMIN_TOKEN = 'operator-token-of-forty-characters-0001';
const ORDER = { request: { method: 'POST', url: 'https://good.example/orders', body: { a: 1 } } };
const OTHER = { request: { ...ORDER.request, body: { a: 2 } } };

/** `I`, `J`: two identifiers of a payer; `K`, `L`: two keys; `-`: neither. */
type Names = 'I' | 'K' | 'I+K' | 'J+K' | 'I+L' | 'J+L' | '-';

/** The second request after the first: the same purchase, or another one. */
const MIXTURES: readonly (readonly [first: Names, second: Names, second: 'the same' | 'another'])[] = [
  ['I+K', 'I+K', 'the same'],
  ['I+K', 'K', 'the same'],
  ['I+K', 'I', 'the same'],
  ['I+K', 'J+K', 'the same'],
  ['I+K', 'I+L', 'the same'],
  ['I+K', 'J+L', 'another'],
  ['I+K', '-', 'another'],
  ['K', 'K', 'the same'],
  ['K', 'I+K', 'the same'],
  ['K', 'I', 'another'],
  ['I', 'I', 'the same'],
  ['I', 'I+K', 'the same'],
  ['I', 'K', 'another'],
];

const isSame = ([, , which]: (typeof MIXTURES)[number]): boolean => which === 'the same';

/** The facilitator's word on the next settlements. */
type Word = 'settled' | 'refused' | 'lost';

const sellers: Seller[] = [];
afterAll(() => Promise.all(sellers.map((seller) => seller.remove())));

class Seller {
  readonly clock = new ShiftedClock();
  readonly outbound = new TargetsByHost().target('good.example', () => answer(200, '{}'));
  readonly #folder: string | undefined;
  readonly #payTo = wallet().address;
  readonly settled = new Set<string>();
  word: Word = 'settled';
  #app: OpenedApp | undefined;

  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  static async open(isOnDisk = false): Promise<Seller> {
    const folder = isOnDisk ? mkdtempSync(join(tmpdir(), 'paygrade-names-')) : undefined;
    const seller = new Seller(folder);
    sellers.push(seller);
    await seller.start();
    return seller;
  }

  async start(): Promise<void> {
    const variables = {
      SNAPSHOT: 'none',
      ADMIN_TOKEN,
      STATE_DIR: this.#folder ?? ':memory:',
      SETTLEMENT: 'facilitator',
      FACILITATOR_URL: 'https://facilitator.example',
      PAY_TO: this.#payTo,
    };
    const { clock, outbound } = this;
    const facilitatorFetch = async (url: string, init?: { body?: unknown }): Promise<Response> => {
      if (!url.endsWith('/settle')) return Response.json({ isValid: true, kinds: [] });
      if (this.word === 'lost') throw new TypeError('the connection was lost');
      if (this.word === 'refused') return Response.json({ success: false, errorReason: 'insufficient_funds' });
      this.settled.add(/0x[0-9a-f]{64}/.exec(String(init?.body))?.[0] ?? '');
      return Response.json({ success: true, transaction: `0x${'ab'.repeat(32)}`, network: 'eip155:8453' });
    };
    this.#app = await openedApp(variables, { clock, timers: quickTimers, outbound, facilitatorFetch } as never);
  }

  async close(): Promise<void> {
    await this.#app?.close();
    this.#app = undefined;
  }

  async remove(): Promise<void> {
    await this.close();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  async buy(account: PrivateKeyAccount, names: Names, order: object = ORDER): Promise<Response> {
    const app = this.#app as OpenedApp;
    const own = account.address.slice(2);
    const key = /[KL]/.exec(names)?.[0];
    const id = /[IJ]/.exec(names)?.[0];
    const init = {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key !== undefined && { 'idempotency-key': `key-${key}-${own}` }),
      },
      body: JSON.stringify(order),
    };
    const url = '/retry/v1/retries';
    const validBefore = this.clock.secondsAhead(120);
    const offer = await offerFrom(app.fetch(url, init));
    const payment = {
      ...(await paymentFor(offer, account, { authorization: { validBefore } })),
      ...(id !== undefined && {
        extensions: { 'payment-identifier': { info: { required: false, id: `id-${id}-${own}` } } },
      }),
    };
    return app.fetch(url, { ...init, headers: { ...init.headers, 'PAYMENT-SIGNATURE': encodeHeader(payment) } });
  }

  /** The id of the job that an answer gives. */
  async bought(account: PrivateKeyAccount, names: Names, order: object = ORDER) {
    let answered = await this.buy(account, names, order);
    await until(
      'the settlement',
      async () => {
        if (answered.status === 503) answered = await this.buy(account, names, order);
        return answered.status !== 503;
      },
      20_000,
    );
    const { id } = (await answered.json()) as { id: string };
    return { status: answered.status, id };
  }
}

const refused = async (response: Promise<Response>, status: number, code: string): Promise<void> => {
  expectError(await answerOf(await response), status, code);
};

/** Beside each other: an unknown outcome is asked for again after a while. */
describe.concurrent(`purchases of retries under identifiers and keys, under ${RUNTIME}`, () => {
  it.each([
    ['', false],
    [', also over a restart', true],
  ])('are one for each name while the outcome of the first is open, and after it%s', async (_, isRestarted) => {
    const seller = await Seller.open(isRestarted);
    const accounts = MIXTURES.map(() => wallet());
    const ask = (place: number): Promise<unknown> =>
      Promise.all(
        MIXTURES.map((names, i) =>
          refused(seller.buy(accounts[i] as PrivateKeyAccount, names[place] as Names), 503, 'SETTLEMENT_PENDING'),
        ),
      );
    seller.word = 'lost';
    await ask(0);
    await ask(1);
    if (isRestarted) {
      await seller.close();
      await seller.start();
    }
    seller.word = 'settled';
    const found = await Promise.all(
      MIXTURES.map(async ([first, second], i) => {
        const account = accounts[i] as PrivateKeyAccount;
        const made = await seller.bought(account, second);
        expect(made.status).toBe(201);
        const again = await seller.bought(account, first);
        return [first, second, made.id === again.id ? 'the same' : 'another'];
      }),
    );
    expect(found).toEqual(MIXTURES);
    // Each request without a name is a purchase.
    const count = MIXTURES.reduce((sum, one) => sum + (isSame(one) ? 1 : one[1] === '-' ? 3 : 2), 0);
    await until('the settlements', () => seller.settled.size === count);
  });

  it('give their job the key under which it was bought, whatever request creates it', async () => {
    const seller = await Seller.open();
    const accounts = (['I+K', 'I', 'I+L', 'J+K'] as const).map((names) => [names, wallet()] as const);
    seller.word = 'lost';
    for (const [, account] of accounts) await refused(seller.buy(account, 'I+K'), 503, 'SETTLEMENT_PENDING');
    seller.word = 'settled';
    const made = await Promise.all(accounts.map(([names, account]) => seller.bought(account, names)));
    seller.clock.aheadMs += KEPT_MS;
    const again = await Promise.all(accounts.map(([, account]) => seller.bought(account, 'K')));
    expect(again).toEqual(made.map(({ id }) => ({ status: 200, id })));
    expect(seller.settled.size).toBe(accounts.length);
  });

  it.each([
    ['the same', ORDER],
    ['another', OTHER],
  ])(
    'that were two, under an identifier and, with %s body, under a key, make two jobs, although one request names both',
    async (_, order) => {
      const seller = await Seller.open();
      const account = wallet();
      seller.word = 'lost';
      await refused(seller.buy(account, 'I'), 503, 'SETTLEMENT_PENDING');
      await refused(seller.buy(account, 'K', order), 503, 'SETTLEMENT_PENDING');
      seller.word = 'settled';
      await until('the settlements', () => seller.settled.size === 2);
      const one = await seller.bought(account, 'I+K');
      const other = await seller.bought(account, 'K', order);
      expect([one.status, other.status, one.id === other.id]).toEqual([201, 201, false]);
      expect((await seller.bought(account, 'K', order)).id).toBe(other.id);
      await until('the requests', () => seller.outbound.seenBy('good.example').length === 2);
    },
  );

  it.each([
    ['the same', ORDER],
    ['another', OTHER],
  ])(
    'make the job that is paid for under an identifier, although its key has one of %s body already',
    async (_, order) => {
      const seller = await Seller.open();
      const account = wallet();
      seller.word = 'lost';
      await refused(seller.buy(account, 'I'), 503, 'SETTLEMENT_PENDING');
      seller.word = 'settled';
      const other = await seller.bought(account, 'K', order);
      await until('the settlements', () => seller.settled.size === 2);
      const one = await seller.bought(account, 'I+K');
      expect([one.status, other.status, one.id === other.id]).toEqual([201, 201, false]);
    },
  );

  it('are one for each name once the first has its job', async () => {
    const seller = await Seller.open();
    const found = await Promise.all(
      MIXTURES.map(async ([first, second]) => {
        const account = wallet();
        const made = await seller.bought(account, first);
        const again = await seller.bought(account, second);
        return [first, second, made.id === again.id ? 'the same' : 'another'];
      }),
    );
    expect(found).toEqual(MIXTURES);
    expect(seller.settled.size).toBe(MIXTURES.reduce((sum, one) => sum + (isSame(one) ? 1 : 2), 0));
  });

  it('begin anew under every name when the first was refused', async () => {
    const seller = await Seller.open();
    seller.word = 'refused';
    const accounts = MIXTURES.map(() => wallet());
    for (const [i, [first]] of MIXTURES.entries())
      await refused(seller.buy(accounts[i] as PrivateKeyAccount, first), 402, 'PAYMENT_NOT_SETTLED');
    seller.word = 'settled';
    for (const [i, [, second]] of MIXTURES.entries())
      expect((await seller.bought(accounts[i] as PrivateKeyAccount, second)).status).toBe(201);
    expect(seller.settled.size).toBe(MIXTURES.length);
  });

  it('conflict by the name that is another purchase’s: an identifier is judged before a key', async () => {
    const seller = await Seller.open();
    const account = wallet();
    await seller.bought(account, 'I+K');
    for (const names of ['I', 'I+K', 'I+L'] as const)
      await refused(seller.buy(account, names, OTHER), 409, 'PAYMENT_IDENTIFIER_CONFLICT');
    for (const names of ['K', 'J+K'] as const)
      await refused(seller.buy(account, names, OTHER), 409, 'IDEMPOTENCY_CONFLICT');
    expect((await seller.buy(account, 'J+L', OTHER)).status).toBe(201);
  });
});
