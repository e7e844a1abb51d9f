/**
 * The names of purchases in a run, payment identifiers and idempotency keys: what is asked for under each, with which
 * authorizations, and what was charged and answered. A name belongs to one purchase until ten minutes after its settlement
 * (decisions §4, siblings §6): it is charged once, whatever is asked under it, and every answer to its question is the first one's.
 * A purchase that ended as dead may have been charged, so its names buy nothing for as long.
 */
import { hexOfKey } from '../../../src/storage/postgres/claims.ts';
import type { Chance } from '../../support/chance.ts';
import { decoded } from '../payment-header.ts';
import type { Account, Purchase } from '../purchase.ts';
import type { Answer } from '../server.ts';
import type { Outside } from './gate.ts';
import type { SaleRow } from './model-payments.ts';

/** From the settlement (decisions §4), or from a dead end. */
export const KEPT_MS = 600_000;
/** Less than this is left of the time of a name: it may be over when it is read. */
const KEPT_MARGIN_MS = 5_000;

/** Refusals that say that an answer is not there, or belongs to another. */
const NOT_KEPT: ReadonlySet<string> = new Set([
  'PAYMENT_IDENTIFIER_CONFLICT',
  'IDEMPOTENCY_CONFLICT',
  'SETTLEMENT_PENDING',
  'PAYMENT_NOT_SETTLED',
]);

/** What one payer asks for. */
export interface Wanted {
  readonly route: Purchase['route'];
  readonly url: string;
  readonly order: string | undefined;
  readonly account: Account;
}

/** What is asked for under names. */
export interface Question extends Wanted {
  /** Shared with other questions, which are refused while this one is under way or kept. */
  readonly names: Names;
  readonly purchases: Purchase[];
  /** What answers said first, by the purchases that they are of. */
  readonly answers: Map<Purchase, string>;
  /** The job that its idempotency key has. */
  keyJob: string | undefined;
}

/** A purchase has one of them or both. */
export interface Names {
  readonly identifier: string | undefined;
  readonly key: string | undefined;
  /** The first is asked by the owner. */
  readonly questions: Question[];
  readonly charges: Happened[];
  readonly deadEnds: Happened[];
}

/** To a purchase. */
interface Happened {
  readonly purchase: Purchase;
  readonly atMs: number;
}

const shareName = (one: Purchase, other: Purchase): boolean =>
  (one.identifier !== undefined && one.identifier === other.identifier) ||
  (one.idempotencyKey !== undefined && one.idempotencyKey === other.idempotencyKey);

/** The name that is looked up first is one of the other's, too. */
const isFirstNameOf = (one: Purchase, other: Purchase): boolean =>
  one.identifier === undefined ? one.idempotencyKey === other.idempotencyKey : one.identifier === other.identifier;

export class NamedPurchases {
  readonly all: Names[] = [];
  readonly #questions = new Map<Purchase, Question>();
  readonly #outside: Outside;
  readonly #chance: Chance;

  constructor(outside: Outside, chance: Chance) {
    this.#outside = outside;
    this.#chance = chance;
  }

  /** The first question under new names. */
  name(wanted: Wanted): Question {
    const chance = this.#chance;
    const kinds = wanted.route === 'retry' ? chance.pick(['identifier', 'key', 'both', 'both'] as const) : 'identifier';
    const names: Names = {
      identifier: kinds === 'key' ? undefined : chance.hex(16),
      key: kinds === 'identifier' ? undefined : chance.hex(16),
      questions: [],
      charges: [],
      deadEnds: [],
    };
    this.all.push(names);
    return this.ask(names, wanted);
  }

  /** Another question under the same names. */
  ask(names: Names, wanted: Wanted): Question {
    const question = { ...wanted, names, purchases: [], answers: new Map(), keyJob: undefined };
    names.questions.push(question);
    return question;
  }

  add(question: Question, purchase: Purchase): void {
    question.purchases.push(purchase);
    this.#questions.set(purchase, question);
  }

  /** undefined: it has no name. */
  questionOf(purchase: Purchase): Question | undefined {
    return this.#questions.get(purchase);
  }

  /** Its answer was given, perhaps to another authorization. */
  isAnswered(purchase: Purchase): boolean {
    return this.questionOf(purchase)?.answers.has(purchase) === true;
  }

  /** Its money has moved. */
  charged(purchase: Purchase): void {
    const { world } = this.#outside;
    const names = this.questionOf(purchase)?.names;
    if (names === undefined) return;
    const isLater = ({ purchase: earlier, atMs }: Happened): boolean =>
      earlier !== purchase && shareName(earlier, purchase) && world.nowMs - atMs < KEPT_MS;
    for (const { purchase: earlier, atMs } of names.charges.filter(isLater)) {
      const agoMs = (world.nowMs - atMs).toFixed(0);
      world.fail('N1 one charge for a name', `${earlier.name} and ${purchase.name} are charged, ${agoMs} ms apart`);
    }
    for (const { purchase: earlier, atMs } of names.deadEnds.filter(isLater)) {
      const agoMs = (world.nowMs - atMs).toFixed(0);
      world.fail('N6 a dead end keeps its names', `${purchase.name} is charged, ${agoMs} ms after ${earlier.name}`);
    }
    names.charges.push({ purchase, atMs: world.nowMs });
  }

  /** Its case ended as dead. */
  endedDead(purchase: Purchase): void {
    const { world } = this.#outside;
    const names = this.questionOf(purchase)?.names;
    if (names === undefined) return;
    world.count('dead ends under names');
    names.deadEnds.push({ purchase, atMs: world.nowMs });
  }

  /** A sale whose answer is kept. @param asking undefined = any; otherwise the one whose answer it must get */
  keptSale(question: Question, asking?: Purchase): SaleRow | undefined {
    const { world } = this.#outside;
    for (const one of question.purchases) {
      const sale = this.#saleOf(one);
      if (sale === undefined || (asking && !isFirstNameOf(asking, one))) continue;
      if (world.wallMs < sale.timeMs + KEPT_MS - KEPT_MARGIN_MS) return sale;
    }
    return undefined;
  }

  /** A case is open, or ended as dead, so nothing new may be sold. */
  isHeld(names: Names): boolean {
    const { payments } = this.#outside.wire.database;
    const isOpen = ({ key }: Purchase): boolean => payments.caseOf(hexOfKey(key)) !== undefined;
    return this.deadEndOf(names) !== undefined || names.questions.some(({ purchases }) => purchases.some(isOpen));
  }

  /** The last purchase under some names that ended as dead, and whose sale is not recorded. */
  deadEndOf({ deadEnds }: Names): (Happened & { readonly isKept: boolean }) | undefined {
    const { nowMs } = this.#outside.world;
    const last = deadEnds.findLast(({ purchase }) => this.#saleOf(purchase) === undefined);
    if (last === undefined || nowMs - last.atMs >= KEPT_MS + KEPT_MARGIN_MS) return undefined;
    return { ...last, isKept: nowMs - last.atMs < KEPT_MS - KEPT_MARGIN_MS };
  }

  /** Judges an answer 200 or 201. @returns the purchase that it is of; undefined for none, or a job that is shown again */
  soldTo(asking: Purchase, answer: Answer): Purchase | undefined {
    const question = this.questionOf(asking);
    if (question === undefined) return asking;
    const { world } = this.#outside;
    const receipt = answer.headers.get('payment-response');
    if (receipt === null && asking.idempotencyKey !== undefined) {
      this.#judgeRepeated(question, asking, answer);
      return undefined;
    }
    const { transaction } = decoded(receipt);
    const sold = question.purchases.find((one) => this.#saleOf(one)?.transaction === transaction);
    if (sold === undefined) {
      world.fail('N2 its own answer', `${asking.name} got an answer of ${String(transaction)}, not sold to it`);
      return undefined;
    }
    world.met('N2 its own answer');
    const first = question.answers.get(sold);
    if (first === undefined) question.answers.set(sold, answer.text);
    else {
      const detail = (): string => `${asking.name} got ${answer.text}, and before it ${sold.name} ${first}`;
      world.judge('N2 byte for byte', answer.text === first, detail);
    }
    if (sold !== asking) world.count('answers given again');
    return sold;
  }

  /** The job of its key, without its secrets: nothing is charged. */
  #judgeRepeated(question: Question, asking: Purchase, { status, text }: Answer): void {
    const { world } = this.#outside;
    world.count('jobs shown again');
    const { id, read_token: token } = JSON.parse(text) as { id: string; read_token: string | null };
    question.keyJob ??= id;
    world.met('N2 one job for a key');
    if (question.keyJob !== id) world.fail('N2 one job for a key', `${asking.name}: ${question.keyJob} and ${id}`);
    if (status !== 200 || token !== null)
      world.fail('N2 one job for a key', `${asking.name} is ${status} without a receipt: ${text}`);
  }

  /** Judges any answer. @param kept the sale whose answer was kept when it was sent */
  judge(purchase: Purchase, kept: SaleRow | undefined, status: number, code: string): void {
    const { world } = this.#outside;
    const question = this.questionOf(purchase);
    if (question === undefined) return;
    this.#meetEarlier(question.names, purchase);
    const isConflict = code.endsWith('_CONFLICT');
    if (isConflict) world.count('refused as another question');
    const isAlone = !question.names.questions.some((one) => one !== question && one.purchases.length > 0);
    if (isAlone && question.purchases.length > 1)
      world.judge('N3 no conflict with itself', !isConflict, () => `${purchase.name}: ${code}`);
    if (kept === undefined || kept !== this.keptSale(question, purchase)) return;
    const detail = (): string => `${purchase.name}: ${status} ${code}, kept is ${kept.serial}`;
    world.judge('N4 a kept answer stays', !NOT_KEPT.has(code), detail);
  }

  /** It was asked under a name that another purchase was charged under, or ended as dead under. */
  #meetEarlier({ charges, deadEnds }: Names, purchase: Purchase): void {
    const { world } = this.#outside;
    const isEarlier = (one: Happened): boolean =>
      one.purchase !== purchase && shareName(one.purchase, purchase) && world.nowMs - one.atMs < KEPT_MS;
    if (charges.some(isEarlier)) world.met('N1 one charge for a name');
    if (deadEnds.some(isEarlier)) world.met('N6 a dead end keeps its names');
  }

  #saleOf({ key }: Purchase): SaleRow | undefined {
    return this.#outside.wire.database.payments.salesByKey.get(hexOfKey(key))?.[0];
  }
}
