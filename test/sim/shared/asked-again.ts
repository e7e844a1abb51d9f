/** Customers who ask again under names that were asked before: other authorizations for the same question, or for another. */
import { hexOfKey } from '../../../src/storage/postgres/claims.ts';
import type { Chance } from '../../support/chance.ts';
import type { Account, Purchase } from '../purchase.ts';
import type { Answer } from '../server.ts';
import { codeOf, TRIES_MAX } from './customers.ts';
import type { Outside } from './gate.ts';
import type { SaleRow } from './model-payments.ts';
import type { NamedPurchases, Question } from './names.ts';
import { OTHER, type Place } from './places.ts';

/** How often an answer is asked for with another authorization; each is sent as often as any. */
const ASKED_MAX = 3;
/** Names that are tried once their time is over. */
const REUSED_MAX = 10;

/** Who buys, whatever the name. */
export interface Buyers {
  readonly accounts: readonly Account[];
  newPurchase(place: Place, account: Account, question: Question, hasAll: boolean): Purchase;
  /** @param tries those made before */
  send(purchase: Purchase, tries: number, also?: (answer: Answer) => void): void;
  buyNow(purchase: Purchase, invariant: string, also?: (answer: Answer) => void): void;
  salesOf(purchase: Purchase): readonly SaleRow[];
  isRich(account: Account): boolean;
  isShort(answer: Answer): boolean;
}

export class AskedAgain {
  readonly #outside: Outside;
  readonly #chance: Chance;
  readonly #names: NamedPurchases;
  readonly #buyers: Buyers;

  constructor(outside: Outside, chance: Chance, names: NamedPurchases, buyers: Buyers) {
    this.#outside = outside;
    this.#chance = chance;
    this.#names = names;
    this.#buyers = buyers;
  }

  /** Asks under the same names with other authorizations, at once and later; at times for something else, or as another payer. */
  buyAgain(question: Question): void {
    const chance = this.#chance;
    const { world } = this.#outside;
    for (let i = chance.below(ASKED_MAX); i >= 0; i--) {
      world.after(chance.pick([0, 20, 2_000, 20_000, 180_000]) * chance.unit(), () => {
        this.#buyers.send(this.#asking(question), 1);
      });
    }
    if (!chance.is(0.2)) return;
    const { names, order } = question;
    const account = chance.pick(this.#buyers.accounts);
    // Of an idempotency key each payer has his own.
    const other =
      chance.is(0.5) && names.key === undefined && account !== question.account
        ? { ...question, account }
        : {
            ...question,
            ...(order === undefined ? { route: 'search' as const, url: OTHER.url } : { order: OTHER.order }),
          };
    const asked = this.#names.ask(names, other);
    world.after(chance.pick([0, 2_000, 60_000]) * chance.unit(), () => this.#buyers.send(this.#asking(asked), 1));
  }

  /** Another authorization for a question. @param hasAll it has all names of the question */
  #asking(question: Question, hasAll = false): Purchase {
    const { world } = this.#outside;
    const purchase = this.#buyers.newPurchase(question.route as Place, question.account, question, hasAll);
    world.count('authorizations under known names');
    world.note(`new ${purchase.name} ${hexOfKey(purchase.key)}, as ${question.purchases[0]?.name}`);
    return purchase;
  }

  /** Every name gives its kept answer, or buys; those of a dead end do neither. */
  askNamed(): void {
    for (const names of this.#names.all) {
      const { questions } = names;
      const holders = questions.filter((one) => this.#names.keptSale(one) !== undefined);
      const deadEnd = this.#names.deadEndOf(names);
      if (deadEnd !== undefined) {
        if (deadEnd.isKept && holders.length === 0) this.#bePending(deadEnd.purchase);
        continue;
      }
      const question = holders[0] ?? questions[0];
      // Of two names each may belong to another question.
      if (question === undefined || holders.length > 1 || !this.#buyers.isRich(question.account)) continue;
      const other = questions.find((one) => one !== question);
      const ask = (): void => {
        if (other !== undefined && this.#names.keptSale(question) !== undefined) this.#beRefused(other);
      };
      const isKept = holders.length > 0;
      this.#buyers.buyNow(
        this.#asking(question, true),
        isKept ? 'N4 a kept answer is given' : 'N4 a free name buys',
        ask,
      );
    }
  }

  /** Ten minutes later every identifier buys again. The job of an idempotency key is shown for a day. */
  reuseNames(): void {
    const { world } = this.#outside;
    for (const { key, questions } of this.#names.all.slice(-REUSED_MAX)) {
      const [question] = questions;
      if (question === undefined || key !== undefined || !this.#buyers.isRich(question.account)) continue;
      const purchase = this.#asking(question);
      this.#buyers.buyNow(purchase, 'N5 no identifier is held for ever', (answer) => {
        const isSold = this.#buyers.salesOf(purchase).length === 1;
        if (!this.#buyers.isShort(answer))
          world.judge('N5 no answer is kept for ever', isSold, () => `${purchase.name}: ${answer.status}`);
      });
    }
  }

  /** Asks under the names of a purchase that ended as dead. */
  #bePending(deadEnd: Purchase): void {
    const { world } = this.#outside;
    const purchase = this.#asking(this.#names.questionOf(deadEnd) as Question, true);
    this.#buyers.send(purchase, TRIES_MAX, (answer) => {
      const said = `${answer.status} ${codeOf(answer)}`;
      const detail = (): string => `${purchase.name}: ${said}, and ${deadEnd.name} ended as dead`;
      world.judge('N6 a dead end keeps its names', codeOf(answer) === 'SETTLEMENT_PENDING', detail);
    });
  }

  /** Asks for something else under the names of a kept answer. */
  #beRefused(other: Question): void {
    const { world } = this.#outside;
    const purchase = this.#asking(other, true);
    this.#buyers.send(purchase, TRIES_MAX, (answer) => {
      const detail = (): string => `${purchase.name}: ${answer.status} ${codeOf(answer)}`;
      world.judge('N3 one question for a name', codeOf(answer).endsWith('_CONFLICT'), detail);
    });
  }

  /** Of a new authorization for a question. @param hasAll all names of the question */
  namesFor({ names }: Question, hasAll: boolean): Pick<Purchase, 'identifier' | 'idempotencyKey'> {
    const { identifier, key: idempotencyKey } = names;
    const isWhole = hasAll || identifier === undefined || idempotencyKey === undefined;
    const left = isWhole ? 'both' : this.#chance.pick(['identifier', 'key', 'both', 'both'] as const);
    return {
      identifier: left === 'key' ? undefined : identifier,
      idempotencyKey: left === 'identifier' ? undefined : idempotencyKey,
    };
  }
}
