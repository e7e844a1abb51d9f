/**
 * Settlement `local`: a play ledger in this process. It keeps the rules of the token contract (x402-v2 §4.3): window,
 * nonce used once for each payer, balance; signatures were verified before. Nothing is on a chain.
 *
 * Invariant: the balances of all payers and the recipients' income add up to what was given out at first sight of each
 * payer. Nonces are remembered for the life of the ledger. A transfer counts for the next process once it is on record as
 * settled: sums spent and used nonces are taken over from there ({@link KeptLedger}).
 */
import type { Clock } from '../../base/clock.ts';
import { hexOfLatin1 } from '../../base/codec.ts';
import { KeyQueue } from '../../base/key-queue.ts';
import type { PaymentOrder, ReservationKey } from '../protocol/order.ts';
import type { Settlement, SettlementReadiness, SettleOutcome, VerifyOutcome } from './settlement.ts';

/** Transfers a ledger can hold, about 25 bytes each. Past it, payments wait for a restart. */
export const TRANSFER_COUNT_MAX = 8_000_000;

const READY: SettlementReadiness = { kind: 'ready' };
const FULL: SettlementReadiness = { kind: 'busy' };
const VALID: VerifyOutcome = { kind: 'valid' };

export interface LedgerTotals {
  readonly givenOutAtomic: bigint;
  readonly heldByPayersAtomic: bigint;
  readonly earnedAtomic: bigint;
  readonly transferCount: number;
}

/** What a ledger takes over from an earlier process. */
export interface KeptLedger {
  /** Payer in lower case and the sum of its transfers, atomic units. */
  readonly spent: Iterable<readonly [payer: string, atomic: bigint]>;
  /** Nonces whose window may still be open. */
  readonly used: Iterable<ReservationKey>;
}

/** `0x` and 64 hex digits that follow from payer and nonce alone; half of them zeros, so that nobody looks for it on a chain. */
export const localTransactionOf = ({ key }: PaymentOrder): string => `0x${'0'.repeat(32)}${hexOfLatin1(key)}`;

export class LocalLedger implements Settlement {
  readonly takesContractSignatures = false;
  readonly #openingAtomic: bigint;
  readonly #clock: Clock;
  readonly #transferCountMax: number;
  /** Payer in lower case -> atomic units. A payer appears with its first transfer. */
  readonly #balances = new Map<string, bigint>();
  readonly #used = new KeyQueue(0);
  #earnedAtomic = 0n;

  /** @param openingAtomic what every payer starts with */
  constructor(
    openingAtomic: bigint,
    clock: Clock,
    transferCountMax: number = TRANSFER_COUNT_MAX,
    kept: KeptLedger = { spent: [], used: [] },
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

  readiness(): SettlementReadiness {
    return this.#used.size < this.#transferCountMax ? READY : FULL;
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

  /** Everything that can be said without moving money was said by the signature. */
  async verify(): Promise<VerifyOutcome> {
    return VALID;
  }

  async settle(order: PaymentOrder): Promise<SettleOutcome> {
    const { from, valueAtomic, validAfterSeconds, validBeforeSeconds } = order.authorization;
    const refused = (reason: string): SettleOutcome => ({ kind: 'refused', reason, transaction: '', detail: reason });
    const nowSeconds = Math.floor(this.#clock.nowMs() / 1000);
    if (nowSeconds <= validAfterSeconds) return refused('invalid_exact_evm_payload_authorization_valid_after');
    if (nowSeconds >= validBeforeSeconds) return refused('invalid_exact_evm_payload_authorization_valid_before');
    if (this.#isUsed(order.key)) return refused('invalid_exact_evm_nonce_already_used');
    if (this.#used.size >= this.#transferCountMax) return { kind: 'unavailable', detail: 'the play ledger is full' };
    const balance = this.balanceOf(from);
    if (balance < valueAtomic) return refused('insufficient_funds');
    this.#used.append(order.key);
    this.#balances.set(from, balance - valueAtomic);
    this.#earnedAtomic += valueAtomic;
    return { kind: 'settled', transaction: localTransactionOf(order) };
  }

  #isUsed(key: ReservationKey): boolean {
    return this.#used.find(key) !== undefined;
  }
}
