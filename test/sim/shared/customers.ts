/**
 * Customers of several processes: each authorization is sent to one process after another and to several at once, again when
 * no answer came. Every answer is judged when it is given, and every authorization once all is well again.
 */
import { LOOK_UP_MS } from '../../../src/outbound/limits.ts';
import type { Authorization } from '../../../src/payment/protocol/authorization.ts';
import { BASE } from '../../../src/payment/protocol/network.ts';
import { reservationKeyOf } from '../../../src/payment/protocol/order.ts';
import { hexOfKey } from '../../../src/storage/postgres/claims.ts';
import { DEAD } from '../../../src/storage/postgres/tables/payments.ts';
import type { Chance } from '../../support/chance.ts';
import { decoded, type Offer, paymentHeaderOf } from '../payment-header.ts';
import { type Account, Purchase } from '../purchase.ts';
import { type Answer, BASE_URL, PAY_TO } from '../server.ts';
import { AskedAgain, type Buyers } from './asked-again.ts';
import type { Gate, Outside } from './gate.ts';
import type { SaleRow } from './model-payments.ts';
import { NamedPurchases, type Question } from './names.ts';
import { PLACES, type Place, requestOf } from './places.ts';

/** As the configuration of the processes has it: what each payer may spend of play money. */
const OPENING_ATOMIC = 100_000n;
const PAYER_COUNT = 200;
/** How often an authorization is sent. */
export const TRIES_MAX = 5;
/** A refusal because of the window says nothing of what was charged before. */
const WINDOW_SLACK_SECONDS = 10;

const NO_NAMES = { identifier: undefined, idempotencyKey: undefined };

/** `used`: 409; `free`: the answer says that nothing is charged; `open`: it says that this is not known; `cut`: none came. */
type Outcome = 'paid' | 'used' | 'free' | 'open' | 'cut';

export const codeOf = ({ text }: Answer): string => /^\{"error":\{"code":"([A-Z_]+)"/.exec(text)?.[1] ?? '';

export class Customers implements Buyers {
  readonly purchases: Purchase[] = [];
  readonly accounts: Account[] = [];
  readonly byKey = new Map<string, Purchase>();
  /** Under names that were asked before. */
  readonly asked: AskedAgain;
  /** A callback was sold. */
  onCreated: (answer: Answer) => void = () => {};
  readonly #outside: Outside;
  readonly #chance: Chance;
  readonly #gates: () => readonly Gate[];
  readonly #offers = new Map<Place, Offer>();
  readonly #outcomes = new Map<Purchase, Outcome[]>();
  readonly #names: NamedPurchases;
  /** Which process answered a purchase that it sold. */
  readonly #answeredBy = new Map<Purchase, Gate>();
  /** A process that was asked to stop did so without their answers. */
  readonly #leftBehind = new Set<Purchase>();

  /** @param gates the processes that there are */
  constructor(outside: Outside, chance: Chance, gates: () => readonly Gate[]) {
    this.#outside = outside;
    this.#chance = chance;
    this.#gates = gates;
    this.#names = new NamedPurchases(outside, chance.fork());
    this.asked = new AskedAgain(outside, chance, this.#names, this);
    const { poorShare } = outside.profile;
    for (let i = 0; i < PAYER_COUNT; i++) {
      const balanceAtomic = chance.is(poorShare) ? BigInt(chance.below(60_000)) : 10n ** 12n;
      this.accounts.push({ payer: outside.signing.newPayer(), balanceAtomic });
    }
  }

  async learnOffers(gate: Gate): Promise<void> {
    for (const place of Object.keys(PLACES) as Place[]) {
      const { method, url, order } = PLACES[place];
      const body = order === undefined ? {} : { body: order, headers: { 'content-type': 'application/json' } };
      const response = await gate.app?.fetch(new Request(url, { method, ...body }));
      if (response?.status !== 402) throw new Error(`no offer of ${place}: ${response?.status}`);
      this.#offers.set(place, decoded(response.headers.get('payment-required')) as unknown as Offer);
    }
  }

  /** A new authorization, on its way to one process or several. */
  buy(): void {
    const { world, profile } = this.#outside;
    const chance = this.#chance;
    const place = this.#drawPlace();
    const account = chance.pick(this.accounts);
    const isNamed = chance.is(profile.namedShare);
    const question = isNamed ? this.#names.name({ ...PLACES[place], route: place, account }) : undefined;
    const purchase = this.newPurchase(place, account, question);
    purchase.isNeverMined = isNamed && chance.named('never mined', purchase.number).is(profile.neverMinedShare);
    world.count('authorizations');
    world.note(`new ${purchase.name} ${hexOfKey(purchase.key)}`);
    const copyCount = chance.is(profile.copiesShare) ? 1 + chance.below(4) : 0;
    for (let i = 0; i <= copyCount; i++) {
      world.after(chance.is(0.5) ? 0 : chance.between(0, 40), () => this.send(purchase, 1));
    }
    if (question !== undefined) this.asked.buyAgain(question);
  }

  /** Payers at one process in one moment, of whom one has too little play money: one statement moves some of it and not all. */
  crowd(): Gate | undefined {
    const { world, signing } = this.#outside;
    const chance = this.#chance;
    const open = this.#gates().filter(({ isAccepting }) => isAccepting);
    if (open.length === 0) return undefined;
    const gate = chance.pick(open);
    const spender = { payer: signing.newPayer(), balanceAtomic: 10n ** 12n };
    const come = (place: Place, account: Account): void => {
      const purchase = this.newPurchase(place, account);
      world.count('authorizations');
      world.note(`new ${purchase.name} ${hexOfKey(purchase.key)} in a crowd`);
      this.send(purchase, 1, undefined, gate);
    };
    world.count('crowds');
    for (let i = chance.between(3, 6); i > 0; i--) come('company', spender);
    for (let i = chance.between(1, 4); i > 0; i--) come('search', chance.pick(this.accounts));
    return gate;
  }

  #drawPlace(): Place {
    const { callbackShare, retryShare } = this.#outside.profile;
    if (this.#chance.is(callbackShare)) return 'create';
    if (this.#chance.is(retryShare)) return 'retry';
    return this.#chance.pick(['search', 'search', 'company'] as const);
  }

  /** A payer who never bought before, at this process. */
  buyAt(gate: Gate, also: (answer: Answer) => void): void {
    const { world, signing } = this.#outside;
    const purchase = this.newPurchase('search', { payer: signing.newPayer(), balanceAtomic: 10n ** 12n });
    world.count('authorizations after an outage');
    world.note(`new ${purchase.name} ${hexOfKey(purchase.key)} after an outage`);
    this.send(purchase, TRIES_MAX, also, gate);
  }

  /** Money has moved. */
  charged(purchase: Purchase): void {
    this.#names.charged(purchase);
  }

  /** A case has ended as dead. */
  endedDead(purchase: Purchase): void {
    this.#names.endedDead(purchase);
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

  /** Sends what is not sold and could be to any process: it must be sold now, or its answer be given. */
  buyTheRest(): void {
    const { world, wire } = this.#outside;
    const asked = new Set<object>();
    for (const purchase of this.purchases) {
      const isLive = world.wallMs / 1000 + 15 < purchase.validBeforeSeconds;
      const isKnown = this.salesOf(purchase).length > 0 || wire.database.payments.caseOf(hexOfKey(purchase.key));
      if (!isLive || isKnown || !this.isRich(purchase.account) || this.#isCharged(purchase)) continue;
      // One under the same names; another question may have come before it.
      const names = this.#names.questionOf(purchase)?.names;
      if (names !== undefined) {
        if (asked.has(names) || names.questions.length > 1 || this.#names.isHeld(names)) continue;
        asked.add(names);
      }
      world.count('sent again when all is well');
      this.buyNow(purchase, 'L2 free is free');
    }
  }

  isRich({ balanceAtomic }: Account): boolean {
    return balanceAtomic >= 10n ** 9n;
  }

  /** @param invariant broken unless it is sold */
  buyNow(purchase: Purchase, invariant: string, also: (answer: Answer) => void = () => {}): void {
    const { world } = this.#outside;
    this.send(purchase, TRIES_MAX, (answer) => {
      const isSold = answer.status === 200 || answer.status === 201;
      const detail = (): string => `${purchase.name} is not charged, and ${answer.status} ${codeOf(answer)}`;
      if (!this.isShort(answer)) world.judge(invariant, isSold, detail);
      also(answer);
    });
  }

  /** A payer of play money has spent it all. */
  isShort(answer: Answer): boolean {
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
      const isCharged = this.#isCharged(purchase);
      const wasInDoubt = outcomes.some((one) => one === 'cut' || one === 'open');
      if (outcomes.length > 1) world.judge('I1 one sale', sales.length <= 1, () => `${name} has ${sales.length} sales`);
      const isBooked = sales.length > 0 || payments.claimOf(hexOfKey(purchase.key))?.state === DEAD;
      if (isCharged && wasInDoubt) world.met('I4 charged once');
      if (isCharged && !isBooked) world.fail('I4 charged once', `${name} is charged and not in the books: ${outcomes}`);
      if (sales.length !== 1) continue;
      world.judge('I2 settled first', isCharged, () => `${name} is sold for nothing`);
      this.#auditDelivery(purchase, sales[0] as SaleRow);
      const isExplained = wasInDoubt || outcomes.includes('paid');
      world.judge('I4 charged and answered', isExplained, () => `${name}: ${outcomes}`);
    }
    if (profile.settlement === 'local') this.#auditLedger();
  }

  /** The books say that an answer left when it did, and only then. */
  #auditDelivery(purchase: Purchase, { isDelivered }: SaleRow): void {
    const { world } = this.#outside;
    const { name } = purchase;
    const isAnswered = purchase.successCount > 0 || this.#names.isAnswered(purchase);
    if (!isAnswered && !this.#leftBehind.has(purchase))
      world.judge('B1 delivered is answered', !isDelivered, () => `${name} is noted as delivered, and had no answer`);
    if (this.#answeredBy.get(purchase)?.isDead === false)
      world.judge('B2 answered is delivered', isDelivered, () => `${name} was answered, and is not noted as delivered`);
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
      const isRight = spent === (sums.get(payer) ?? 0n) && spent <= OPENING_ATOMIC;
      const detail = (): string => `${payer} has spent ${spent}, moved are ${sums.get(payer)} of ${OPENING_ATOMIC}`;
      world.judge('I17 sums', isRight, detail);
    }
  }

  /** @param question of its names @param hasAll it has all of them */
  newPurchase(place: Place, account: Account, question?: Question, hasAll = false): Purchase {
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
    const signature = account.payer.sign(authorization);
    const { identifier, idempotencyKey } = question === undefined ? NO_NAMES : this.asked.namesFor(question, hasAll);
    const purchase = new Purchase({
      number: this.purchases.length,
      account,
      route: place,
      key: reservationKeyOf(BASE, account.payer.address, nonce),
      nonce,
      amountAtomic: authorization.valueAtomic,
      validBeforeSeconds: authorization.validBeforeSeconds,
      signature: 'good',
      header: paymentHeaderOf(offer, authorization, signature, identifier),
      order: question?.order,
      identifier,
      idempotencyKey,
      family: undefined,
      again: undefined,
    });
    this.purchases.push(purchase);
    this.byKey.set(purchase.key, purchase);
    facilitator.purchases.set(nonce, purchase);
    this.#outcomes.set(purchase, []);
    if (question !== undefined) this.#names.add(question, purchase);
    return purchase;
  }

  /** @param only undefined: to any process, and a next try to another */
  send(purchase: Purchase, tries: number, also: (answer: Answer) => void = () => {}, only?: Gate): void {
    const gates = (only === undefined ? this.#gates() : [only]).filter(({ isAccepting }) => isAccepting);
    const { world } = this.#outside;
    const chance = this.#chance;
    const again = (share: number): void => {
      if (tries < TRIES_MAX && chance.is(share))
        world.after(chance.between(0, 8_000), () => this.send(purchase, tries + 1));
    };
    if (gates.length === 0) {
      again(1);
      return;
    }
    const question = this.#names.questionOf(purchase);
    const request = requestOf(purchase, question ?? PLACES[purchase.route as Place]);
    const outcomes = this.#outcomes.get(purchase) as Outcome[];
    // A refusal that was decided before another process sold it may be told after.
    const wasCharged = this.#isCharged(purchase);
    const wasSold = this.salesOf(purchase).length > 0;
    const sentMs = world.nowMs;
    const kept = question && this.#names.keptSale(question, purchase);
    purchase.outstandingCount++;
    const gate = chance.pick(gates);
    gate.arrive(
      `${purchase.name} ${purchase.route}`,
      request,
      (answer) => {
        purchase.outstandingCount--;
        const code = answer.status < 300 ? '' : codeOf(answer);
        if (outcomes.length === 0 && purchase.outstandingCount === 0) {
          const detail = (): string => `${purchase.name} is refused as used, and was sent to no other process`;
          world.judge('L2 new is free', code !== 'PAYMENT_ALREADY_USED', detail);
        }
        // To a clock that is off another window is open.
        const isSure = wasCharged && gate.clockOffUntilMs < sentMs;
        outcomes.push(this.#judge(purchase, answer, isSure, wasSold));
        if (outcomes.at(-1) === 'paid') this.#answeredBy.set(purchase, gate);
        this.#names.judge(purchase, kept, answer.status, code);
        also(answer);
        again(answer.status === 503 ? 0.7 : 0.2);
      },
      () => {
        purchase.outstandingCount--;
        outcomes.push('cut');
        if (!gate.isDead) this.#leftBehind.add(purchase);
        again(0.8);
      },
    );
  }

  #judge(purchase: Purchase, answer: Answer, wasCharged: boolean, wasSold: boolean): Outcome {
    const { world } = this.#outside;
    const { status } = answer;
    const code = status < 300 ? '' : codeOf(answer);
    const { name } = purchase;
    const slackSeconds = WINDOW_SLACK_SECONDS + (purchase.route === 'retry' ? LOOK_UP_MS / 1000 : 0);
    const isLapsing = world.wallMs / 1000 + slackSeconds >= purchase.validBeforeSeconds;
    world.met('A4 right answers');
    if (wasCharged && !isLapsing) world.met(wasSold ? 'I5 never 402 on used' : 'I5 never 402 on unknown');
    switch (`${status} ${code}`) {
      case '200 ':
      case '201 ':
        return this.#judgePaid(purchase, answer);
      case '409 PAYMENT_ALREADY_USED':
        return 'used';
      case '409 PAYMENT_IDENTIFIER_CONFLICT':
      case '409 IDEMPOTENCY_CONFLICT':
        return 'free';
      case '503 SETTLEMENT_PENDING':
        return 'open';
      case '402 PAYMENT_NOT_SETTLED':
      case '402 PAYMENT_INVALID':
        if (wasCharged && !isLapsing)
          world.fail(wasSold ? 'I5 never 402 on used' : 'I5 never 402 on unknown', `${name}: ${code}`);
        return 'free';
      case '503 SETTLEMENT_UNAVAILABLE':
        return 'free';
      case '429 RATE_LIMIT_EXCEEDED':
        return 'free';
      case '503 CALLBACK_CAPACITY_EXCEEDED':
        return 'free';
      case '503 STATE_UNAVAILABLE':
      case '500 INTERNAL_ERROR':
        // A callback or a job that was paid for and could not be made (decisions §4).
        if (purchase.route === 'create' || purchase.route === 'retry') return 'open';
        break;
    }
    world.fail('A4 right answers', `${name}: ${status} ${answer.text.slice(0, 300)}`);
    return 'open';
  }

  /** @param asking of an answer that is given again, another authorization than that by which it was bought */
  #judgePaid(asking: Purchase, answer: Answer): Outcome {
    const purchase = this.#names.soldTo(asking, answer);
    if (purchase === undefined) return 'free';
    this.#judgeSold(purchase, answer, purchase !== asking);
    return purchase === asking ? 'paid' : 'free';
  }

  #judgeSold(purchase: Purchase, answer: Answer, isAgain: boolean): void {
    const { world, profile } = this.#outside;
    const { name } = purchase;
    if (!isAgain) {
      world.count('sold');
      purchase.successCount++;
      const isSentAgain = purchase.outstandingCount > 0 || (this.#outcomes.get(purchase)?.length ?? 0) > 0;
      if (isSentAgain) world.met('I1 one answer');
      if (purchase.successCount > 1) world.fail('I1 one answer', `${name} was answered ${purchase.successCount} times`);
    }
    world.met('I3 receipt');
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
    if (purchase.route === 'create' && !isAgain) this.onCreated(answer);
  }

  #ask(purchase: Purchase, gate: Gate): void {
    const { world } = this.#outside;
    const url = `${BASE_URL}/v1/payments/${BASE.id}/${purchase.account.payer.address}/${purchase.nonce}`;
    const judge = (answer: Answer): void => {
      const sale = this.salesOf(purchase)[0];
      const state = answer.status === 200 ? (JSON.parse(answer.text) as { state: string }).state : `${answer.status}`;
      const isRight = sale === undefined ? state === '404' || state === 'dead' : state === 'settled';
      const detail = (): string => `${purchase.name} at ${gate.name}: ${state}, sold ${sale !== undefined}`;
      world.judge('L3 one truth', isRight, detail);
    };
    gate.arrive(`status of ${purchase.name}`, new Request(url), judge, () => {});
  }
}
