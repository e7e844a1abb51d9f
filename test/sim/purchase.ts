/** One authorization, what the world knows of it, and what is said about it: the truth that answers are measured by. */
import type { ReservationKey } from '../../src/payment/protocol/order.ts';
import type { Payer } from './signer.ts';

export type RouteName = 'search' | 'company' | 'signals' | 'create' | 'retry' | 'resolve';

export interface Account {
  readonly payer: Payer;
  balanceAtomic: bigint;
}

/** Purchases of one payer with one body, each under some of the same names. */
export interface Family {
  readonly identifiers: readonly string[];
  readonly idempotencyKeys: readonly string[];
  readonly members: Purchase[];
}

export class Purchase {
  readonly number: number;
  readonly account: Account;
  readonly route: RouteName;
  readonly key: ReservationKey;
  readonly nonce: string;
  readonly amountAtomic: bigint;
  readonly validBeforeSeconds: number;
  /** `good`, or `bad`: marked by somebody else; `contract` and `bad-contract`: longer ones that only the chain can judge. */
  readonly signature: 'good' | 'bad' | 'contract' | 'bad-contract';
  readonly header: string;
  /** Body of its request; undefined where the route has none. */
  readonly order: string | undefined;
  /** Its payment identifier, so its answer can be asked for again. */
  readonly identifier: string | undefined;
  /** Its idempotency key, as another name of it; of retries only. */
  readonly idempotencyKey: string | undefined;
  /** undefined: it shares its names with nobody. */
  readonly family: Family | undefined;
  /** Another authorization with the same names, whose answer this one asks for. */
  readonly again: Purchase | undefined;

  /** The id of the retry or resolve that it bought. */
  boughtId: string | undefined;
  /** Answers 200 or 201 that the server gave, over all its lives. */
  successCount = 0;
  /** The hash of its transfer; '' = no money moved. */
  moved = '';
  /** Messages and transactions on their way that may still move the money, each with when it was asked for. */
  readonly underWay = new Set<{ readonly askedAtMs: number }>();
  /** A facilitator of ours said a success that holds against every check. */
  hasSuccessBeenSaid = false;
  /** The facilitator lied about it: what it cost is its own affair. */
  isLiedAbout = false;
  /** The facilitator has called it valid without a look at it. */
  isVouchedFor = false;
  /** Somebody else submitted it. */
  isFrontRun = false;
  /** Some call for it ended without a word that is final. */
  hasBeenUnknown = false;
  /** A process died, or the disk failed, while it was on its way. */
  hasBeenCut = false;
  /** Settlement calls that were asked for up to then are refused, however late they come. */
  refusedAtMs = -1;
  /** The facilitator refuses it until then, and thinks better of it afterwards. */
  suspectUntilMs = -1;
  /** The one body that may be sent for it. */
  body: string | undefined;
  /** Its client was last told that nothing is charged, and has not sent it since. */
  isToldFree = false;
  /** Its transaction is broadcast, and no block ever has it. */
  isNeverMined = false;
  /** A transaction that is broadcast and not final. */
  pending: { readonly hash: string; state: 'waiting' | 'never' | 'reverted' } | undefined;
  /** Requests with it that wait for an answer. */
  outstandingCount = 0;

  constructor(
    fields: Pick<
      Purchase,
      | 'number'
      | 'account'
      | 'route'
      | 'key'
      | 'nonce'
      | 'amountAtomic'
      | 'validBeforeSeconds'
      | 'signature'
      | 'header'
      | 'order'
      | 'identifier'
      | 'idempotencyKey'
      | 'family'
      | 'again'
    >,
  ) {
    this.number = fields.number;
    this.account = fields.account;
    this.route = fields.route;
    this.key = fields.key;
    this.nonce = fields.nonce;
    this.amountAtomic = fields.amountAtomic;
    this.validBeforeSeconds = fields.validBeforeSeconds;
    this.signature = fields.signature;
    this.header = fields.header;
    this.order = fields.order;
    this.identifier = fields.identifier;
    this.idempotencyKey = fields.idempotencyKey;
    this.family = fields.family;
    this.again = fields.again;
  }

  get name(): string {
    return `p${this.number}`;
  }

  /** Its answer can be asked for again. */
  get isNamed(): boolean {
    return this.identifier !== undefined || this.idempotencyKey !== undefined;
  }

  /** Others that may be bought only once with it. */
  namesakes(): readonly Purchase[] {
    const { identifier, idempotencyKey } = this;
    return (this.family?.members ?? []).filter(
      (one) =>
        one !== this &&
        ((identifier !== undefined && one.identifier === identifier) ||
          (idempotencyKey !== undefined && one.idempotencyKey === idempotencyKey)),
    );
  }

  /** Money has moved, or something is on its way that may move it. */
  mayBeCharged(): boolean {
    if (this.moved !== '') return true;
    for (const { askedAtMs } of this.underWay) if (askedAtMs > this.refusedAtMs) return true;
    return false;
  }

  /** Its money is the business of nobody's lie and nobody's race. */
  isHonest(): boolean {
    return !this.isLiedAbout && !this.isFrontRun;
  }
}
