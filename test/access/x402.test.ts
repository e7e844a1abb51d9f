/** The admitter from the header to the receipt, over the real parts; faults come from scripted settlements and stores. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PaymentMeters } from '../../src/access/payment-meter.ts';
import { type PaidServices, paid } from '../../src/access/x402.ts';
import { bazaarOf } from '../../src/access/x402-discovery.ts';
import { clientNetworkOf } from '../../src/base/client-network.ts';
import { OutageError, RecordInDoubtError } from '../../src/base/outage.ts';
import type { Admission, Admitter, Mount } from '../../src/http/access.ts';
import type { HeaderRecord } from '../../src/http/answers.ts';
import { Answer } from '../../src/http/answers.ts';
import type { Contract } from '../../src/http/contract.ts';
import { Refusal } from '../../src/http/errors.ts';
import type { ReadBody, RequestView } from '../../src/http/request-view.ts';
import { createCallback } from '../../src/modules/callbacks/create.ts';
import { searchJobs } from '../../src/modules/jobs/search.ts';
import { Checkout, type CheckoutParts } from '../../src/payment/checkout.ts';
import type { PaymentIdentifier } from '../../src/payment/protocol/identifier.ts';
import { type Address, BASE } from '../../src/payment/protocol/network.ts';
import { digestOf } from '../../src/payment/protocol/typed-data.ts';
import { ANSWER_BYTES_CLAIMED } from '../../src/payment/reservations.ts';
import { LocalSettlement } from '../../src/payment/settlement/play-ledger.ts';
import { Reconciler } from '../../src/payment/settlement/reconciler.ts';
import type {
  Settlement,
  SettlementReadiness,
  SettleOutcome,
  VerifyOutcome,
} from '../../src/payment/settlement/settlement.ts';
import {
  NEWCOMER_COUNT_MAX,
  SettlementTurns,
  TURN_COUNT_MAX,
  type Turn,
  WAIT_MS_MAX,
} from '../../src/payment/settlement/settlement-turns.ts';
import { RecoveryQueue, type RecoveryWorker } from '../../src/payment/signature/recovery-queue.ts';
import type { Recover } from '../../src/payment/signature/signature.ts';
import { MemoryBooks } from '../../src/storage/memory/books.ts';
import type { MemoryReservations } from '../../src/storage/memory/reservations.ts';
import { edited, NOW_MS, NOW_SECONDS, PAYEE, payer, signedPayment } from '../payment/fixture.ts';
import { Chance } from '../support/chance.ts';
import { ManualTime, settle } from '../support/manual-time.ts';
import { memoryReservations } from '../support/memory-reservations.ts';
import { playLedger } from '../support/play-ledger.ts';
import { promptWorker, recoverAsServer } from '../support/recovery.ts';
import { type Changes, decodeHeader, encodeHeader } from '../support/wallet.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const ROUTE: Contract = searchJobs;
const MOUNT: Mount = { labels: {}, baseUrl: 'https://api.example.com' };

/** What the admitter gives for a payment that it accepts. */
interface Pass {
  settle(): Promise<HeaderRecord | Refusal>;
  release(): void;
}

const admitterOf = (services: PaidServices, contract: Contract = ROUTE): Admitter =>
  paid('0.02').open(services, contract, MOUNT);

const passOf = (admission: Admission): Pass => ({
  settle: async () => (await admission.settle?.('{}')) as HeaderRecord | Refusal,
  release: () => admission.release?.(),
});

/** A settlement that does as told and counts. */
class Scripted implements Settlement {
  takesContractSignatures = true;
  ready: SettlementReadiness = { kind: 'ready' };
  verified: () => Promise<VerifyOutcome> = async () => ({ kind: 'valid' });
  settled: () => Promise<SettleOutcome> = async () => ({ kind: 'settled', transaction: HASH });
  verifyCount = 0;
  settleCount = 0;
  readiness(): SettlementReadiness {
    return this.ready;
  }
  verify(): Promise<VerifyOutcome> {
    this.verifyCount++;
    return this.verified();
  }
  settle(): Promise<SettleOutcome> {
    this.settleCount++;
    return this.settled();
  }
}

function visit(
  payment: string | null,
  headers: Record<string, string> = {},
  search = '',
  client = '127.0.0.1',
): RequestView & { isGone: boolean } {
  const request = new Request('https://api.example.com');
  return {
    requestId: 'req_1',
    method: 'GET',
    params: {},
    body: request,
    onDisconnect: () => {},
    path: ROUTE.path,
    search,
    isGone: false,
    header: (name) => (name === 'payment-signature' ? payment : (headers[name] ?? null)),
    clientAddress: () => client,
    clientNetwork: () => clientNetworkOf(client),
    isDisconnected() {
      return this.isGone;
    },
  };
}

function setUp<S extends Settlement>(settlement: S, change: Partial<CheckoutParts> = {}, place?: RecoveryWorker) {
  const time = new ManualTime(NOW_MS);
  const reservations = memoryReservations(time);
  let recoverCount = 0;
  const recover: Recover = (digest, signature) => {
    recoverCount++;
    return recoverAsServer(digest, signature);
  };
  const heard = { onCaseReport() {}, onBug() {} };
  const reconciler = new Reconciler({ settlement, reservations, clock: time, timers: time, ...heard });
  const checkout = new Checkout({
    reservations,
    settlement,
    reconciler,
    recoveries: new RecoveryQueue([place ?? promptWorker(recover)], time, time),
    turns: undefined,
    clock: time,
    random: new Chance(1),
    ...change,
  });
  const services: PaidServices = {
    paid: {
      checkout,
      seller: { payTo: PAYEE, network: BASE, prices: {}, isPlay: false, serviceName: 'paygrade' },
      meters: new PaymentMeters(),
      books: new MemoryBooks(new Chance(1)),
    },
  };
  const admitter = admitterOf(services);
  const admit = async (
    header: string | null,
    one: RequestView = visit(header),
    read: ReadBody = {},
  ): Promise<Pass | Refusal> => {
    const admitted = await admitter.admit(one, {}, read);
    if (admitted === undefined || admitted instanceof Answer)
      throw new Error('a paid operation let a request through with nothing held');
    return admitted instanceof Refusal ? admitted : passOf(admitted);
  };
  const refused = async (header: string | null, one?: RequestView): Promise<Refusal> => {
    const admitted = await admit(header, one);
    if (!(admitted instanceof Refusal)) throw new Error('expected a refusal, got an admission');
    return admitted;
  };
  const passed = async (header: string, one?: RequestView, read?: ReadBody): Promise<Pass> => {
    const admitted = await admit(header, one, read);
    if (admitted instanceof Refusal)
      throw new Error(`expected an admission, got ${admitted.code}: ${admitted.message}`);
    return admitted;
  };
  return {
    time,
    reservations,
    reconciler,
    settlement,
    services,
    admitter,
    admit,
    refused,
    passed,
    recoverCount: () => recoverCount,
  };
}

const ledger = (atomic = 100_000_000n) => new LocalSettlement(playLedger(atomic, new ManualTime(NOW_MS)));
const signed = async (changes: Changes = {}, index = 0): Promise<string> =>
  encodeHeader(await signedPayment(changes, payer(index)));

const offered = (refusal: Refusal): { error: string } => {
  expect(refusal.status).toBe(402);
  expect(JSON.parse(`{"error":0${refusal.extras.members?.join('')}}`)).toMatchObject({
    x402Version: 2,
    accepts: [{ amount: '20000' }],
  });
  return decodeHeader(refusal.extras.headers?.['payment-required'] ?? null);
};
const responseOf = (headers: Readonly<Record<string, string>> | undefined): Record<string, unknown> =>
  decodeHeader(headers?.['payment-response'] ?? null);

describe('a request without a payment', () => {
  it.each([null, ''])('gets the offer at once, without any call to the settlement (header %j)', (header) => {
    const kit = setUp(new Scripted());
    const answer = kit.admitter.admit(visit(header, {}, '?keyword=rust'), {}, {});
    if (!(answer instanceof Refusal)) throw new Error('not synchronous');
    expect(answer.code).toBe('PAYMENT_REQUIRED');
    expect(offered(answer)).toMatchObject({
      error: 'PAYMENT-SIGNATURE header is required',
      resource: { url: 'https://api.example.com/v1/jobs/search?keyword=rust' },
      extensions: { bazaar: bazaarOf(ROUTE, 'example and outline') },
    });
    expect([kit.settlement.verifyCount, kit.settlement.settleCount, kit.reservations.count]).toEqual([0, 0, 0]);
  });

  it('is refused with the reason when it uses version 1 (reliability 27)', async () => {
    const kit = setUp(new Scripted());
    const refusal = await kit.refused(null, visit(null, { 'x-payment': await signed() }));
    expect(refusal.code).toBe('PAYMENT_REQUIRED');
    expect(offered(refusal).error).toMatch(/v1 is not supported/);
  });

  it('gets no offer while the settlement is unreachable or the state has a fault, and one while it is only busy', async () => {
    const kit = setUp(new Scripted());
    kit.settlement.ready = { kind: 'unreachable' };
    const refusal = await kit.refused(null);
    expect(refusal.code).toBe('SETTLEMENT_UNAVAILABLE');
    expect(refusal.extras.headers).toMatchObject({ 'retry-after': expect.stringMatching(/^[1-9][0-9]*$/) });
    expect(refusal.extras.headers).not.toHaveProperty('payment-required');
    kit.settlement.ready = { kind: 'busy' };
    expect((await kit.refused(null)).code).toBe('PAYMENT_REQUIRED');
    kit.reservations.fault = () => 'the disk is full';
    expect((await kit.refused(null)).code).toBe('SETTLEMENT_UNAVAILABLE');
  });

  it('gets no offer while no worker can verify a signature', async () => {
    const kit = setUp(new Scripted(), {}, { ...promptWorker(), isHealthy: () => false });
    expect((await kit.refused(null)).code).toBe('SETTLEMENT_UNAVAILABLE');
  });
});

describe('a payment that is not acceptable', () => {
  it('gets the offer with the reason, and nothing is recovered, reserved or verified', async () => {
    const kit = setUp(new Scripted());
    const payment = await signedPayment();
    const headers = ['x', 'AAAA', `${encodeHeader(payment)}, ${encodeHeader(payment)}`, 'A'.repeat(9000)];
    headers.push(edited(payment, 'accepted.amount', '1'), edited(payment, 'payload.authorization.value', '20001'));
    headers.push(edited(payment, 'resource.url', 'https://api.example.com/v1/jobs/company'));
    for (const header of headers) {
      const answer = kit.admitter.admit(visit(header), {}, {});
      if (!(answer instanceof Refusal)) throw new Error('not synchronous');
      expect(answer.code).toBe('PAYMENT_INVALID');
      expect(offered(answer).error).toMatch(/^[a-z_0-9]+$/);
      expect(answer.extras.headers).not.toHaveProperty('payment-response');
    }
    expect([kit.recoverCount(), kit.settlement.verifyCount, kit.reservations.count]).toEqual([0, 0, 0]);
  });

  it('with a forged signature reserves nothing and learns nothing, before and after the victim pays (reliability 64)', async () => {
    const kit = setUp(new Scripted());
    const [charged, paid] = (['chargeForgery', 'markPaid'] as const).map((what) =>
      vi.spyOn(RecoveryQueue.prototype, what),
    );
    onTestFinished(() => void vi.restoreAllMocks());
    const payment = await signedPayment();
    const other = await signedPayment({}, payer(1));
    const forged = edited(payment, 'payload.signature', other.payload.signature);
    const before = await kit.refused(forged);
    expect(before.code).toBe('PAYMENT_INVALID');
    expect(kit.reservations.count).toBe(0);
    const network = clientNetworkOf('127.0.0.1');
    expect([charged?.mock.calls, paid?.mock.calls]).toEqual([[[network]], []]);
    await (await kit.passed(encodeHeader(payment))).settle();
    expect([charged?.mock.calls, paid?.mock.calls]).toEqual([[[network]], [[network]]]);
    const after = await kit.refused(forged);
    expect(after.extras).toEqual(before.extras);
    expect(after.message).toBe(before.message);
  });

  it('by a contract wallet is refused with the reason where settlement is local (reliability 56)', async () => {
    const kit = setUp(ledger());
    const refusal = await kit.refused(edited(await signedPayment(), 'payload.signature', `0x${'ab'.repeat(66)}`));
    expect(refusal.code).toBe('PAYMENT_INVALID');
    expect(refusal.message).toMatch(/contract wallets/);
    expect(kit.recoverCount()).toBe(0);
  });
});

describe('a paid request', () => {
  it('pays once and gets the receipt; the same payment is 409 with that receipt from then on', async () => {
    const play = playLedger(100_000_000n, new ManualTime(NOW_MS));
    const kit = setUp(new LocalSettlement(play));
    const header = await signed();
    const pass = await kit.passed(header);
    const headers = await pass.settle();
    if (headers instanceof Refusal) throw new Error(headers.code);
    expect(responseOf(headers)).toEqual({
      success: true,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      network: 'eip155:8453',
      payer: payer().address,
    });
    for (const again of [
      header,
      header.replace(/=+$/, ''),
      encodeHeader({ more: 1, ...(decodeHeader(header) as object) }),
    ]) {
      const refusal = await kit.refused(again);
      expect(refusal.code).toBe('PAYMENT_ALREADY_USED');
      expect(refusal.extras.headers).toEqual(headers);
    }
    expect(play.balanceOf(payer().address)).toBe(100_000_000n - 20_000n);
  });

  it('sent 300 times at once passes once, is 409 for the rest, and settles once', async () => {
    const kit = setUp(new Scripted());
    const header = await signed();
    const admitted = await Promise.all(Array.from({ length: 300 }, () => kit.admit(header)));
    const passes = admitted.filter((one): one is Pass => !(one instanceof Refusal));
    const refusals = admitted.filter((one): one is Refusal => one instanceof Refusal);
    expect(passes).toHaveLength(1);
    expect(refusals).toHaveLength(299);
    for (const one of refusals) {
      expect(one.code).toBe('PAYMENT_ALREADY_USED');
      expect(one.message).toContain('Do not sign a new one');
      expect(one.extras.headers).toEqual({ 'retry-after': '1' });
    }
    await passes[0]?.settle();
    expect([kit.settlement.verifyCount, kit.settlement.settleCount]).toEqual([1, 1]);
  });

  it('signed again with another window over the same nonce is 409; another payer’s same nonce is not (reliability 76, 77)', async () => {
    const kit = setUp(new Scripted());
    const nonce = `0x${'5'.repeat(64)}` as const;
    await kit.passed(await signed({ authorization: { nonce } }));
    const again = await signed({ authorization: { nonce, validBefore: String(NOW_SECONDS + 100) } });
    expect((await kit.refused(again)).code).toBe('PAYMENT_ALREADY_USED');
    await kit.passed(await signed({ authorization: { nonce } }, 1));
  });

  it.each(['busy', 'unreachable'] as const)('that was used is 409 even while the settlement is %s', async (kind) => {
    const kit = setUp(new Scripted());
    const header = await signed();
    await (await kit.passed(header)).settle();
    kit.settlement.ready = { kind };
    expect((await kit.refused(header)).code).toBe('PAYMENT_ALREADY_USED');
  });

  it('that was released is free for another try', async () => {
    const kit = setUp(new Scripted());
    const header = await signed();
    for (let i = 0; i < 3; i++) (await kit.passed(header)).release();
    expect(kit.settlement.settleCount).toBe(0);
    expect(kit.reservations.count).toBe(0);
    expect(await (await kit.passed(header)).settle()).not.toBeInstanceOf(Refusal);
  });

  it('that a bug stops before its settlement is free again', async () => {
    const kit = setUp(new Scripted());
    const header = await signed();
    const one = visit(header);
    const pass = await kit.passed(header, one);
    Object.assign(one, {
      isDisconnected() {
        throw new Error('a bug');
      },
    });
    await expect(async () => pass.settle()).rejects.toThrow('a bug');
    expect([kit.settlement.settleCount, kit.reservations.count]).toEqual([0, 0]);
  });

  it('whose client disconnects before settlement is not charged; after the start of settlement it is finished (reliability 107)', async () => {
    const kit = setUp(new Scripted());
    const header = await signed();
    const one = visit(header);
    const pass = await kit.passed(header, one);
    one.isGone = true;
    expect(await pass.settle()).toBeInstanceOf(Refusal);
    expect([kit.settlement.settleCount, kit.reservations.count]).toEqual([0, 0]);
    const other = visit(header);
    kit.settlement.settled = async () => {
      other.isGone = true;
      return { kind: 'settled', transaction: HASH };
    };
    expect(await (await kit.passed(header, other)).settle()).not.toBeInstanceOf(Refusal);
  });

  it('is 503 when the settlement is busy or the store is full, and reserves nothing (reliability 80, 99)', async () => {
    const busy = setUp(new Scripted());
    for (const kind of ['busy', 'unreachable'] as const) {
      busy.settlement.ready = { kind };
      const refusal = await busy.refused(await signed());
      expect(refusal.code).toBe('SETTLEMENT_UNAVAILABLE');
      expect(refusal.extras.headers).toHaveProperty('retry-after');
    }
    expect([busy.reservations.count, busy.settlement.verifyCount]).toEqual([0, 0]);
    const reservations = memoryReservations(new ManualTime(NOW_MS), { countMax: 1 });
    const full = setUp(new Scripted(), { reservations });
    const first = await signed();
    await full.passed(first);
    expect((await full.refused(await signed())).code).toBe('SETTLEMENT_UNAVAILABLE');
    expect((await full.refused(first)).code).toBe('PAYMENT_ALREADY_USED');
  });
});

describe('verification by the settlement', () => {
  it.each<[string, VerifyOutcome, string, string | undefined]>([
    [
      'refuses for a known reason',
      { kind: 'invalid', reason: 'insufficient_funds', detail: 'd' },
      'PAYMENT_INVALID',
      'insufficient_funds',
    ],
    [
      'refuses in its own words',
      { kind: 'invalid', reason: 'evil_word', detail: 'd' },
      'PAYMENT_INVALID',
      'invalid_exact_evm_verification_failed',
    ],
    [
      'gives no reason',
      { kind: 'invalid', reason: undefined, detail: 'd' },
      'PAYMENT_INVALID',
      'invalid_exact_evm_verification_failed',
    ],
    [
      'does not answer',
      { kind: 'unavailable', detail: 'd', retryAfterSeconds: 9 },
      'SETTLEMENT_UNAVAILABLE',
      undefined,
    ],
  ])('that %s frees the authorization', async (_, outcome, code, error) => {
    const kit = setUp(new Scripted());
    kit.settlement.verified = async () => outcome;
    const header = await signed();
    const refusal = await kit.refused(header);
    expect(refusal.code).toBe(code);
    expect(refusal.extras.detail).toBe('d');
    if (error === undefined) expect(refusal.extras.headers).toEqual({ 'retry-after': '9' });
    else expect(offered(refusal).error).toBe(error);
    expect(kit.reservations.count).toBe(0);
    kit.settlement.verified = async () => ({ kind: 'valid' });
    await kit.passed(header);
  });

  const CONTRACT_WALLET = `0x${'ab'.repeat(70)}`;
  it.each<[string, VerifyOutcome, number, string?]>([
    ['passes', { kind: 'valid' }, NEWCOMER_COUNT_MAX / 2],
    ['is refused', { kind: 'invalid', reason: 'insufficient_funds', detail: 'd' }, TURN_COUNT_MAX / 4],
    ['is not answered', { kind: 'unavailable', detail: 'd' }, NEWCOMER_COUNT_MAX / 2],
    ['is a contract wallet’s and passes', { kind: 'valid' }, NEWCOMER_COUNT_MAX / 2, CONTRACT_WALLET],
    [
      'is a contract wallet’s and not answered',
      { kind: 'unavailable', detail: 'd' },
      TURN_COUNT_MAX / 4,
      CONTRACT_WALLET,
    ],
  ])(
    'that %s gives its turn back, and halves what its client may hold if it was refused',
    async (_, outcome, heldMax, signature) => {
      const time = new ManualTime(NOW_MS);
      const turns = new SettlementTurns({ clock: time, timers: time, isKnownPayer: () => false });
      const kit = setUp(new Scripted(), { turns });
      kit.settlement.verified = async () => outcome;
      const payment = await signedPayment();
      const admitted = await kit.admit(
        signature === undefined ? await signed() : edited(payment, 'payload.signature', signature),
      );
      if (!(admitted instanceof Refusal)) admitted.release();
      expect(turns.counts().held).toBe(0);
      for (let i = 0; i < TURN_COUNT_MAX; i++) void turns.enter(clientNetworkOf('127.0.0.1'), () => false);
      expect(turns.counts().held).toBe(heldMax);
    },
  );

  it('that throws is a bug and leaves nothing reserved', async () => {
    const kit = setUp(new Scripted());
    kit.settlement.verified = () => Promise.reject(new Error('bug'));
    await expect(kit.admit(await signed())).rejects.toThrow('bug');
    expect(kit.reservations.count).toBe(0);
  });

  it('keeps its turn until the payment settles, though an answer may take long, unless it takes long as a rule', async () => {
    const time = new ManualTime(NOW_MS);
    const turns = new SettlementTurns({ clock: time, timers: time, isKnownPayer: () => true });
    const kit = setUp(new Scripted(), { turns });
    const slow = await kit.passed(await signed({}, 1), undefined, { answerSeconds: 10, isSlow: true });
    expect(turns.counts().held).toBe(0);
    const held = await kit.passed(await signed(), undefined, { answerSeconds: 5 });
    expect(turns.counts().held).toBe(1);
    await slow.settle();
    expect(turns.counts().held).toBe(1);
    let heldMeanwhile = 0;
    kit.settlement.settled = async () => {
      heldMeanwhile = turns.counts().held;
      return { kind: 'settled', transaction: HASH };
    };
    await held.settle();
    expect([heldMeanwhile, turns.counts().held]).toEqual([1, 0]);
  });

  it('is not asked for when too little time is left after the wait for a turn', async () => {
    const time = new ManualTime(NOW_MS);
    const turns = new SettlementTurns({ clock: time, timers: time, isKnownPayer: () => false });
    const kit = setUp(new Scripted(), { turns, clock: time });
    const held = Array.from({ length: NEWCOMER_COUNT_MAX }, (_, i) => turns.enter(`10.0.0.${i}`, () => false) as Turn);
    const [short, enough] = await Promise.all(
      [8, 9].map((ahead) => signed({ authorization: { validBefore: String(NOW_SECONDS + ahead) } })),
    );
    const refused = kit.refused(short as string);
    const passed = kit.passed(enough as string);
    await settle();
    time.pass(2000); // half a second into a second, so 5.5 and 6.5 s are left
    for (const turn of held.slice(0, 2)) turn.end();
    expect(offered(await refused).error).toBe('invalid_exact_evm_payload_authorization_valid_before');
    await passed;
    expect(kit.settlement.verifyCount).toBe(1);
  });

  it('for which no turn is left is 429 for the client that waits for many and 503 for others, and reserves nothing', async () => {
    const time = new ManualTime(NOW_MS);
    const turns = new SettlementTurns({ clock: time, timers: time, isKnownPayer: () => false });
    const kit = setUp(new Scripted(), { turns });
    const header = await signed();
    const hold = (network: string): void => {
      while (turns.rejectAtOnce(network) === undefined) void turns.enter(network, () => false);
    };
    hold(clientNetworkOf('127.0.0.1'));
    expect(await kit.refused(header)).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      extras: { headers: { 'retry-after': '1' } },
    });
    const elsewhere = visit(header, {}, '', '198.51.100.66');
    for (let i = 0; i < 2 * TURN_COUNT_MAX; i++) hold(`10.0.${i >> 8}.${i & 255}`);
    const crowded = { code: 'SETTLEMENT_UNAVAILABLE', extras: { headers: { 'retry-after': '1' } } };
    expect(await kit.refused(header, elsewhere)).toMatchObject(crowded);
    expect([kit.reservations.count, kit.settlement.verifyCount]).toEqual([0, 0]);
  });

  it('that waits too long for its turn is 503, and the authorization is free again', async () => {
    const time = new ManualTime(NOW_MS);
    const turns = new SettlementTurns({ clock: time, timers: time, isKnownPayer: () => false });
    const kit = setUp(new Scripted(), { turns });
    for (let i = 0; i < NEWCOMER_COUNT_MAX; i++) void turns.enter(`10.0.0.${i}`, () => false);
    const refused = kit.refused(await signed());
    await settle();
    expect(kit.reservations.count).toBe(1);
    time.pass(WAIT_MS_MAX);
    expect(await refused).toMatchObject({
      code: 'SETTLEMENT_UNAVAILABLE',
      extras: { headers: { 'retry-after': '1' } },
    });
    expect([kit.reservations.count, kit.settlement.verifyCount]).toEqual([0, 0]);
  });

  it('of a signature that only the chain can check is not requested while nothing can be sold, and frees its turn when it comes to nothing', async () => {
    const time = new ManualTime(NOW_MS);
    const turns = new SettlementTurns({ clock: time, timers: time, isKnownPayer: () => true });
    const kit = setUp(new Scripted(), { turns });
    const header = edited(await signedPayment(), 'payload.signature', `0x${'ab'.repeat(66)}`);
    kit.settlement.ready = { kind: 'busy' };
    expect((await kit.refused(header)).code).toBe('SETTLEMENT_UNAVAILABLE');
    kit.settlement.ready = { kind: 'ready' };
    kit.reservations.fault = () => 'the disk is full';
    expect((await kit.refused(header)).code).toBe('SETTLEMENT_UNAVAILABLE');
    expect(kit.settlement.verifyCount).toBe(0);
    kit.reservations.fault = () => undefined;
    kit.settlement.verified = async () => {
      kit.settlement.ready = { kind: 'busy' };
      return { kind: 'valid' };
    };
    expect((await kit.refused(header)).code).toBe('SETTLEMENT_UNAVAILABLE');
    expect([turns.counts().held, kit.reservations.count]).toEqual([0, 0]);
    kit.settlement.ready = { kind: 'ready' };
    kit.settlement.verified = async () => ({ kind: 'valid' });
    kit.reservations.reserve = () => {
      throw new Error('a bug');
    };
    await expect(kit.admit(header)).rejects.toThrow('a bug');
    expect(turns.counts().held).toBe(0);
  });

  // A facilitator may look at the balance, which that sale used up, before it looks at the nonce.
  it.each([
    'invalid_exact_evm_nonce_already_used',
    'invalid_exact_evm_insufficient_balance',
    'invalid_exact_evm_transaction_simulation_failed',
  ])('that comes after the same payment was sold is 409, whatever it finds (%s)', async (reason) => {
    const kit = setUp(new Scripted());
    const header = edited(await signedPayment(), 'payload.signature', `0x${'ab'.repeat(66)}`);
    kit.settlement.verified = async () => {
      kit.settlement.verified = async () => ({ kind: 'valid' });
      await (await kit.passed(header)).settle();
      return { kind: 'invalid', reason, detail: '' };
    };
    expect((await kit.refused(header)).code).toBe('PAYMENT_ALREADY_USED');
  });

  it('comes before the reservation where only the chain can check the signature', async () => {
    const kit = setUp(new Scripted());
    const header = edited(await signedPayment(), 'payload.signature', `0x${'ab'.repeat(66)}`);
    let isReservedDuring = true;
    kit.settlement.verified = async () => {
      isReservedDuring = kit.reservations.count > 0;
      return { kind: 'valid' };
    };
    const admitted = await Promise.all([kit.admit(header), kit.admit(header)]);
    expect(isReservedDuring).toBe(false);
    expect(admitted.filter((one) => one instanceof Refusal).map((one) => (one as Refusal).code)).toEqual([
      'PAYMENT_ALREADY_USED',
    ]);
    expect(kit.recoverCount()).toBe(0);
    await (admitted.find((one) => !(one instanceof Refusal)) as Pass).settle();
    const askedCount = kit.settlement.verifyCount;
    const replay = await kit.refused(header);
    expect(replay.code).toBe('PAYMENT_ALREADY_USED');
    expect(responseOf(replay.extras.headers)).toMatchObject({ success: true, transaction: HASH });
    expect(kit.settlement.verifyCount).toBe(askedCount); // a replay is known before the facilitator is asked
    kit.settlement.verified = async () => ({ kind: 'invalid', reason: 'invalid_exact_evm_signature', detail: 'd' });
    const forged = edited(await signedPayment(), 'payload.signature', `0x${'cd'.repeat(66)}`);
    expect((await kit.refused(forged)).code).toBe('PAYMENT_INVALID');
  });
});

describe('settlement', () => {
  it('refused is 402 with the reason and a new offer, and the authorization is free (reliability 82, 93)', async () => {
    const kit = setUp(ledger(19_999n));
    const header = await signed();
    for (let i = 0; i < 2; i++) {
      const refusal = await (await kit.passed(header)).settle();
      if (!(refusal instanceof Refusal)) throw new Error('settled');
      expect(refusal.code).toBe('PAYMENT_NOT_SETTLED');
      expect(offered(refusal).error).toBe('insufficient_funds');
      expect(responseOf(refusal.extras.headers)).toEqual({
        success: false,
        errorReason: 'insufficient_funds',
        transaction: '',
        network: 'eip155:8453',
        payer: payer().address,
      });
    }
    expect(kit.reservations.count).toBe(0);
  });

  it('refused halves the turns with the facilitator that the client’s network may hold, until one succeeds', async () => {
    const refused = { kind: 'refused', reason: 'insufficient_funds', transaction: '', detail: '' } as const;
    const heldAfter = async (outcomes: SettleOutcome[]): Promise<number> => {
      const time = new ManualTime(NOW_MS);
      const turns = new SettlementTurns({ clock: time, timers: time, isKnownPayer: () => false });
      const kit = setUp(new Scripted(), { turns });
      for (const [index, outcome] of outcomes.entries()) {
        kit.settlement.settled = async () => outcome;
        await (await kit.passed(await signed({}, index))).settle();
      }
      for (let i = 0; i < TURN_COUNT_MAX; i++) void turns.enter(clientNetworkOf('127.0.0.1'), () => false);
      return turns.counts().held;
    };
    expect(await heldAfter([refused])).toBe(TURN_COUNT_MAX / 4);
    expect(await heldAfter([refused, { kind: 'settled', transaction: HASH }])).toBe(NEWCOMER_COUNT_MAX / 2);
  });

  it('does not show a facilitator’s message to the client', async () => {
    const kit = setUp(new Scripted());
    kit.settlement.settled = async () => ({
      kind: 'refused',
      reason: 'evil_word',
      transaction: '',
      detail: 'evil_word',
    });
    const refusal = await (await kit.passed(await signed())).settle();
    if (!(refusal instanceof Refusal)) throw new Error('settled');
    const { detail, ...shown } = refusal.extras;
    expect(detail).toBe('evil_word');
    const headers = Object.values(shown.headers ?? {}).map((value) => Buffer.from(value, 'base64').toString());
    expect(`${refusal.message}${shown.members?.join('')}${headers.join()}`).not.toContain('evil_word');
  });

  it('that was certainly not sent is 503 and the authorization works later (reliability 95)', async () => {
    const kit = setUp(new Scripted());
    kit.settlement.settled = async () => ({ kind: 'unavailable', detail: 'ECONNREFUSED' });
    const header = await signed();
    const refusal = await (await kit.passed(header)).settle();
    expect(refusal).toMatchObject({ code: 'SETTLEMENT_UNAVAILABLE', extras: { headers: { 'retry-after': '5' } } });
    kit.settlement.settled = async () => ({ kind: 'settled', transaction: HASH });
    expect(await (await kit.passed(header)).settle()).not.toBeInstanceOf(Refusal);
  });

  it.each<[string, () => Promise<SettleOutcome>, string]>([
    ['is lost', async () => ({ kind: 'unknown', transaction: '', detail: 'lost' }), ''],
    ['is pending with a hash', async () => ({ kind: 'unknown', transaction: HASH, detail: 'pending' }), HASH],
    ['throws', () => Promise.reject(new Error('bug')), ''],
  ])(
    'that %s is 503, stays reserved, is never a new offer, and ends by reconciliation (reliability 96, 97)',
    async (_, lost, hash) => {
      const kit = setUp(new Scripted());
      kit.settlement.settled = lost;
      const header = await signed();
      const refusal = await (await kit.passed(header)).settle();
      if (!(refusal instanceof Refusal)) throw new Error('settled');
      expect(refusal.code).toBe('SETTLEMENT_PENDING');
      expect(refusal.extras.headers).toHaveProperty('retry-after');
      expect(refusal.extras.headers).not.toHaveProperty('payment-required');
      const pending = { success: false, errorReason: 'settlement_pending', transaction: hash, payer: payer().address };
      expect(responseOf(refusal.extras.headers)).toMatchObject(pending);
      const meanwhile = await kit.refused(header);
      expect(meanwhile.code).toBe('PAYMENT_ALREADY_USED');
      expect(meanwhile.message).toBe(refusal.message);
      expect(meanwhile.message).toContain('Do not sign a new one');
      expect(responseOf(meanwhile.extras.headers)).toMatchObject(pending);
      kit.settlement.settled = async () => ({ kind: 'settled', transaction: HASH });
      kit.time.pass(1000);
      await settle();
      const after = await kit.refused(header);
      expect(after.code).toBe('PAYMENT_ALREADY_USED');
      expect(after.message).toContain('sign a new one for another answer');
      expect(responseOf(after.extras.headers)).toMatchObject({ success: true, transaction: HASH });
      expect(kit.settlement.settleCount).toBe(2);
    },
  );

  it('whose outcome is open when its window closes is 409 and no new offer until it ends (reliability 96)', async () => {
    const kit = setUp(new Scripted());
    kit.settlement.settled = async () => ({ kind: 'unknown', transaction: HASH, detail: 'lost' });
    const validBefore = String(NOW_SECONDS + 20);
    const header = await signed({ authorization: { validBefore } });
    const open = await kit.passed(header);
    kit.time.pass(14_001); // less than the six seconds that an authorization must still have
    expect(await kit.refused(header)).toMatchObject({ code: 'PAYMENT_ALREADY_USED', extras: { detail: 'reserved' } });
    expect(await open.settle()).toMatchObject({ code: 'PAYMENT_INVALID' });
    expect((await kit.refused(header)).code).toBe('PAYMENT_INVALID');

    const lost = await signed({ authorization: { validBefore: String(NOW_SECONDS + 30) } });
    expect(await (await kit.passed(lost)).settle()).toMatchObject({ code: 'SETTLEMENT_PENDING' });
    for (const pauseMs of [11_000, 30_000, 30_000]) {
      kit.time.pass(pauseMs);
      await settle();
      const refusal = await kit.refused(lost);
      expect(refusal).toMatchObject({ code: 'PAYMENT_ALREADY_USED', extras: { detail: 'unknown' } });
      expect(refusal.message).toContain('Do not sign a new one');
      expect(refusal.extras.headers).toHaveProperty('retry-after');
      expect(refusal.extras.headers).not.toHaveProperty('payment-required');
      expect(responseOf(refusal.extras.headers)).toMatchObject({
        errorReason: 'settlement_pending',
        transaction: HASH,
        payer: payer().address,
      });
    }
  });

  it('that is being settled when its window closes is 409 and no new offer until it ends', async () => {
    const kit = setUp(new Scripted());
    const answer = Promise.withResolvers<SettleOutcome>();
    kit.settlement.settled = () => answer.promise;
    const header = await signed({ authorization: { validBefore: String(NOW_SECONDS + 20) } });
    const settling = (await kit.passed(header)).settle();
    await settle();
    kit.time.pass(14_001);
    expect(await kit.refused(header)).toMatchObject({ code: 'PAYMENT_ALREADY_USED', extras: { detail: 'settling' } });
    answer.resolve({ kind: 'settled', transaction: HASH });
    expect(await settling).not.toBeInstanceOf(Refusal);
    expect((await kit.refused(header)).code).toBe('PAYMENT_INVALID');
  });

  it('that was sold is 409 after its window while the state has a fault, and one that was not is 503', async () => {
    const kit = setUp(new Scripted());
    const sold = await signed({ authorization: { validBefore: String(NOW_SECONDS + 20) } });
    await (await kit.passed(sold)).settle();
    kit.time.pass(14_001);
    expect((await kit.refused(sold)).code).toBe('PAYMENT_INVALID');
    kit.reservations.fault = () => 'the disk is full';
    expect((await kit.refused(sold)).code).toBe('PAYMENT_ALREADY_USED');
    const unsold = await signed({ authorization: { validBefore: String(NOW_SECONDS + 19) } });
    expect((await kit.refused(unsold)).code).toBe('SETTLEMENT_UNAVAILABLE');
    const otherAmount = await signed({ authorization: { value: '1' } });
    expect((await kit.refused(otherAmount)).code).toBe('PAYMENT_INVALID');
  });

  it('that may have been sold is 503 and no new offer after its window while that cannot be read', async () => {
    const kit = setUp(new Scripted());
    const header = await signed({ authorization: { validBefore: String(NOW_SECONDS + 20) } });
    kit.time.pass(14_001);
    const unreadable = new OutageError('the database is away');
    kit.reservations.statusOf = (() => Promise.reject(unreadable)) as never;
    expect((await kit.refused(header)).code).toBe('SETTLEMENT_UNAVAILABLE');
    kit.reservations.statusOf = (() => Promise.reject(new Error('a bug'))) as never;
    await expect(kit.refused(header)).rejects.toThrow('a bug');
  });

  it('that may be on record is 503 where nothing can be sold and that cannot be read', async () => {
    const kit = setUp(new Scripted());
    kit.settlement.ready = { kind: 'busy' };
    kit.reservations.find = (() => Promise.reject(new OutageError('the database is away'))) as never;
    expect((await kit.refused(await signed())).code).toBe('SETTLEMENT_UNAVAILABLE');
    kit.reservations.find = (() => Promise.reject(new Error('a bug'))) as never;
    await expect(kit.refused(await signed({}, 1))).rejects.toThrow('a bug');
  });

  it.each(['unknown', 'settled'] as const)(
    'whose outcome is %s is 409 and no new offer after a restart with another price, recipient or address',
    async (kind) => {
      const kit = setUp(new Scripted());
      kit.settlement.settled = async () => ({ kind, transaction: HASH, detail: 'lost' });
      const header = await signed();
      const settled = await (await kit.passed(header)).settle();
      expect(settled instanceof Refusal).toBe(kind === 'unknown');
      const seller = { ...kit.services.paid.seller, payTo: payer(9).address as Address };
      const restarted = [
        paid('0.03').open(kit.services, ROUTE, MOUNT),
        paid('0.02').open({ paid: { ...kit.services.paid, seller } }, ROUTE, MOUNT),
        paid('0.02').open(kit.services, ROUTE, { ...MOUNT, baseUrl: 'https://jobs.example.com' }),
      ];
      for (const admitter of restarted) {
        expect(await admitter.admit(visit(header), {}, {})).toMatchObject({
          code: 'PAYMENT_ALREADY_USED',
          extras: { detail: kind },
        });
        expect(await admitter.admit(visit(await signed()), {}, {})).toMatchObject({ code: 'PAYMENT_INVALID' });
      }
    },
  );

  it.each([
    ['another value', 'payload.authorization.value', '20001'],
    ['another recipient', 'payload.authorization.to', payer(9).address],
    ['a signature that is cut short', 'payload.signature', '0xab'],
  ])('that was sold is invalid with %s, which no restart explains', async (_, path, value) => {
    const kit = setUp(new Scripted());
    const payment = await signedPayment();
    await (await kit.passed(encodeHeader(payment))).settle();
    expect(offered(await kit.refused(edited(payment, path, value))).error).toMatch(/^invalid_/);
  });

  it('with other terms and without a payer’s address is invalid', async () => {
    const kit = setUp(new Scripted());
    const header = edited(await signedPayment(), 'payload.authorization.from', 'nobody');
    const refusal = await paid('0.03').open(kit.services, ROUTE, MOUNT).admit(visit(header), {}, {});
    expect(refusal).toMatchObject({ code: 'PAYMENT_INVALID', extras: { detail: 'invalid_payment_requirements' } });
  });

  it('that was sold for one route is invalid for another', async () => {
    const kit = setUp(new Scripted());
    const header = await signed();
    await (await kit.passed(header)).settle();
    const admitter = admitterOf(kit.services, { ...ROUTE, path: '/v1/jobs/company' });
    expect(await admitter.admit(visit(header), {}, {})).toMatchObject({ code: 'PAYMENT_INVALID' });
  });

  it('is not asked for when the intent cannot be recorded', async () => {
    const kit = setUp(new Scripted());
    kit.reservations.recordIntent = () => Promise.reject(new OutageError('disk full'));
    const refusal = await (await kit.passed(await signed())).settle();
    expect(refusal).toMatchObject({ code: 'SETTLEMENT_UNAVAILABLE' });
    expect([kit.settlement.settleCount, kit.reservations.count]).toEqual([0, 0]);
  });

  it('is not asked for when a bug keeps the intent from its record, which is no outage', async () => {
    const kit = setUp(new Scripted());
    kit.reservations.recordIntent = () => Promise.reject(new Error('a bug'));
    await expect((await kit.passed(await signed())).settle()).rejects.toThrow('a bug');
    expect([kit.settlement.settleCount, kit.reservations.count]).toEqual([0, 0]);
  });

  it('is pending and not free when the intent may be on record, which the next start settles', async () => {
    const kit = setUp(new Scripted());
    kit.reservations.recordIntent = () => Promise.reject(new RecordInDoubtError('power lost'));
    const header = await signed();
    const refusal = await (await kit.passed(header)).settle();
    expect(refusal).toMatchObject({ code: 'SETTLEMENT_PENDING' });
    expect((await kit.refused(header)).code).toBe('PAYMENT_ALREADY_USED');
    expect(kit.settlement.settleCount).toBe(0);
  });

  it('whose outcome cannot be recorded sends no answer, and is recorded later without settling again', async () => {
    const kit = setUp(new Scripted());
    const record = kit.reservations.recordSettled.bind(kit.reservations);
    kit.reservations.recordSettled = () => Promise.reject(new Error('disk full'));
    const header = await signed();
    const refusal = await (await kit.passed(header)).settle();
    expect(refusal).toMatchObject({ code: 'SETTLEMENT_PENDING' });
    expect(responseOf((refusal as Refusal).extras.headers)).toMatchObject({ success: false, transaction: HASH });
    expect((await kit.refused(header)).code).toBe('PAYMENT_ALREADY_USED');
    kit.reservations.recordSettled = record;
    kit.time.pass(1000);
    await settle();
    expect(responseOf((await kit.refused(header)).extras.headers)).toMatchObject({ success: true, transaction: HASH });
    expect(kit.settlement.settleCount).toBe(1);
  });

  it.each<[string, SettleOutcome]>([
    ['was refused', { kind: 'refused', reason: 'insufficient_funds', transaction: HASH, detail: '' }],
    ['was certainly not sent', { kind: 'unavailable', detail: 'ECONNREFUSED' }],
  ])('that %s but cannot be released is pending, and free later without settling again', async (_, outcome) => {
    const kit = setUp(new Scripted());
    const record = kit.reservations.recordReleased.bind(kit.reservations);
    kit.reservations.recordReleased = async () => {
      await settle();
      throw new OutageError('disk full');
    };
    kit.settlement.settled = async () => outcome;
    const header = await signed();
    const refusal = await (await kit.passed(header)).settle();
    expect(refusal).toMatchObject({ code: 'SETTLEMENT_PENDING' });
    expect(responseOf((refusal as Refusal).extras.headers)).toMatchObject({ success: false, transaction: '' });
    expect((await kit.refused(header)).code).toBe('PAYMENT_ALREADY_USED');
    kit.reservations.recordReleased = record;
    kit.time.pass(1000);
    await settle();
    expect([kit.settlement.settleCount, kit.reservations.count]).toEqual([1, 0]);
  });

  it.each([
    ['is', 1],
    ['will be', 0],
  ])('that a bug kept from being sent %s free again, and is reported as a bug', async (_, recordedAtOnce) => {
    const kit = setUp(new Scripted());
    const bug = new Error('a bug');
    kit.settlement.settled = async () => ({ kind: 'unavailable', detail: bug.message, bug });
    const record = kit.reservations.recordReleased.bind(kit.reservations);
    if (recordedAtOnce === 0) kit.reservations.recordReleased = () => Promise.reject(new OutageError('disk full'));
    await expect((await kit.passed(await signed())).settle()).rejects.toBe(bug);
    expect(kit.reservations.count).toBe(1 - recordedAtOnce);
    kit.reservations.recordReleased = record;
    kit.time.pass(1000);
    await settle();
    expect([kit.settlement.settleCount, kit.reservations.count]).toEqual([1, 0]);
  });

  it('whose hash cannot be recorded is not free after a refusal of another transaction', async () => {
    const kit = setUp(new Scripted());
    const record = kit.reservations.recordUnknown.bind(kit.reservations);
    kit.reservations.recordUnknown = () => Promise.reject(new Error('disk full'));
    kit.settlement.settled = async () => ({ kind: 'unknown', transaction: HASH, detail: 'lost' });
    const header = await signed();
    const refusal = await (await kit.passed(header)).settle();
    expect(responseOf((refusal as Refusal).extras.headers)).toMatchObject({ transaction: HASH });
    kit.reservations.recordUnknown = record;
    kit.settlement.settled = async () => ({
      kind: 'refused',
      reason: 'invalid_exact_evm_signature',
      transaction: '',
      detail: 'refused',
    });
    kit.time.pass(1000);
    await settle();
    expect(kit.settlement.settleCount).toBe(2);
    expect((await kit.refused(header)).code).toBe('PAYMENT_ALREADY_USED');
  });
});

describe('a payment whose signature has to wait', () => {
  /** Recovers nothing before it is told to. */
  const heldPlace = () => {
    const held: (() => void)[] = [];
    let isHealthy = true;
    const place: RecoveryWorker = {
      freeCount: () => (isHealthy && held.length === 0 ? 1 : 0),
      isHealthy: () => isHealthy,
      recoveryMs: () => 0,
      start: ({ struct, signature }, done) => held.push(() => done(recoverAsServer(digestOf(struct), signature))),
    };
    return {
      place,
      /** Works until nobody waits. */
      async work(): Promise<void> {
        for (let next = held.shift(); next !== undefined; next = held.shift()) {
          next();
          await settle();
        }
      },
      breakDown(): void {
        isHealthy = false;
      },
    };
  };
  const from = (client: string, header: string): RequestView => visit(header, {}, '', client);
  const FLOOD = '198.51.100.66';

  it('is 429 for a client that floods, with a time to come back and nothing reserved; another client pays (reliability 208)', async () => {
    const { place, work } = heldPlace();
    const kit = setUp(new Scripted(), {}, place);
    const payment = await signedPayment();
    const forged = Array.from({ length: 600 }, (_, i) =>
      edited(payment, 'payload.authorization.nonce', `0x${(i + 1).toString(16).padStart(64, 'f')}`),
    );
    const flood = forged.map((header) => kit.admit(header, from(FLOOD, header)));
    const honest = await signed();
    const paid = kit.passed(honest, from('192.0.2.1', honest));
    await work();
    const refusals = (await Promise.all(flood)).filter((one): one is Refusal => one instanceof Refusal);
    expect(refusals).toHaveLength(600);
    const crowded = refusals.filter(({ code }) => code === 'RATE_LIMIT_EXCEEDED');
    expect(crowded.length).toBeGreaterThan(50);
    for (const { extras } of crowded) expect(extras.headers).toEqual({ 'retry-after': '1' });
    expect(refusals.filter(({ code }) => code === 'PAYMENT_INVALID')).toHaveLength(600 - crowded.length);
    expect(await (await paid).settle()).not.toBeInstanceOf(Refusal);
    expect([kit.reservations.count, kit.settlement.settleCount]).toEqual([1, 1]);
  });

  it('passes once when the same payment of several clients is recovered in one turn', async () => {
    const { place, work } = heldPlace();
    const kit = setUp(new Scripted(), {}, place);
    const header = await signed();
    const admitted = Array.from({ length: 20 }, (_, i) => kit.admit(header, from(`192.0.2.${i}`, header)));
    await work();
    const passes = (await Promise.all(admitted)).filter((one) => !(one instanceof Refusal));
    expect(passes).toHaveLength(1);
  });

  it('is free for another try when no worker can verify it', async () => {
    const { place, breakDown } = heldPlace();
    const broken = setUp(new Scripted(), {}, place);
    breakDown();
    const header = await signed();
    const refusal = await broken.refused(header);
    expect(refusal).toMatchObject({ code: 'SETTLEMENT_UNAVAILABLE', extras: { headers: { 'retry-after': '1' } } });
    expect([broken.reservations.count, broken.settlement.verifyCount]).toEqual([0, 0]);
    const { passed } = setUp(broken.settlement, { reservations: broken.reservations });
    expect(await (await passed(header)).settle()).not.toBeInstanceOf(Refusal);
  });

  it('is not accepted when too little time is left to settle it', async () => {
    const { place, work } = heldPlace();
    const kit = setUp(new Scripted(), {}, place);
    const [short, enough] = await Promise.all(
      [10, 11].map((ahead) => signed({ authorization: { validBefore: String(NOW_SECONDS + ahead) } })),
    );
    const refused = kit.refused(short as string);
    const passed = kit.passed(enough as string);
    kit.time.pass(4000); // half a second into a second, so 5.5 and 6.5 s are left
    await work();
    expect(offered(await refused).error).toBe('invalid_exact_evm_payload_authorization_valid_before');
    await passed;
    expect(kit.reservations.count).toBe(1);
  });

  it('that only the facilitator can check is verified with a few others at a time, of all clients (reliability 208)', async () => {
    const kit = setUp(new Scripted());
    const answers: (() => void)[] = [];
    kit.settlement.verified = () =>
      new Promise((resolve) => {
        answers.push(() => resolve({ kind: 'invalid', reason: undefined, detail: 'junk' }));
      });
    const payment = await signedPayment();
    const junk = edited(payment, 'payload.signature', `0x${'ab'.repeat(70)}`);
    const flood = Array.from({ length: 40 }, () => kit.admit(junk, from(FLOOD, junk)));
    await settle();
    expect(kit.settlement.verifyCount).toBe(8);
    const other = kit.admit(junk, from('192.0.2.1', junk));
    await settle();
    expect(kit.settlement.verifyCount).toBe(9);
    for (const answer of answers) answer();
    const refusals = (await Promise.all([...flood, other])) as Refusal[];
    expect(refusals.filter(({ code }) => code === 'RATE_LIMIT_EXCEEDED')).toHaveLength(32);
    expect(refusals.filter(({ code }) => code === 'PAYMENT_INVALID')).toHaveLength(9);
    const after = kit.admit(junk, from(FLOOD, junk));
    await settle();
    expect(kit.settlement.verifyCount).toBe(10);
    answers.at(-1)?.();
    expect(await after).toMatchObject({ code: 'PAYMENT_INVALID' });
  });
});

/** Lets the store release each authorization some turns after it was told to, as one with a database does. */
function releaseLater({ reservations }: { readonly reservations: MemoryReservations }): void {
  const release = reservations.release.bind(reservations);
  reservations.release = (async (reservation) => {
    await settle();
    release(reservation);
  }) as typeof reservations.release as never;
}

it.each<[string, (kit: ReturnType<typeof setUp<Scripted>>, one: ReturnType<typeof visit>) => void]>([
  [
    'disconnected',
    (_, one) => {
      one.isGone = true;
    },
  ],
  ['took so long that too little time is left', (kit) => kit.time.pass(120_000)],
  [
    'bought what cannot be recorded',
    (kit) => {
      kit.reservations.recordIntent = () => Promise.reject(new OutageError('disk full'));
    },
  ],
])('a client that %s is answered once its payment is free again, in a store that takes its time', async (_, happen) => {
  const kit = setUp(new Scripted());
  releaseLater(kit);
  const header = await signed({ authorization: { validBefore: String(NOW_SECONDS + 120) } });
  const one = visit(header);
  const pass = await kit.passed(header, one);
  happen(kit, one);
  expect(await pass.settle()).toBeInstanceOf(Refusal);
  expect([kit.settlement.settleCount, kit.reservations.count]).toEqual([0, 0]);
});

it('a payment that does not pass verification is refused once it is free again, in a store that takes its time', async () => {
  const kit = setUp(new Scripted());
  releaseLater(kit);
  kit.settlement.verified = async () => ({ kind: 'invalid', reason: undefined, detail: '' });
  expect((await kit.refused(await signed())).code).toBe('PAYMENT_INVALID');
  expect(kit.reservations.count).toBe(0);
  kit.settlement.verified = () => Promise.reject(new Error('bug'));
  await expect(kit.admit(await signed())).rejects.toThrow('bug');
  expect(kit.reservations.count).toBe(0);
});

it('a name whose answer expires while it is looked up is 503, soon to be sent again, and sells nothing', async () => {
  const kit = setUp(new Scripted());
  const named = async (): Promise<string> =>
    edited(await signedPayment(), 'extensions', { 'payment-identifier': { info: { id: 'pay_0123456789abcdef' } } });
  await (await kit.passed(await named())).settle();
  kit.reservations.readKept = async () => undefined;
  expect(await kit.refused(await named())).toMatchObject({
    code: 'SETTLEMENT_UNAVAILABLE',
    extras: { headers: { 'retry-after': '1' } },
  });
  expect(kit.settlement.settleCount).toBe(1);
});

it.each([
  [8, 'is refused, and free again', 'invalid_exact_evm_payload_authorization_valid_before'],
  [9, 'passes', undefined],
])('a payment with %i s left that a store takes 2 s to reserve %s', async (ahead, _, error) => {
  const kit = setUp(new Scripted());
  const { reservations } = kit;
  const reserve = reservations.reserve.bind(reservations);
  const later = async (...wish: Parameters<typeof reserve>) => {
    kit.time.pass(2000); // half a second into a second, so 5.5 and 6.5 s are left
    return reserve(...wish);
  };
  reservations.reserve = later as unknown as typeof reserve; // a store may answer later, though this one does not
  releaseLater(kit);
  const header = await signed({ authorization: { validBefore: String(NOW_SECONDS + ahead) } });
  if (error === undefined) await kit.passed(header);
  else expect(offered(await kit.refused(header)).error).toBe(error);
  expect(reservations.count).toBe(error === undefined ? 1 : 0);
});

describe('several operations of one checkout', () => {
  it('keep no answer that is longer than the room claimed for it, and keep its draft instead', async () => {
    const { reservations, services } = setUp(new Scripted());
    const replaced: number[] = [];
    reservations.replaceKept = async (_, { length }) => void replaced.push(length);
    const kept = async (length: number): Promise<void> =>
      services.paid.checkout.keep('an identifier' as PaymentIdentifier, { serial: 1 }, 'x'.repeat(length));
    const SEAL_BYTES = 44;
    await kept(ANSWER_BYTES_CLAIMED - SEAL_BYTES + 1);
    expect(replaced).toEqual([]);
    await kept(ANSWER_BYTES_CLAIMED - SEAL_BYTES);
    expect(replaced).toEqual([ANSWER_BYTES_CLAIMED]);
  });

  it('sell one authorization once in total (reliability 75)', async () => {
    const kit = setUp(new Scripted());
    const other = admitterOf(kit.services, { ...ROUTE, path: '/v1/callbacks' });
    const header = edited(await signedPayment(), 'resource', undefined);
    const admitted = await Promise.all([kit.admitter.admit(visit(header), {}, {}), other.admit(visit(header), {}, {})]);
    expect(admitted.filter((one) => one instanceof Refusal)).toMatchObject([{ code: 'PAYMENT_ALREADY_USED' }]);
  });

  it.each([searchJobs, createCallback])(
    'is listed under the method that it is served with: $method',
    async (contract) => {
      const admitter = admitterOf(setUp(new Scripted()).services, contract);
      const refusal = (await admitter.admit(visit(null), {}, {})) as Refusal;
      const { extensions } = decodeHeader(refusal.extras.headers?.['payment-required'] ?? null) as {
        extensions: { bazaar: { info: { input: { method: string } } } };
      };
      expect(extensions.bazaar.info.input.method).toBe(contract.method);
    },
  );
});

describe("a state that takes no payments, such as one whose clock is not this process's", () => {
  it.each([
    ['ends too late', { validBefore: String(NOW_SECONDS + 420) }],
    ['has not begun', { validAfter: String(NOW_SECONDS + 60) }],
  ])('makes a window that %s 503 and never a new offer: a client would sign again in vain', async (_, window) => {
    const kit = setUp(new Scripted());
    const minutesAhead = await signed({ authorization: window });
    expect((await kit.refused(minutesAhead)).code).toBe('PAYMENT_INVALID');
    kit.reservations.fault = () => "the clock of this machine is 300.0 s behind the database's";
    expect(await kit.refused(minutesAhead)).toMatchObject({
      code: 'SETTLEMENT_UNAVAILABLE',
      extras: { headers: { 'retry-after': '5' } },
    });
    expect(kit.settlement.verifyCount).toBe(0);
  });
});
