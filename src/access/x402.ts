/**
 * The way in by payment. It reads the `PAYMENT-SIGNATURE` header, calls the checkout, and turns its results into refusals,
 * headers and receipts (decisions §4, x402-v2 §6). The checkout alone decides about the money.
 */
import type { MaybePromise } from '../base/maybe-promise.ts';
import { memoizeRecent } from '../base/memoize-recent.ts';
import { type Access, type Admission, type Admitter, type Mount, type WayIn, waysIn } from '../http/access.ts';
import { AfterSettlement, Answer, type AnswerBody, type HeaderRecord, Reply } from '../http/answers.ts';
import type { Contract } from '../http/contract.ts';
import {
  type ErrorCode,
  OVERLOADED,
  RATE_LIMIT_EXCEEDED,
  type Refusal,
  type RefusalExtras,
  refuse,
} from '../http/errors.ts';
import { RepeatedRefusal } from '../http/hot/repeated-refusal.ts';
import { MEMOIZED_SEARCH_LENGTH_MAX } from '../http/operation.ts';
import type { ReadBody, RequestView } from '../http/request-view.ts';
import type { Books, SaleFacts } from '../payment/books.ts';
import type { Checkout } from '../payment/checkout.ts';
import type { PriceKey } from '../payment/prices.ts';
import { decodePayment, type PaymentFault, type PaymentPayload } from '../payment/protocol/envelope.ts';
import type { PaymentIdentifier } from '../payment/protocol/identifier.ts';
import { type Address, BASE, type Network, type NetworkId } from '../payment/protocol/network.ts';
import { failureHeader, receiptHeader } from '../payment/protocol/order.ts';
import { type ChallengeError, V1_NOT_SUPPORTED } from '../payment/protocol/reasons.ts';
import type { Offer } from '../payment/protocol/requirements.ts';
import type { Begun, Purchase, PurchaseName, PurchaseNames, Resale, Settled } from '../payment/purchase.ts';
import type { KeptAnswer } from '../payment/reservations.ts';
import { idempotencyConflict } from './idempotency-conflict.ts';
import { paymentHeader } from './payment-header.ts';
import type { PaymentMeter, PaymentMeters } from './payment-meter.ts';
import { offerOf, type Seller } from './payment-offer.ts';
import { alreadyUsed, conflict, crowded, noRoom, pending, unavailable, underWay } from './payment-refusals.ts';
import {
  PAYMENT_ALREADY_USED,
  PAYMENT_IDENTIFIER_CONFLICT,
  PAYMENT_INVALID,
  PAYMENT_NOT_SETTLED,
  PAYMENT_REQUIRED,
  paymentDocumentation,
  SETTLEMENT_PENDING,
  SETTLEMENT_UNAVAILABLE,
} from './x402-contract.ts';

/** The services that a module needs for paid operations. */
export interface PaidServices {
  readonly paid: {
    readonly checkout: Checkout;
    readonly seller: Seller;
    readonly meters: PaymentMeters;
    readonly books: Books;
    /** True: the books keep the query of what these services sell (SALES_PARAMETERS). */
    readonly keepsParameters?: boolean;
  };
}

/** The principal of a request with a verified payment. @typeParam D draft of the operation's answers, if they have one */
export interface Payer<D = unknown> {
  readonly payer: Address;
  /** The draft of an `AfterSettlement` that was sold before and whose answer may never have been created. */
  readonly draft?: D;
  /** True: the request's idempotency key names the draft's purchase, so a job that the key already has is the answer. */
  readonly isNamedByKey?: boolean;
  /** Whether the draft's answer, with its secrets, has been ready to be sent since. */
  readonly isAnswered?: () => Promise<boolean>;
}

/** Maximum of memoized offers per operation, a few kilobytes each. */
const OFFER_COUNT_MAX = 256;

/** Asks each request for one payment. */
class PaymentAccess<D = unknown> implements Access<Payer<D>, PaidServices> {
  readonly priceUsdc: string;
  readonly #key: PriceKey | undefined;
  readonly errors: readonly ErrorCode[] = [
    PAYMENT_REQUIRED,
    PAYMENT_INVALID,
    PAYMENT_NOT_SETTLED,
    PAYMENT_ALREADY_USED,
    PAYMENT_IDENTIFIER_CONFLICT,
    RATE_LIMIT_EXCEEDED,
    OVERLOADED,
    SETTLEMENT_PENDING,
    SETTLEMENT_UNAVAILABLE,
  ];
  readonly isPrivate = true;
  readonly documentation;

  constructor(priceUsdc: string, key: PriceKey | undefined, network: Network) {
    this.priceUsdc = priceUsdc;
    this.#key = key;
    this.documentation = paymentDocumentation(priceUsdc, network);
  }

  /** This way in with a seller's price and network. */
  soldBy({ network, prices }: Pick<Seller, 'network' | 'prices'>): PaymentAccess<D> {
    const set = this.#key === undefined ? undefined : prices[this.#key];
    return new PaymentAccess(set ?? this.priceUsdc, this.#key, network);
  }

  boundTo({ paid }: PaidServices): PaymentAccess<D> {
    return this.soldBy(paid.seller);
  }

  readonly open = ({ paid }: PaidServices, contract: Contract, mount: Mount): Admitter<Payer<D>> => {
    const labels = { operation: contract.operation, ...mount.labels };
    let offer: Offer | undefined;
    const offered = (): Offer => {
      offer ??= offerOf(contract, this.priceUsdc, paid.seller, mount);
      return offer;
    };
    return new PaymentAdmitter(paid, offered, this.priceUsdc, contract.operation, paid.meters.open(labels));
  };
}

/**
 * @param priceUsdc USDC as decimal text: `paid('0.02', 'search')`
 * @param key the name by which the operator sets another price; without it the price is fixed
 */
export const paid = <D = undefined>(priceUsdc: `${number}`, key?: PriceKey): Access<Payer<D>, PaidServices> =>
  new PaymentAccess(priceUsdc, key, BASE);

const paymentIn = (access: readonly WayIn[]): PaymentAccess | undefined =>
  waysIn(access).find((way): way is PaymentAccess & Access => way instanceof PaymentAccess);

/** Price of an operation in USDC, or undefined for one that does not accept payments. For a route: the declared price. */
export const priceOf = (access: readonly WayIn[]): string | undefined => paymentIn(access)?.priceUsdc;

/** Price of a route in USDC where `seller` sells it. */
export const priceAt = (access: readonly WayIn[], seller: Pick<Seller, 'network' | 'prices'>): string | undefined =>
  paymentIn(access)?.soldBy(seller).priceUsdc;

/** What is stored for a client that asks again: an answer as it was sent, or the draft of an answer that is created later. */
type Content<D = unknown> =
  | { readonly body: string; readonly headers?: HeaderRecord; readonly status?: number }
  | {
      readonly draft: D;
      /** True: under an idempotency key, once the answer was ready to be sent; only that one has the secrets. */
      readonly isAnswered?: boolean;
    };

function contentOf(answer: AnswerBody | AfterSettlement<unknown>): string {
  if (answer instanceof AfterSettlement) return JSON.stringify({ draft: answer.draft } satisfies Content);
  if (!(answer instanceof Reply)) {
    return JSON.stringify({ body: typeof answer === 'string' ? answer : answer.text } satisfies Content);
  }
  const { body, headers, status } = answer;
  if (typeof body !== 'string') throw new Error('an answer of bytes cannot be kept for a payment identifier');
  return JSON.stringify({ body, headers, status });
}

/** Method, path and query of a request, without its body. */
const requestLineOf = ({ method, path, search }: RequestView): string => `${method} ${path}${search}`;

const NO_NAMES: PurchaseNames = [];

/** Names include the network, because the state may have been used with another network, whose receipts mean nothing here. */
function namesOf(
  network: NetworkId,
  { identifier: id, authorization }: PaymentPayload,
  request: RequestView,
  { bytes, purchaseKey }: ReadBody,
): PurchaseNames {
  if (id === undefined && purchaseKey === undefined) return NO_NAMES;
  const body = bytes === undefined ? '' : Buffer.from(bytes).toString('base64');
  const names: PurchaseName[] = [];
  if (id !== undefined) names.push({ id, question: `${network} ${requestLineOf(request)}\n${body}`, isByKey: false });
  if (purchaseKey !== undefined) {
    // No client can send such an identifier, so a key never collides with another name.
    const name = `${network}\n${authorization.from.toLowerCase()}\n${purchaseKey}` as PaymentIdentifier;
    names.push({ id: name, question: body, isByKey: true });
  }
  return names;
}

class PaymentAdmitter<D> implements Admitter<Payer<D>> {
  readonly #checkout: Checkout;
  readonly #books: Books;
  readonly #keepsParameters: boolean;
  readonly #operation: string;
  /** Made at first use: making the offers of all routes would take a sixth of the start. */
  readonly #offer: () => Offer;
  readonly #network: NetworkId;
  readonly #meter: PaymentMeter;
  readonly #offerMessage: string;
  /** The refusal with the offer, memoized by query text. */
  readonly #offerFor: (search: string) => Refusal;

  constructor(
    { checkout, seller, books, keepsParameters = false }: PaidServices['paid'],
    offer: () => Offer,
    priceUsdc: string,
    operation: string,
    meter: PaymentMeter,
  ) {
    this.#checkout = checkout;
    this.#books = books;
    this.#keepsParameters = keepsParameters;
    this.#operation = operation;
    this.#offer = offer;
    this.#network = seller.network.id;
    this.#meter = meter;
    this.#offerMessage = `This answer costs ${priceUsdc} USDC; pay as the PAYMENT-REQUIRED header describes (x402 v2).`;
    const { head } = refuse(PAYMENT_REQUIRED, this.#offerMessage);
    const offerFor = (search: string): Refusal => {
      const { header, members } = offer().challenge(search);
      const extras = { headers: { 'payment-required': header }, members };
      return new RepeatedRefusal(PAYMENT_REQUIRED, this.#offerMessage, extras, head);
    };
    this.#offerFor = memoizeRecent(offerFor, OFFER_COUNT_MAX, MEMOIZED_SEARCH_LENGTH_MAX);
  }

  admit(request: RequestView, _: object, read: ReadBody): MaybePromise<Admission<Payer<D>> | Refusal | Answer> {
    const header = paymentHeader(request);
    if (header === undefined) return this.#unpaid(request);
    const decoded = decodePayment(header, this.#network);
    if (!decoded.ok) return this.#admitted(request, { kind: 'invalid', fault: decoded, detail: decoded.error });
    const names = namesOf(this.#network, decoded.payment, request, read);
    const begun = this.#checkout.begin(decoded.payment, this.#offer(), request, names, read);
    if (!(begun instanceof Promise)) return this.#admitted(request, begun);
    return begun.then(
      (later) => this.#admitted(request, later),
      (failure) => {
        this.#meter.counts.failed++;
        throw failure;
      },
    );
  }

  #unpaid(request: RequestView): Refusal {
    const { counts } = this.#meter;
    const fault = this.#checkout.offerFault();
    if (fault !== undefined) {
      counts.unavailable++;
      return unavailable(fault);
    }
    counts.offered++;
    if (request.header('x-payment') === null) return this.#offerFor(request.search);
    return this.#refuseWithOffer(request, PAYMENT_REQUIRED, this.#offerMessage, { error: V1_NOT_SUPPORTED });
  }

  /** Refuses with the offer, so that the client can pay. @param more further members of the offer and the refusal */
  #refuseWithOffer(
    { search }: RequestView,
    code: ErrorCode,
    message: string,
    { error, headers, detail }: Pick<RefusalExtras, 'headers' | 'detail'> & { readonly error?: ChallengeError },
  ): Refusal {
    const { header, members } = this.#offer().challenge(search, error);
    return refuse(code, message, { headers: { 'payment-required': header, ...headers }, members, detail });
  }

  #invalid({ error, message }: PaymentFault, request: RequestView, detail: string): Refusal {
    return this.#refuseWithOffer(request, PAYMENT_INVALID, message, { error, detail });
  }

  #admitted(request: RequestView, begun: Begun): Admission<Payer<D>> | Refusal | Answer {
    this.#meter.countBegun(begun);
    switch (begun.kind) {
      case 'purchase':
        return this.#admission(request, begun.purchase);
      case 'resale':
        return this.#resold(begun.resale);
      case 'invalid':
        return this.#invalid(begun.fault, request, begun.detail);
      case 'used':
        return alreadyUsed(this.#network, begun.status, begun.payer);
      case 'crowded':
        return crowded();
      case 'under-way':
        return underWay(this.#network, begun.payer);
      case 'conflict':
        return begun.name.isByKey ? idempotencyConflict() : conflict();
      case 'no-room':
        return noRoom();
      case 'unavailable':
        return unavailable(begun);
      default:
        return begun satisfies never;
    }
  }

  #admission(request: RequestView, purchase: Purchase): Admission<Payer<D>> {
    const { reservation, order, names } = purchase;
    return {
      principal: { payer: order.payer },
      settle: async (answer) => {
        const settling = this.#checkout.settle(purchase, this.#saleOf(request), () => contentOf(answer));
        return this.#receiptOf(request, await this.#meter.countSettled(settling));
      },
      release: () => {
        this.#meter.counts.released++;
        return this.#checkout.release(purchase);
      },
      ...this.#keeping(names, reservation),
      delivered: this.#deliveredOf(reservation),
    };
  }

  /** Under an idempotency key the draft stays, marked: only the first answer has the secrets. */
  #keeping(names: PurchaseNames, sold: Pick<KeptAnswer, 'serial'>): Pick<Admission, 'created'> | undefined {
    if (names.length === 0) return undefined;
    return {
      created: async (body, draft) => {
        const marked = JSON.stringify({ draft, isAnswered: true } satisfies Content);
        const keep = ({ id, isByKey }: PurchaseName): Promise<void> =>
          this.#checkout.keep(id, sold, isByKey ? marked : contentOf(body));
        await Promise.all(names.map(keep));
      },
    };
  }

  /** Sends again an answer that was paid for before; the route's own handler first turns a draft into an answer. */
  #resold(resale: Resale): Admission<Payer<D>> | Answer {
    const { kept, name, names, payer, content } = resale;
    const sold = JSON.parse(content) as Content<D>;
    const receipt = { 'payment-response': receiptHeader(this.#network, payer, kept.transaction) };
    const delivered = this.#deliveredOf(kept);
    if ('draft' in sold) {
      return {
        principal: {
          payer,
          draft: sold.draft,
          isNamedByKey: name.isByKey,
          isAnswered: () => this.#isAnswered(resale),
        },
        settle: () => receipt,
        ...this.#keeping(names, kept),
        delivered,
      };
    }
    const { body, headers, status } = sold;
    return new Answer(headers === undefined ? body : new Reply(body, headers, status), receipt, delivered);
  }

  /** Reads again: a request under the same name may have been answered while this one waited. */
  async #isAnswered(resale: Resale): Promise<boolean> {
    const content = await this.#checkout.contentOf(resale);
    return content === undefined || (JSON.parse(content) as { readonly isAnswered?: boolean }).isAnswered === true;
  }

  /** A separate function, so that its closure holds no part of the request. */
  #deliveredOf({ serial }: Pick<KeptAnswer, 'serial'>): () => void {
    const books = this.#books;
    return () => books.markDelivered(serial);
  }

  /** What the books record about the request. */
  #saleOf(request: RequestView): SaleFacts {
    return {
      operation: this.#operation,
      requestId: request.requestId,
      question: this.#books.digestOf(requestLineOf(request)),
      parameters: this.#keepsParameters ? request.search : null,
    };
  }

  #receiptOf(request: RequestView, settled: Settled): HeaderRecord | Refusal {
    switch (settled.kind) {
      case 'settled':
        return { 'payment-response': receiptHeader(this.#network, settled.payer, settled.transaction) };
      case 'refused': {
        const { payer, reason, transaction, detail } = settled;
        const message = `The payment was refused at settlement (${reason}); nothing was charged.`;
        const headers = { 'payment-response': failureHeader(this.#network, payer, reason, transaction) };
        return this.#refuseWithOffer(request, PAYMENT_NOT_SETTLED, message, { error: reason, headers, detail });
      }
      case 'abandoned':
        return this.#refuseWithOffer(request, PAYMENT_NOT_SETTLED, 'The client disconnected; nothing was charged.', {
          detail: 'the client disconnected',
        });
      case 'lapsed':
        return this.#invalid(settled.fault, request, settled.fault.error);
      case 'pending':
        return pending(this.#network, settled);
      case 'unavailable':
        return unavailable(settled);
      default:
        return settled satisfies never;
    }
  }
}
