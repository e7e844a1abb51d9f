/**
 * Settlement `local`: payments move play money in a ledger that a backend keeps; nothing is on a chain. The ledger applies
 * the rules of the token contract (x402-v2 §4.3): the window, each nonce once for each payer, the balance. Signatures were
 * verified before.
 */
import { hexOfLatin1 } from '../../base/codec.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { PaymentOrder } from '../protocol/order.ts';
import type { Settlement, SettlementReadiness, SettleOutcome, VerifyOutcome } from './settlement.ts';

/**
 * The port. Invariant: the balances of all payers and the recipients' income add up to what the ledger gave out when it first
 * saw each payer. A nonce stays used as long as the ledger exists, or at least as long as its window may be open.
 */
export interface PlayLedger {
  /** True when the ledger can hold no further transfer. */
  isFull(): boolean;
  /**
   * One indivisible step: judges window, nonce and balance, in this order, and moves the amount if all three allow it.
   * Promises of {@link Settlement}: never throws or rejects; a transfer that may have happened is `unknown`.
   */
  transfer(order: PaymentOrder): MaybePromise<SettleOutcome>;
}

/** `0x` and 64 hex digits, computed from payer and nonce alone; half of them are zeros, so that it resembles no real hash. */
export const localTransactionOf = ({ key }: PaymentOrder): string => `0x${'0'.repeat(32)}${hexOfLatin1(key)}`;

/** A transfer that the ledger's rules do not allow. */
export const refusedTransfer = (reason: string): SettleOutcome => ({
  kind: 'refused',
  reason,
  transaction: '',
  detail: reason,
});

export const FULL_LEDGER: SettleOutcome = { kind: 'unavailable', detail: 'the play ledger is full' };

/** The contract's window, both ends excluded. undefined = the order is inside it. */
export function windowRefusal({ authorization }: PaymentOrder, nowMs: number): SettleOutcome | undefined {
  const nowSeconds = Math.floor(nowMs / 1000);
  if (nowSeconds <= authorization.validAfterSeconds) {
    return refusedTransfer('invalid_exact_evm_payload_authorization_valid_after');
  }
  if (nowSeconds >= authorization.validBeforeSeconds) {
    return refusedTransfer('invalid_exact_evm_payload_authorization_valid_before');
  }
  return undefined;
}

const READY: SettlementReadiness = { kind: 'ready' };
const FULL: SettlementReadiness = { kind: 'busy' };
const VALID: VerifyOutcome = { kind: 'valid' };

export class LocalSettlement implements Settlement {
  readonly takesContractSignatures = false;
  readonly #ledger: PlayLedger;

  constructor(ledger: PlayLedger) {
    this.#ledger = ledger;
  }

  readiness(): SettlementReadiness {
    return this.#ledger.isFull() ? FULL : READY;
  }

  /** The signature already showed everything that can be known without moving money. */
  async verify(): Promise<VerifyOutcome> {
    return VALID;
  }

  async settle(order: PaymentOrder): Promise<SettleOutcome> {
    return this.#ledger.transfer(order);
  }
}
