/**
 * The oracle: everything that the server has told its clients, over all its processes, and so everything that must still
 * hold after a kill. A contradiction is a {@link BrokenPromise}; the harness finds some of them when an answer arrives, the
 * audit finds the others after the next start.
 */
import type { Hex } from '../support/wallet.ts';
import type { ServerProcess } from './server-process.ts';

export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
}

/** A client got the whole answer of a sale: from which process, and when (milliseconds since 1970). */
export interface Reception {
  readonly server: ServerProcess;
  readonly atMs: number;
}

/** One payment identifier and the authorizations that were signed for it; one of them at most may be charged. */
export interface Identifier {
  readonly id: string;
  readonly bornMs: number;
  /** Cycle in which it was first used. */
  readonly cycle: number;
  readonly authorizations: Authorization[];
  /** The charged one, once the server has said so. */
  charged: Authorization | undefined;
  /** The answer, once a client got it whole: every later one must be the same. */
  text: string | undefined;
}

/** One signed authorization and its outcome so far. */
export interface Authorization {
  readonly nonce: Hex;
  readonly payer: Hex;
  readonly valueAtomic: number;
  readonly validBeforeSeconds: number;
  /** PAYMENT-SIGNATURE. */
  readonly header: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Operation id, as the books name it. */
  readonly operation: string;
  /** The hash of its transfer: it follows from the authorization. */
  readonly transaction: string;
  /** undefined: without a payment identifier. */
  readonly identifier: Identifier | undefined;
  /** Cycle in which it was signed. */
  readonly cycle: number;
  /** Requests made with it, and how many of them have no answer yet. */
  sentCount: number;
  inFlightCount: number;
  /** Requests that the end of a server left without an answer, but for those that the client itself cut. */
  unansweredCount: number;
  /** Answers 200 or 201: at most one, ever. */
  successCount: number;
  /** The receipt of the success, or of a 409 that showed it. */
  receipt: string | undefined;
  /** The server said that it is settled, which is final. */
  isSettled: boolean;
  /** `X-Request-Id` of the request that was sold, where the client saw it. */
  requestId: string | undefined;
  /** Whole answers that clients got of its sale; an identifier may give several. */
  readonly receptions: Reception[];
  /** Requests of its sale whose connection the client itself cut. */
  cutCount: number;
  /** When the client cut the last of them, milliseconds since 1970; undefined = none. */
  cutAtMs: number | undefined;
}

/** One webhook that was sent. `sentAt` and `receivedAt` are moments of the oracle, not times. */
export interface SentWebhook {
  readonly label: string;
  readonly bytes: Buffer;
  readonly contentType: string;
  readonly sentAt: number;
  /** Moment of the acknowledgement and the event's id; undefined: no answer came, so the event may exist or not. */
  receivedAt: number | undefined;
  eventId: string | undefined;
  /** The server refused it, so no event may exist. */
  isRefused: boolean;
}

export interface Callback {
  readonly id: string;
  readonly readToken: string;
  readonly expiresAt: string;
  readonly cycle: number;
  readonly sent: SentWebhook[];
  /** Ids of the events that readers have seen, in order; none of them may disappear. */
  shown: readonly string[];
  /** A deletion was sent; only its acknowledgement tells that it happened. */
  isDeletionSent: boolean;
  isDeleted: boolean;
}

/** How long the server must remember a used authorization after its window; a little under the contract's ten minutes. */
const REMEMBERED_SECONDS = 590;
/** The server refuses an authorization that ends sooner. */
const RUNWAY_SECONDS = 10;
const EXPIRY_MARGIN_MS = 10_000;

export class Oracle {
  readonly authorizations: Authorization[] = [];
  readonly identifiers: Identifier[] = [];
  readonly callbacks: Callback[] = [];
  #moment = 0;

  /** A number greater than every one before it: orders what happened without measuring time. */
  nextMoment(): number {
    return ++this.#moment;
  }

  add(authorization: Authorization): void {
    this.authorizations.push(authorization);
    authorization.identifier?.authorizations.push(authorization);
  }

  /**
   * A request with the authorization was answered 200 or 201.
   * @returns the charged authorization; another one when an identifier gave a kept answer
   * @throws BrokenPromise when the authorization bought an answer before, or the answer belongs to another purchase
   */
  recordSuccess(authorization: Authorization, receipt: string | null): Authorization {
    const charged = this.#chargedBy(authorization, receipt);
    if (charged === authorization) {
      authorization.successCount++;
      if (authorization.successCount > 1) {
        throw new BrokenPromise(`${nameOf(authorization)} was answered ${authorization.successCount} times`);
      }
    }
    this.recordSettled(charged, receipt);
    return charged;
  }

  #chargedBy(authorization: Authorization, receipt: string | null): Authorization {
    const { identifier } = authorization;
    if (identifier === undefined || receipt === null) return authorization;
    const { transaction } = transactionOf(receipt);
    const charged = identifier.authorizations.find((one) => one.transaction === transaction);
    if (charged === undefined || !isSamePurchase(charged, authorization)) {
      throw new BrokenPromise(`${nameOf(authorization)} was given the answer of another purchase: ${transaction}`);
    }
    return charged;
  }

  /** The whole text of an answer under an identifier. @throws BrokenPromise when it was another one before */
  recordText(identifier: Identifier, text: string): void {
    if (identifier.text !== undefined && identifier.text !== text) {
      throw new BrokenPromise(`identifier ${identifier.id} has two answers: ${identifier.text} and ${text}`);
    }
    identifier.text = text;
  }

  /** The server says that it is settled, which is final. @throws BrokenPromise when its identifier was charged already */
  noteSettled(authorization: Authorization): void {
    authorization.isSettled = true;
    const { identifier } = authorization;
    if (identifier === undefined) return;
    identifier.charged ??= authorization;
    if (identifier.charged !== authorization) {
      throw new BrokenPromise(
        `identifier ${identifier.id} is charged twice: ${nameOf(identifier.charged)} and ${nameOf(authorization)}`,
      );
    }
  }

  /** The server said that the authorization is settled. @throws BrokenPromise without a receipt, or with a second one */
  recordSettled(authorization: Authorization, receipt: string | null): void {
    if (receipt === null) throw new BrokenPromise(`${nameOf(authorization)} has no PAYMENT-RESPONSE`);
    if (authorization.receipt !== undefined && authorization.receipt !== receipt) {
      throw new BrokenPromise(`${nameOf(authorization)} has two receipts: ${authorization.receipt} and ${receipt}`);
    }
    authorization.receipt = receipt;
    this.noteSettled(authorization);
  }
}

export const nameOf = ({ method, path, nonce }: Authorization): string =>
  `the authorization ${nonce} (${method} ${path})`;

/** The same question of the same payer. */
export const isSamePurchase = (a: Authorization, b: Authorization): boolean =>
  a.payer === b.payer && a.method === b.method && a.path === b.path;

/** Little enough that no answer's ten minutes can be over, even when it had settled at once. */
const ASKED_WITHIN_MS = 480_000;

/** What was charged under it must still be answered. */
export const isAnswering = ({ bornMs }: Identifier): boolean => Date.now() - bornMs < ASKED_WITHIN_MS;

const nowSeconds = (): number => Date.now() / 1000;

/** The server would still accept its window. */
export const isUsable = ({ validBeforeSeconds }: Authorization): boolean =>
  validBeforeSeconds - nowSeconds() > RUNWAY_SECONDS;

/** The server must still remember it. */
export const isRemembered = ({ validBeforeSeconds }: Authorization): boolean =>
  nowSeconds() - validBeforeSeconds < REMEMBERED_SECONDS;

/** It has time left, and no client has asked to delete it. */
export const isAlive = ({ expiresAt, isDeletionSent }: Callback): boolean =>
  !isDeletionSent && Date.parse(expiresAt) - Date.now() > EXPIRY_MARGIN_MS;

/** The transaction that a receipt names. */
export function transactionOf(receipt: string): { readonly success: boolean; readonly transaction: string } {
  return JSON.parse(Buffer.from(receipt, 'base64').toString('utf8')) as { success: boolean; transaction: string };
}
