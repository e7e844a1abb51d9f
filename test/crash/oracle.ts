/**
 * The oracle: everything that the server has told its clients, over all its processes, and so everything that must still
 * hold after a kill. A contradiction is a {@link BrokenPromise}; the harness finds some of them when an answer arrives, the
 * audit finds the others after the next start.
 */
import type { Hex } from '../support/wallet.ts';

export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
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
  /** Cycle in which it was signed. */
  readonly cycle: number;
  /** Requests made with it, and how many of them have no answer yet. */
  sentCount: number;
  inFlightCount: number;
  /** Answers 200 or 201: at most one, ever. */
  successCount: number;
  /** The receipt of the success, or of a 409 that showed it. */
  receipt: string | undefined;
  /** The server said that it is settled, which is final. */
  isSettled: boolean;
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
  readonly callbacks: Callback[] = [];
  #moment = 0;

  /** A number greater than every one before it: orders what happened without measuring time. */
  nextMoment(): number {
    return ++this.#moment;
  }

  add(authorization: Authorization): void {
    this.authorizations.push(authorization);
  }

  /** The authorization was answered 200 or 201. @throws BrokenPromise when it is not the first time */
  recordSuccess(authorization: Authorization, receipt: string | null): void {
    authorization.successCount++;
    if (authorization.successCount > 1) {
      throw new BrokenPromise(`${nameOf(authorization)} was answered ${authorization.successCount} times`);
    }
    this.recordSettled(authorization, receipt);
  }

  /** The server said that the authorization is settled. @throws BrokenPromise without a receipt, or with a second one */
  recordSettled(authorization: Authorization, receipt: string | null): void {
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
