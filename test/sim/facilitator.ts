/**
 * The chain and a facilitator in front of it, called through the same `fetch` port as a real one: they outlive every
 * process of the server. Each call draws what becomes of it, from a lost packet to a success that is a lie. The chain keeps
 * the token's rules: window, one transfer a nonce, balance.
 */
import { BASE, checksummed } from '../../src/payment/protocol/network.ts';
import type { Chance } from '../support/chance.ts';
import type { Profile } from './profile.ts';
import type { Purchase } from './purchase.ts';
import type { World } from './world.ts';

export const FACILITATOR_URL = 'http://facilitator.test';

interface Said {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What becomes of a call: an answer, a broken connection, silence, or a body that never ends. */
type Fate = Said | { readonly code: string; readonly syscall?: string } | 'silence' | 'drip';

const json = (value: unknown, status = 200): Said => ({
  status,
  body: JSON.stringify(value),
  headers: { 'content-type': 'application/json' },
});

const REFUSED: Fate = { code: 'ECONNREFUSED', syscall: 'connect' };
const NO_NAME: Fate = { code: 'ENOTFOUND' };
const RESET: Fate = { code: 'ECONNRESET' };
const CUT: Fate = { code: 'UND_ERR_SOCKET' };

const INDETERMINATE = [
  'settle_exact_node_failure',
  'invalid_exact_evm_failed_to_get_receipt',
  'unexpected_settle_error',
  'unknown_error',
  'duplicate_settlement',
];
const GARBAGE = [
  '',
  '<html>502</html>',
  '{"success":tr',
  '{}',
  '[]',
  'null',
  '"ok"',
  '{"success":"true"}',
  '{"success":1}',
];
const HUGE = ' '.repeat(70_000);

export class Facilitator {
  readonly purchases = new Map<string, Purchase>();
  /** Set by the run when faults stop. */
  isHealed = false;
  /** No call gets through until then. */
  outageUntilMs = 0;
  outageFate: Fate = REFUSED;
  movedCount = 0;
  readonly #world: World;
  readonly #chance: Chance;
  readonly #profile: Profile;
  readonly #payTo: string;
  /** Told when `/settle` is asked for; the run looks whether it may be. */
  onSettleAsked: (purchase: Purchase) => void = () => {};
  onMoved: (purchase: Purchase) => void = () => {};

  constructor(world: World, chance: Chance, profile: Profile, payTo: string) {
    this.#world = world;
    this.#chance = chance;
    this.#profile = profile;
    this.#payTo = payTo;
  }

  beginOutage(durationMs: number): void {
    this.outageUntilMs = this.#world.nowMs + durationMs;
    this.outageFate = this.#chance.pick<Fate>([REFUSED, REFUSED, NO_NAME, RESET, 'silence', json({}, 503)]);
    this.#world.count('facilitator outages');
    this.#world.note(`outage of the facilitator, ${JSON.stringify(this.outageFate)}`);
  }

  /** Refuses a payment for a while, whoever sends it. */
  suspect(body: string, forMs: number): void {
    this.#purchaseOf(body).suspectUntilMs = this.#world.nowMs + forMs;
  }

  /** As `fetch`: rejects as Node's does. */
  fetch(url: string, init: RequestInit): Promise<Response> {
    const path = url.slice(FACILITATOR_URL.length);
    const body = typeof init.body === 'string' ? init.body : '';
    const { signal } = init;
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(new DOMException('This operation was aborted', 'AbortError'));
      // One that stood still before it sent this may have given it up, and sends it all the same.
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
      const deliver = (fate: Fate, delayMs: number): void => {
        if (fate === 'silence') return;
        this.#world.after(delayMs, () => {
          if (signal?.aborted) return;
          if (fate === 'drip') resolve(this.#dripping(signal ?? undefined));
          else if ('code' in fate)
            reject(new TypeError('fetch failed', { cause: Object.assign(new Error(fate.code), fate) }));
          else resolve(new Response(fate.body, { status: fate.status, headers: { ...fate.headers } }));
        });
      };
      this.#call(path, body, deliver);
    });
  }

  #dripping(signal: AbortSignal | undefined): Response {
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(new Uint8Array([0x20]));
        signal?.addEventListener('abort', () => controller.error(new DOMException('aborted', 'AbortError')), {
          once: true,
        });
      },
    });
    return new Response(stream, { status: 200 });
  }

  #call(path: string, body: string, deliver: (fate: Fate, delayMs: number) => void): void {
    const chance = this.#chance;
    const travelMs = (): number => (this.isHealed ? 5 : chance.delayMs(15, 2_000, 0.05));
    if (this.#world.nowMs < this.outageUntilMs) {
      if (path === '/settle') this.#settleAsked(body, this.outageFate === REFUSED || this.outageFate === NO_NAME);
      deliver(this.outageFate, travelMs());
      return;
    }
    if (path === '/supported') {
      deliver(
        this.#isFaulty() ? chance.pick<Fate>([REFUSED, RESET, 'silence', json({}, 500)]) : json({ kinds: [] }),
        travelMs(),
      );
      return;
    }
    if (path === '/verify') {
      const purchase = this.#purchaseOf(body);
      this.#world.after(travelMs(), () => deliver(this.#verifyFate(purchase), travelMs()));
      return;
    }
    if (path !== '/settle') throw new Error(`no such path: ${path}`);
    const purchase = this.#settleAsked(body, false);
    const askedAtMs = this.#world.nowMs;
    if (this.#isFaulty() && this.#isLostOnTheWay(purchase, askedAtMs, deliver, travelMs)) return;
    const message = { askedAtMs };
    purchase.underWay.add(message);
    this.#world.after(travelMs(), () => {
      purchase.underWay.delete(message);
      const fate = this.#settleFate(purchase, askedAtMs);
      this.#world.note(`settle ${purchase.name}: ${this.#nameOf(fate)}`);
      deliver(fate, travelMs());
    });
  }

  #isFaulty(): boolean {
    return !this.isHealed && this.#chance.is(this.#profile.facilitatorFaultShare);
  }

  #nameOf(fate: Fate): string {
    if (typeof fate === 'string') return fate;
    return 'code' in fate ? fate.code : `${fate.status} ${fate.body.slice(0, 90)}`;
  }

  /** The text is our own, whoever sends it: the same for every call, and about what was offered. */
  #settleAsked(body: string, isUnsent: boolean): Purchase {
    const purchase = this.#purchaseOf(body);
    this.#world.count('settle calls');
    if (!isUnsent) purchase.hasBeenUnknown ||= this.#world.nowMs < this.outageUntilMs;
    if (purchase.body !== undefined) {
      const detail = (): string => `${purchase.name} was sent to settlement with two texts`;
      this.#world.judge('I7 own requirements', purchase.body === body, detail);
    }
    purchase.body = body;
    this.onSettleAsked(purchase);
    return purchase;
  }

  #purchaseOf(body: string): Purchase {
    const { paymentPayload, paymentRequirements } = JSON.parse(body);
    const { authorization } = paymentPayload.payload;
    const purchase = this.purchases.get(authorization.nonce);
    if (purchase === undefined) throw new Error(`nobody signed ${authorization.nonce}`);
    const isOurs =
      paymentRequirements.payTo.toLowerCase() === this.#payTo.toLowerCase() &&
      authorization.to.toLowerCase() === this.#payTo.toLowerCase() &&
      paymentRequirements.amount === String(purchase.amountAtomic) &&
      authorization.value === String(purchase.amountAtomic) &&
      paymentRequirements.network === BASE.id &&
      paymentRequirements.asset.toLowerCase() === BASE.usdcLower &&
      authorization.from.toLowerCase() === purchase.account.payer.address;
    if (!isOurs) this.#world.fail('I7 own requirements', `${purchase.name} was sent with other terms: ${body}`);
    return purchase;
  }

  #verifyFate(purchase: Purchase): Fate {
    const chance = this.#chance;
    if (this.#isFaulty()) {
      this.#world.count('verify faults');
      const vouched = json({ isValid: true, payer: checksummed(purchase.account.payer.address) });
      const fate = chance.pick<Fate>([
        REFUSED,
        RESET,
        CUT,
        'silence',
        'drip',
        json({}, 500),
        json({}, 401),
        json({}, 403),
        { ...json({}, 429), headers: { 'retry-after': '2' } },
        { status: 302, body: '', headers: { location: '/verify' } },
        { status: 200, body: chance.pick(GARBAGE) },
        { status: 200, body: HUGE },
        { status: 200, body: '{}', headers: { 'content-encoding': 'gzip' } },
        json({ isValid: true, payer: '0x000000000000000000000000000000000000dead' }),
        json({ isValid: 'true' }),
        json({ isValid: false, invalidReason: 'kyt_risk_detected' }),
        vouched,
      ]);
      if (fate === vouched) purchase.isVouchedFor = true;
      return fate;
    }
    const reason = this.#refusalOf(purchase, 6);
    const { address } = purchase.account.payer;
    return reason === undefined
      ? json({ isValid: true, payer: checksummed(address) })
      : json({ isValid: false, invalidReason: reason, payer: address });
  }

  /** What the chain would say now, or undefined. */
  #refusalOf(purchase: Purchase, runwaySeconds: number): string | undefined {
    const nowSeconds = this.#world.wallMs / 1000;
    if (purchase.signature === 'bad' || purchase.signature === 'bad-contract') return 'invalid_exact_evm_signature';
    if (nowSeconds + runwaySeconds >= purchase.validBeforeSeconds) {
      return 'invalid_exact_evm_payload_authorization_valid_before';
    }
    const isPoor = purchase.account.balanceAtomic < purchase.amountAtomic;
    const poor = this.#profile.isBalanceFirst ? 'insufficient_funds' : 'invalid_exact_evm_insufficient_balance';
    if (isPoor && this.#profile.isBalanceFirst) return poor;
    if (purchase.moved !== '') return 'invalid_exact_evm_nonce_already_used';
    return isPoor ? poor : undefined;
  }

  /** Moves the money. Its window, nonce and balance have to allow it; undefined = done. */
  transfer(purchase: Purchase, hash = `0x${this.#chance.hex(32)}`): string | undefined {
    const reason = this.#refusalOf(purchase, 0);
    if (reason !== undefined) return reason;
    purchase.moved = hash;
    if (purchase.isToldFree && purchase.isHonest()) {
      this.#world.fail(
        'I4 refused costs nothing',
        `${purchase.name} was told that nothing is charged, and then it was`,
      );
    }
    purchase.account.balanceAtomic -= purchase.amountAtomic;
    this.movedCount++;
    this.#world.count('transfers');
    this.#world.note(`moved ${purchase.name}`);
    this.onMoved(purchase);
    return undefined;
  }

  #success(purchase: Purchase, transaction: string): Said {
    purchase.hasSuccessBeenSaid = true;
    return json({ success: true, transaction, network: BASE.id, payer: checksummed(purchase.account.payer.address) });
  }

  #refusal(purchase: Purchase, errorReason: string, transaction = '', status = 200): Said {
    return json(
      { success: false, errorReason, transaction, network: BASE.id, payer: purchase.account.payer.address },
      status,
    );
  }

  /** Faults of the way there and back, in which the facilitator itself has no part. */
  #isLostOnTheWay(
    purchase: Purchase,
    askedAtMs: number,
    deliver: (fate: Fate, delayMs: number) => void,
    travelMs: () => number,
  ): boolean {
    const chance = this.#chance;
    switch (chance.below(12)) {
      case 0:
        this.#world.count('settle never sent');
        deliver(chance.pick([REFUSED, NO_NAME]), travelMs());
        return true;
      case 1:
        this.#world.count('settle lost on the way there');
        purchase.hasBeenUnknown = true;
        deliver(chance.pick<Fate>([RESET, 'silence']), travelMs());
        return true;
      case 2:
        // It arrives after everybody has given it up.
        this.#world.count('settle arrives late');
        purchase.hasBeenUnknown = true;
        this.#arriveLate(purchase, askedAtMs);
        deliver(chance.pick<Fate>(['silence', 'silence', RESET]), travelMs());
        return true;
      default:
        return false;
    }
  }

  #arriveLate(purchase: Purchase, askedAtMs: number): void {
    const message = { askedAtMs };
    purchase.underWay.add(message);
    this.#world.after(this.#chance.between(5_000, 70_000), () => {
      purchase.underWay.delete(message);
      if (askedAtMs > purchase.refusedAtMs && purchase.pending === undefined) this.transfer(purchase);
    });
  }

  #settleFate(purchase: Purchase, askedAtMs: number): Fate {
    if (this.#isFaulty()) {
      const faulty = this.#settleFault(purchase, askedAtMs);
      if (faulty !== undefined) return faulty;
    }
    return this.#honestSettle(purchase, askedAtMs);
  }

  #honestSettle(purchase: Purchase, askedAtMs: number): Said {
    const { pending } = purchase;
    if (pending !== undefined) {
      if (pending.state !== 'reverted') {
        purchase.hasBeenUnknown = true;
        return this.#refusal(purchase, 'settlement_pending', pending.hash);
      }
      purchase.pending = undefined;
      purchase.refusedAtMs = this.#world.nowMs;
      return this.#refusal(purchase, 'invalid_exact_evm_transaction_failed', pending.hash);
    }
    if (purchase.moved !== '') return this.#repeated(purchase);
    if (askedAtMs <= purchase.refusedAtMs) return this.#refusal(purchase, 'kyt_risk_detected');
    if (this.#world.nowMs < purchase.suspectUntilMs) {
      purchase.refusedAtMs = this.#world.nowMs;
      return this.#refusal(purchase, 'kyt_risk_detected');
    }
    if (purchase.isNeverMined && !this.isHealed) return this.#broadcast(purchase, true);
    const hash = `0x${this.#chance.hex(32)}`;
    const reason = this.transfer(purchase, hash);
    if (reason === undefined) return this.#success(purchase, hash);
    purchase.refusedAtMs = this.#world.nowMs;
    return this.#refusal(purchase, reason);
  }

  /** Asked again for what has moved. */
  #repeated(purchase: Purchase): Said {
    const { repeats, isBalanceFirst } = this.#profile;
    this.#world.count('settle repeats');
    const isKnown = !purchase.isFrontRun;
    if (repeats === 'same' && isKnown) return this.#success(purchase, purchase.moved);
    purchase.hasBeenUnknown = true;
    if (isBalanceFirst && purchase.account.balanceAtomic < purchase.amountAtomic) {
      return this.#refusal(purchase, 'insufficient_funds');
    }
    if (this.#world.wallMs / 1000 >= purchase.validBeforeSeconds) {
      return this.#refusal(purchase, 'invalid_exact_evm_payload_authorization_valid_before');
    }
    const used = this.#refusal(purchase, 'invalid_exact_evm_nonce_already_used');
    if (repeats === 'used') return used;
    switch (this.#chance.below(isKnown ? 6 : 5)) {
      case 0:
        return used;
      case 1:
        return this.#refusal(purchase, 'invalid_exact_evm_transaction_simulation_failed');
      case 2:
        // A second transaction, which the chain undid.
        return this.#refusal(purchase, 'invalid_exact_evm_transaction_failed', `0x${this.#chance.hex(32)}`);
      case 3:
        return this.#refusal(purchase, 'duplicate_settlement');
      case 4:
        return this.#refusal(purchase, 'invalid_transaction_state');
      default:
        return this.#success(purchase, purchase.moved);
    }
  }

  #settleFault(purchase: Purchase, askedAtMs: number): Fate | undefined {
    const chance = this.#chance;
    const world = this.#world;
    world.count('settle faults');
    const isFresh = purchase.moved === '' && purchase.pending === undefined && askedAtMs > purchase.refusedAtMs;
    if (chance.is(this.#profile.lieShare)) return this.#lie(purchase, isFresh);
    /** The money moves or not, and the answer does not say. */
    const veiled = (fate: Fate): Fate => {
      purchase.hasBeenUnknown = true;
      if (isFresh && chance.is(0.6)) this.transfer(purchase);
      return fate;
    };
    const hash = (): string => `0x${chance.hex(32)}`;
    const { address } = purchase.account.payer;
    const good = { success: true, transaction: purchase.moved || hash(), network: BASE.id, payer: address };
    switch (chance.below(18)) {
      case 0:
        return veiled(RESET);
      case 1:
        return veiled(CUT);
      case 2:
        return veiled('silence');
      case 3:
        return veiled('drip');
      case 4:
        return veiled(json({ error: 'x' }, chance.pick([500, 502, 503, 504])));
      case 5:
        return veiled(json(good, 500));
      case 6:
        return veiled({ status: 200, body: chance.pick(GARBAGE) });
      case 7:
        return veiled(
          json(
            chance.pick([
              { ...good, network: 'eip155:84532' },
              { ...good, network: undefined },
              { ...good, payer: '0x000000000000000000000000000000000000dead' },
              { ...good, transaction: '' },
              { ...good, transaction: '0x12' },
              { ...good, amount: '1' },
              { ...good, success: 'true' },
            ]),
          ),
        );
      case 8:
        return veiled({ status: chance.pick([301, 302, 303, 307, 308]), body: '', headers: { location: '/settle' } });
      case 9:
        return veiled({ status: 200, body: JSON.stringify(good), headers: { 'content-encoding': 'gzip' } });
      case 10:
        return veiled({ status: 200, body: HUGE });
      case 11:
        return veiled(this.#refusal(purchase, chance.pick(INDETERMINATE)));
      case 12:
        return veiled(this.#refusal(purchase, 'settle_exact_evm_transaction_confirmation_timed_out', good.transaction));
      case 13:
        // Refused as a caller, before anything was looked at.
        return chance.pick<Fate>([
          json({}, 401),
          json({}, 403),
          { ...json({}, 429), headers: { 'retry-after': chance.pick(['3', '0', 'soon']) } },
        ]);
      case 14:
      case 15:
        if (!isFresh) return undefined;
        return this.#broadcast(purchase);
      default:
        if (!isFresh || purchase.underWay.size > 0) return undefined;
        purchase.refusedAtMs = world.nowMs;
        return this.#refusal(purchase, 'kyt_risk_detected', '', chance.pick([200, 400, 422]));
    }
  }

  /** `settlement_pending` with a hash; what becomes of the transaction shows later. */
  #broadcast(purchase: Purchase, isNeverMined = false): Said {
    const hash = `0x${this.#chance.hex(32)}`;
    const pending: NonNullable<Purchase['pending']> = { hash, state: 'waiting' };
    purchase.pending = pending;
    purchase.hasBeenUnknown = true;
    const transaction = { askedAtMs: Number.POSITIVE_INFINITY };
    purchase.underWay.add(transaction);
    this.#world.count('settle pending');
    const never = ['never', (purchase.validBeforeSeconds + 1) * 1000 - this.#world.wallMs] as const;
    const drawn = this.#chance.pick([
      ['mined', 500],
      ['mined', 4_000],
      ['mined', 40_000],
      ['reverted', 800],
      ['reverted', 8_000],
      never,
    ] as const);
    const [fate, delayMs] = isNeverMined ? never : drawn;
    this.#world.after(delayMs, () => {
      purchase.underWay.delete(transaction);
      if (fate === 'mined' && this.transfer(purchase, hash) === undefined) purchase.pending = undefined;
      else pending.state = fate === 'never' ? 'never' : 'reverted';
      this.#world.note(`transaction of ${purchase.name}: ${fate}`);
    });
    return this.#refusal(purchase, 'settlement_pending', hash);
  }

  #lie(purchase: Purchase, isFresh: boolean): Fate | undefined {
    if (!isFresh) return undefined;
    purchase.isLiedAbout = true;
    this.#world.count('lies');
    if (this.#chance.is(0.5)) return this.#success(purchase, `0x${this.#chance.hex(32)}`);
    this.transfer(purchase);
    return this.#chance.pick<Fate>([
      this.#refusal(purchase, 'insufficient_funds'),
      this.#refusal(purchase, 'invalid_exact_evm_signature', '', 400),
      json({}, 401),
      json({}, 429),
    ]);
  }
}
