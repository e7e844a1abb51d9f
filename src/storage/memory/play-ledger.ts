/**
 * The play ledger in the memory of one process. A transfer recorded as settled counts for the next process too: its
 * ledger starts with the spent sums and the used nonces ({@link LoadedLedger}). A ledger never drops a nonce.
 */
import type { Clock } from '../../base/clock.ts';
import { KeyQueue } from '../../base/key-queue.ts';
import type { PaymentOrder, ReservationKey } from '../../payment/protocol/order.ts';
import {
  FULL_LEDGER,
  localTransactionOf,
  type PlayLedger,
  refusedTransfer,
  windowRefusal,
} from '../../payment/settlement/play-ledger.ts';
import type { SettleOutcome } from '../../payment/settlement/settlement.ts';

/** The most transfers of one ledger, about 25 bytes each. After that it refuses payments until a restart. */
export const TRANSFER_COUNT_MAX = 8_000_000;

export interface LedgerTotals {
  readonly givenOutAtomic: bigint;
  readonly heldByPayersAtomic: bigint;
  readonly earnedAtomic: bigint;
  readonly transferCount: number;
}

/** The transfers of earlier processes. */
export interface LoadedLedger {
  /** Payer in lower case and the sum of its transfers, atomic units. */
  readonly spent: Iterable<readonly [payer: string, atomic: bigint]>;
  /** Nonces whose window may still be open. */
  readonly used: Iterable<ReservationKey>;
}

export const NOTHING_SPENT: LoadedLedger = { spent: [], used: [] };

export class MemoryPlayLedger implements PlayLedger {
  readonly #openingAtomic: bigint;
  readonly #clock: Clock;
  readonly #transferCountMax: number;
  /** Payer in lower case -> atomic units. A payer appears with its first transfer. */
  readonly #balances = new Map<string, bigint>();
  readonly #used = new KeyQueue(0);
  #earnedAtomic = 0n;

  /** @param openingAtomic opening balance of every payer, atomic units */
  constructor(
    openingAtomic: bigint,
    clock: Clock,
    transferCountMax: number = TRANSFER_COUNT_MAX,
    kept: LoadedLedger = NOTHING_SPENT,
  ) {
    this.#openingAtomic = openingAtomic;
    this.#clock = clock;
    this.#transferCountMax = transferCountMax;
    for (const [payer, spentAtomic] of kept.spent) {
      this.#balances.set(payer, openingAtomic - spentAtomic);
      this.#earnedAtomic += spentAtomic;
    }
    for (const key of kept.used) if (!this.#isUsed(key)) this.#used.append(key);
  }

  isFull(): boolean {
    return this.#used.size >= this.#transferCountMax;
  }

  balanceOf(payer: string): bigint {
    return this.#balances.get(payer.toLowerCase()) ?? this.#openingAtomic;
  }

  totals(): LedgerTotals {
    let heldByPayersAtomic = 0n;
    for (const balance of this.#balances.values()) heldByPayersAtomic += balance;
    return {
      givenOutAtomic: this.#openingAtomic * BigInt(this.#balances.size),
      heldByPayersAtomic,
      earnedAtomic: this.#earnedAtomic,
      transferCount: this.#used.size,
    };
  }

  transfer(order: PaymentOrder): SettleOutcome {
    const { from, valueAtomic } = order.authorization;
    const outside = windowRefusal(order, this.#clock.nowMs());
    if (outside !== undefined) return outside;
    if (this.#isUsed(order.key)) return refusedTransfer('invalid_exact_evm_nonce_already_used');
    if (this.isFull()) return FULL_LEDGER;
    const balance = this.balanceOf(from);
    if (balance < valueAtomic) return refusedTransfer('insufficient_funds');
    this.#used.append(order.key);
    this.#balances.set(from, balance - valueAtomic);
    this.#earnedAtomic += valueAtomic;
    return { kind: 'settled', transaction: localTransactionOf(order) };
  }

  #isUsed(key: ReservationKey): boolean {
    return this.#used.find(key) !== undefined;
  }
}
