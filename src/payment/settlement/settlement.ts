/**
 * The port through which money moves, with every outcome it can have (decisions §4, x402-v2 §5.5). Adapters never throw from
 * these methods and never read meaning from message text: an answer they cannot classify is `unknown` once a settlement may
 * have been sent, and `unavailable` before.
 */
import type { PaymentOrder } from '../protocol/order.ts';

/** A call without a success. `detail` says why, for the log only; it holds no secret and never reaches the client. */
interface Failed {
  readonly detail: string;
}

export interface Unavailable extends Failed {
  readonly kind: 'unavailable';
  /** The failure, where it is a bug and no outage that nothing was sent. */
  readonly bug?: Error;
  /** Seconds that the facilitator asked us to wait, or undefined. */
  readonly retryAfterSeconds?: number | undefined;
}

/** `retryAfterSeconds` after which a request in flight, a turn or a probe of the facilitator has usually ended. */
export const SOON_SECONDS = 1;

export const unavailable = (detail: string, retryAfterSeconds?: number): Unavailable => ({
  kind: 'unavailable',
  detail,
  retryAfterSeconds,
});

export type VerifyOutcome =
  | { readonly kind: 'valid' }
  /** `reason` as the settlement gave it: an open vocabulary. */
  | ({ readonly kind: 'invalid'; readonly reason: string | undefined } & Failed)
  | Unavailable;

export type SettleOutcome =
  /** `transaction`: 0x and 64 lower-case hex digits. */
  | { readonly kind: 'settled'; readonly transaction: string }
  /** Certain: this attempt moved no money and will not move any. */
  | ({ readonly kind: 'refused'; readonly reason: string | undefined; readonly transaction: string } & Failed)
  /**
   * Money may have moved. `transaction` is '' when no hash is known. `isUsed`: it says that the authorization was used, by an
   * attempt before this one or by a third party.
   */
  | ({ readonly kind: 'unknown'; readonly transaction: string; readonly isUsed?: true } & Failed)
  /** Certain: nothing was sent, or the facilitator rejected us as a caller. */
  | Unavailable;

export type SettlementReadiness =
  | { readonly kind: 'ready' }
  /** Too many calls are in flight: requests with a payment get 503, offers continue. */
  | { readonly kind: 'busy' }
  /** It cannot be reached: offers stop too, so that no client signs in vain. */
  | { readonly kind: 'unreachable' };

export interface Settlement {
  /** False: the server refuses signatures other than 65 bytes without calling {@link Settlement.verify}. */
  readonly takesContractSignatures: boolean;
  /** Synchronous: read before every offer and every reservation. */
  readiness(): SettlementReadiness;
  verify(order: PaymentOrder): Promise<VerifyOutcome>;
  /** Safe to repeat with the same order: an authorization moves money at most once. */
  settle(order: PaymentOrder): Promise<SettleOutcome>;
}
