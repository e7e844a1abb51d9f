/**
 * The port through which money moves, with every way it can end (decisions §4, x402-v2 §5.5). Adapters never throw from
 * these methods and never read meaning from text: what they cannot place is `unknown` once a settlement may have been sent,
 * `unavailable` before.
 */
import type { PaymentOrder } from '../protocol/order.ts';

/** Why a call came to nothing; `detail` is for the log, never for the client, and holds no secret. */
interface Failed {
  readonly detail: string;
}

export interface Unavailable extends Failed {
  readonly kind: 'unavailable';
  /** What the other side asked for, in seconds, or undefined. */
  readonly retryAfterSeconds?: number | undefined;
}

export type VerifyOutcome =
  | { readonly kind: 'valid' }
  /** `reason` as the settlement said it: an open vocabulary. */
  | ({ readonly kind: 'invalid'; readonly reason: string | undefined } & Failed)
  | Unavailable;

export type SettleOutcome =
  /** `transaction`: 0x and 64 lower-case hex digits. */
  | { readonly kind: 'settled'; readonly transaction: string }
  /** Certain: no money moved, and this attempt will not move any. */
  | ({ readonly kind: 'refused'; readonly reason: string | undefined; readonly transaction: string } & Failed)
  /** Money may have moved. `transaction` is '' when no hash is known. */
  | ({ readonly kind: 'unknown'; readonly transaction: string } & Failed)
  /** Certain: nothing was sent, or the other side refused us as a caller. */
  | Unavailable;

export type Readiness =
  | { readonly kind: 'ready' }
  /** Too many calls at once: paid requests wait, offers go on. */
  | { readonly kind: 'busy' }
  /** Cannot be reached: nobody should sign in vain, so offers stop too. */
  | { readonly kind: 'unreachable' };

export interface Settlement {
  /** False: signatures other than 65 bytes are refused before anybody is asked. */
  readonly takesContractSignatures: boolean;
  /** Synchronous, asked before every offer and every reservation. */
  readiness(): Readiness;
  verify(order: PaymentOrder): Promise<VerifyOutcome>;
  /** Repeating it with the same order is safe: an authorization moves money at most once. */
  settle(order: PaymentOrder): Promise<SettleOutcome>;
}
