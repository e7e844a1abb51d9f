/**
 * What the server has said to its clients over all its lives, and what follows from it. A promise that it breaks is a
 * {@link BrokenPromise}: some are seen as soon as an answer comes in, the others when the next life is audited.
 */
import type { Hex } from '../support/wallet.ts';

export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
}

/** One signed authorization, and what became of it. */
export interface Authorization {
  readonly nonce: Hex;
  readonly payer: Hex;
  readonly valueAtomic: number;
  readonly validBeforeSeconds: number;
  /** PAYMENT-SIGNATURE. */
  readonly header: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Cycle in which it was signed. */
  readonly cycle: number;
  /** Requests made with it, and those of them without an answer so far. */
  sentCount: number;
  inFlightCount: number;
  /** Answers 200 or 201: at most one, ever. */
  successCount: number;
  /** The receipt of the success, or of a 409 that showed it. */
  receipt: string | undefined;
  /** Settled, as the server itself said; it stays so. */
  isSettled: boolean;
}

/** One webhook that was sent. Places in time are counted, not measured. */
export interface Sent {
  readonly label: string;
  readonly bytes: Buffer;
  readonly contentType: string;
  readonly sentAt: number;
  /** When it was acknowledged, and under which id; undefined: no answer came, so it may be there or not. */
  receivedAt: number | undefined;
  eventId: string | undefined;
  /** The server refused it: it must not be there. */
  isRefused: boolean;
}

export interface Callback {
  readonly id: string;
  readonly readToken: string;
  readonly expiresAt: string;
  readonly cycle: number;
  readonly sent: Sent[];
  /** Events that a reader was shown, in order: from then on they stay. */
  shown: readonly string[];
  /** A deletion was sent; whether it took place is known when it is acknowledged. */
  isDeletionSent: boolean;
  isDeleted: boolean;
}

/** Longest stay of a used authorization that the contract names: a little less than ten minutes after its window. */
const REMEMBERED_SECONDS = 590;
/** An authorization that ends sooner is refused on arrival. */
const RUNWAY_SECONDS = 10;
const EXPIRY_MARGIN_MS = 10_000;

export class Oracle {
  readonly authorizations: Authorization[] = [];
  readonly callbacks: Callback[] = [];
  #moment = 0;

  /** The next moment: of two that were asked for, the later one is greater. */
  moment(): number {
    return ++this.#moment;
  }

  add(authorization: Authorization): void {
    this.authorizations.push(authorization);
  }

  /** Answered 200 or 201: the one time. */
  success(authorization: Authorization, receipt: string | null): void {
    authorization.successCount++;
    if (authorization.successCount > 1) {
      throw new BrokenPromise(`${nameOf(authorization)} was answered ${authorization.successCount} times`);
    }
    this.settled(authorization, receipt);
  }

  /** The server said that it is settled, with this receipt. */
  settled(authorization: Authorization, receipt: string | null): void {
    if (receipt === null) throw new BrokenPromise(`${nameOf(authorization)} has no PAYMENT-RESPONSE`);
    if (authorization.receipt !== undefined && authorization.receipt !== receipt) {
      throw new BrokenPromise(`${nameOf(authorization)} has two receipts: ${authorization.receipt} and ${receipt}`);
    }
    authorization.receipt = receipt;
    authorization.isSettled = true;
  }
}

export const nameOf = ({ method, path, nonce }: Authorization): string =>
  `the authorization ${nonce} (${method} ${path})`;

const nowSeconds = (): number => Date.now() / 1000;

/** It would still pass the check of its window. */
export const isUsable = ({ validBeforeSeconds }: Authorization): boolean =>
  validBeforeSeconds - nowSeconds() > RUNWAY_SECONDS;

/** The server still has to know about it. */
export const isRemembered = ({ validBeforeSeconds }: Authorization): boolean =>
  nowSeconds() - validBeforeSeconds < REMEMBERED_SECONDS;

/** It has some time left, and nobody has asked for its end. */
export const isAlive = ({ expiresAt, isDeletionSent }: Callback): boolean =>
  !isDeletionSent && Date.parse(expiresAt) - Date.now() > EXPIRY_MARGIN_MS;

/** The transaction that a receipt names. */
export function transactionOf(receipt: string): { readonly success: boolean; readonly transaction: string } {
  return JSON.parse(Buffer.from(receipt, 'base64').toString('utf8')) as { success: boolean; transaction: string };
}
