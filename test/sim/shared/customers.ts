/**
 * Customers of several processes: each authorization is sent to one process after another and to several at once, again when
 * no answer came. Every answer is judged when it is given, and every authorization once all is well again.
 */
import type { Authorization } from '../../../src/payment/protocol/authorization.ts';
import { BASE } from '../../../src/payment/protocol/network.ts';
import { reservationKeyOf } from '../../../src/payment/protocol/order.ts';
import { hexOfKey } from '../../../src/storage/postgres/claims.ts';
import type { Chance } from '../../support/chance.ts';
import { COMPANY } from '../catalogues.ts';
import { decoded, type Offer, paymentHeaderOf } from '../payment-header.ts';
import { type Account, Purchase } from '../purchase.ts';
import { type Answer, BASE_URL, PAY_TO } from '../server.ts';
import type { Gate, Outside } from './gate.ts';
import type { SaleRow } from './model-payments.ts';

const PLACES = {
  search: { method: 'GET', url: `${BASE_URL}/v1/jobs/search?limit=3` },
  company: { method: 'GET', url: `${BASE_URL}/v1/jobs/company?company=${COMPANY}` },
  create: { method: 'POST', url: `${BASE_URL}/v1/callbacks` },
} as const;
type Place = keyof typeof PLACES;

/** As the configuration of the processes has it: what each payer may spend of play money. */
const OPENING_ATOMIC = 100_000n;
const PAYER_COUNT = 200;
/** How often an authorization is sent. */
const TRIES_MAX = 5;
/** A refusal because of the window says nothing of what was charged before. */
const WINDOW_SLACK_SECONDS = 10;

/** `used`: 409; `free`: the answer says that nothing is charged; `open`: it says that this is not known; `cut`: none came. */
type Outcome = 'paid' | 'used' | 'free' | 'open' | 'cut';

export const codeOf = ({ text }: Answer): string => /^\{"error":\{"code":"([A-Z_]+)"/.exec(text)?.[1] ?? '';

export class Customers {
  readonly purchases: Purchase[] = [];
  readonly byKey = new Map<string, Purchase>();
  /** A callback was sold. */
  onCreated: (answer: Answer) => void = () => {};
  readonly #outside: Outside;
  readonly #chance: Chance;
  readonly #gates: () => readonly Gate[];
  readonly #accounts: Account[] = [];
  readonly #offers = new Map<Place, Offer>();
  readonly #outcomes = new Map<Purchase, Outcome[]>();

  /** @param gates the processes that there are */
  constructor(outside: Outside, chance: Chance, gates: () => readonly Gate[]) {
    this.#outside = outside;
    this.#chance = chance;
    this.#gates = gates;
    const { poorShare } = outside.profile;
    for (let i = 0; i < PAYER_COUNT; i++) {
      const balanceAtomic = chance.is(poorShare) ? BigInt(chance.below(60_000)) : 10n ** 12n;
      this.#accounts.push({ payer: outside.signing.newPayer(), balanceAtomic });
    }
  }

  async learnOffers(gate: Gate): Promise<void> {
    for (const place of Object.keys(PLACES) as Place[]) {
      const { method, url } = PLACES[place];
      const response = await gate.app?.fetch(new Request(url, { method }));
      if (response?.status !== 402) throw new Error(`no offer of ${place}: ${response?.status}`);
      this.#offers.set(place, decoded(response.headers.get('payment-required')) as unknown as Offer);
    }
  }

  /** A new authorization, on its way to one process or several. */
  buy(): void {
    const { world, profile } = this.#outside;
    const chance = this.#chance;
    const place = chance.is(profile.callbackShare) ? 'create' : chance.pick(['search', 'search', 'company'] as const);
    const purchase = this.#newPurchase(place, chance.pick(this.#accounts));
    world.count('authorizations');
    world.note(`new ${purchase.name} ${hexOfKey(purchase.key)}`);
    const copyCount = chance.is(profile.copiesShare) ? 1 + chance.below(4) : 0;
    for (let i = 0; i <= copyCount; i++) {
      world.after(chance.is(0.5) ? 0 : chance.between(0, 40), () => this.#send(purchase, 1));
    }
  }

  /** A payer who never bought before, at this process. */
  buyAt(gate: Gate, also: (answer: Answer) => void): void {
    const { world, signing } = this.#outside;
    const purchase = this.#newPurchase('search', { payer: signing.newPayer(), balanceAtomic: 10n ** 12n });
    world.count('authorizations after an outage');
    world.note(`new ${purchase.name} ${hexOfKey(purchase.key)} after an outage`);
    this.#send(purchase, TRIES_MAX, also, gate);
  }

  /** @param key hexadecimal */
  nameOf(key: string): string {
    return this.purchases.find((one) => hexOfKey(one.key) === key)?.name ?? key;
  }

  /** What the books say of a purchase. */
  salesOf({ key }: Purchase): readonly SaleRow[] {
    return this.#outside.wire.database.payments.salesByKey.get(hexOfKey(key)) ?? [];
  }

  /** The money has moved, as the chain or the play ledger has it. */
  #isCharged(purchase: Purchase): boolean {
    if (this.#outside.profile.settlement === 'facilitator') return purchase.moved !== '';
    return this.#outside.wire.database.payments.transfers.has(hexOfKey(purchase.key));
  }

  /** Sends what is not sold and could be to any process: it must be sold now. */
  buyTheRest(): void {
    const { world, wire } = this.#outside;
    for (const purchase of this.purchases) {
      const isOpen = world.wallMs / 1000 + 15 < purchase.validBeforeSeconds;
      const isKnown = this.salesOf(purchase).length > 0 || wire.database.payments.caseOf(hexOfKey(purchase.key));
      if (!isOpen || isKnown || purchase.account.balanceAtomic < 10n ** 9n || this.#isCharged(purchase)) continue;
      world.count('sent again when all is well');
      this.#send(purchase, TRIES_MAX, (answer) => {
        if (answer.status === 200 || answer.status === 201 || this.#isShort(answer)) return;
        world.fail('L2 free is free', `${purchase.name} is not charged, and ${answer.status} ${codeOf(answer)}`);
      });
    }
  }

  /** A payer of play money has spent it all. */
  #isShort(answer: Answer): boolean {
    return this.#outside.profile.settlement === 'local' && answer.status === 402;
  }

  /** Asks every process where each authorization stands: they agree with each other and with the books. */
  askAll(): void {
    for (const purchase of this.purchases) for (const gate of this.#gates()) this.#ask(purchase, gate);
  }

  /** Every authorization, once all is over. */
  audit(): void {
    const { world, wire, profile } = this.#outside;
    const { payments } = wire.database;
    for (const purchase of this.purchases) {
      const sales = this.salesOf(purchase);
      const outcomes = this.#outcomes.get(purchase) ?? [];
      const { name } = purchase;
      if (sales.length > 1) world.fail('I1 one sale', `${name} is in the books ${sales.length} times`);
      if (this.#isCharged(purchase) && sales.length === 0 && payments.claimOf(hexOfKey(purchase.key))?.state !== 2) {
        world.fail('I4 charged once', `${name} is charged and not in the books: ${outcomes}`);
      }
      if (sales.length === 1 && !this.#isCharged(purchase))
        world.fail('I2 settled first', `${name} is sold for nothing`);
      const isExplained = outcomes.some((one) => one === 'paid' || one === 'cut' || one === 'open');
      if (sales.length === 1 && !isExplained) world.fail('I4 charged and answered', `${name}: ${outcomes}`);
    }
    if (profile.settlement === 'local') this.#auditLedger();
  }

  #auditLedger(): void {
    const { world, wire } = this.#outside;
    const sums = new Map<string, bigint>();
    for (const purchase of this.purchases) {
      if (!this.#isCharged(purchase)) continue;
      const payer = purchase.account.payer.address;
      sums.set(payer, (sums.get(payer) ?? 0n) + purchase.amountAtomic);
    }
    for (const [payer, spent] of wire.database.payments.spent) {
      if (spent !== (sums.get(payer) ?? 0n) || spent > OPENING_ATOMIC) {
        world.fail('I17 sums', `${payer} has spent ${spent}, moved are ${sums.get(payer)} of ${OPENING_ATOMIC}`);
      }
    }
  }

  #newPurchase(place: Place, account: Account): Purchase {
    const chance = this.#chance;
    const { world, facilitator } = this.#outside;
    const offer = this.#offers.get(place) as Offer;
    const nonce = `0x${chance.hex(32)}`;
    const lifeSeconds = chance.pick([20, 60, 120, 120]);
    const authorization: Authorization = {
      from: account.payer.address,
      to: PAY_TO.toLowerCase(),
      valueAtomic: BigInt(offer.accepts[0]?.amount ?? ''),
      validAfterSeconds: 0,
      validBeforeSeconds: Math.floor(world.wallMs / 1000) + lifeSeconds,
      nonce,
    };
    const purchase = new Purchase({
      number: this.purchases.length,
      account,
      route: place,
      key: reservationKeyOf(BASE, account.payer.address, nonce),
      nonce,
      amountAtomic: authorization.valueAtomic,
      validBeforeSeconds: authorization.validBeforeSeconds,
      signature: 'good',
      header: paymentHeaderOf(offer, authorization, account.payer.sign(authorization)),
      order: undefined,
      identifier: undefined,
      idempotencyKey: undefined,
      family: undefined,
      again: undefined,
    });
    this.purchases.push(purchase);
    this.byKey.set(purchase.key, purchase);
    facilitator.purchases.set(nonce, purchase);
    this.#outcomes.set(purchase, []);
    return purchase;
  }

  /** @param only undefined: to any process, and a next try to another */
  #send(purchase: Purchase, tries: number, also: (answer: Answer) => void = () => {}, only?: Gate): void {
    const gates = (only === undefined ? this.#gates() : [only]).filter(({ isAccepting }) => isAccepting);
    const { world } = this.#outside;
    const chance = this.#chance;
    const again = (share: number): void => {
      if (tries < TRIES_MAX && chance.is(share))
        world.after(chance.between(0, 8_000), () => this.#send(purchase, tries + 1));
    };
    if (gates.length === 0) {
      again(1);
      return;
    }
    const { method, url } = PLACES[purchase.route as Place];
    const request = new Request(url, { method, headers: { 'payment-signature': purchase.header } });
    const outcomes = this.#outcomes.get(purchase) as Outcome[];
    // A refusal that was decided before another process sold it may be told after.
    const wasCharged = this.#isCharged(purchase);
    purchase.outstandingCount++;
    chance.pick(gates).arrive(
      `${purchase.name} ${purchase.route}`,
      request,
      (answer) => {
        purchase.outstandingCount--;
        if (answer.status === 409 && outcomes.length === 0 && purchase.outstandingCount === 0) {
          world.fail('L2 free is free', `${purchase.name} is refused as used, and was sent to no other process`);
        }
        outcomes.push(this.#judge(purchase, answer, wasCharged));
        also(answer);
        again(answer.status === 503 ? 0.7 : 0.2);
      },
      () => {
        purchase.outstandingCount--;
        outcomes.push('cut');
        again(0.8);
      },
    );
  }

  #judge(purchase: Purchase, answer: Answer, wasCharged: boolean): Outcome {
    const { world } = this.#outside;
    const { status } = answer;
    const code = status < 300 ? '' : codeOf(answer);
    const { name } = purchase;
    const isLapsing = world.wallMs / 1000 + WINDOW_SLACK_SECONDS >= purchase.validBeforeSeconds;
    switch (`${status} ${code}`) {
      case '200 ':
      case '201 ':
        this.#judgePaid(purchase, answer);
        return 'paid';
      case '409 PAYMENT_ALREADY_USED':
        return 'used';
      case '503 SETTLEMENT_PENDING':
        return 'open';
      case '402 PAYMENT_NOT_SETTLED':
      case '402 PAYMENT_INVALID':
        if (wasCharged && !isLapsing) world.fail('I5 never 402 on unknown', `${name}: ${code}`);
        return 'free';
      case '503 SETTLEMENT_UNAVAILABLE':
        return 'free';
      case '429 RATE_LIMIT_EXCEEDED':
        return 'free';
      case '503 CALLBACK_CAPACITY_EXCEEDED':
        return 'free';
      case '503 STATE_UNAVAILABLE':
      case '500 INTERNAL_ERROR':
        // A callback that was paid for and could not be made (decisions §4).
        if (purchase.route === 'create') return 'open';
        break;
    }
    world.fail('A4 right answers', `${name}: ${status} ${answer.text.slice(0, 300)}`);
    return 'open';
  }

  #judgePaid(purchase: Purchase, answer: Answer): void {
    const { world, profile } = this.#outside;
    const { name } = purchase;
    world.count('sold');
    if (++purchase.successCount > 1) world.fail('I1 one answer', `${name} was answered ${purchase.successCount} times`);
    const [sale] = this.salesOf(purchase);
    if (sale === undefined) {
      world.fail('I3 recorded first', `${name} was answered before its sale was in the books`);
      return;
    }
    if (!this.#isCharged(purchase)) world.fail('I2 settled first', `${name} was answered for nothing`);
    const receipt = decoded(answer.headers.get('payment-response'));
    const isMoved = profile.settlement === 'local' || purchase.moved === receipt.transaction;
    if (receipt.success !== true || receipt.transaction !== sale.transaction || !isMoved) {
      world.fail('I3 receipt', `${name}: ${JSON.stringify(receipt)}, sold as ${sale.transaction}`);
    }
    if (purchase.route === 'create') this.onCreated(answer);
  }

  #ask(purchase: Purchase, gate: Gate): void {
    const { world } = this.#outside;
    const url = `${BASE_URL}/v1/payments/${BASE.id}/${purchase.account.payer.address}/${purchase.nonce}`;
    const judge = (answer: Answer): void => {
      const sale = this.salesOf(purchase)[0];
      const state = answer.status === 200 ? (JSON.parse(answer.text) as { state: string }).state : `${answer.status}`;
      const isRight = sale === undefined ? state === '404' || state === 'dead' : state === 'settled';
      if (!isRight)
        world.fail('L3 one truth', `${purchase.name} at ${gate.name}: ${state}, sold ${sale !== undefined}`);
    };
    gate.arrive(`status of ${purchase.name}`, new Request(url), judge, () => {});
  }
}
