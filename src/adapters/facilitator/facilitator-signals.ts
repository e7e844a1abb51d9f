/**
 * What the facilitator's answers tell the operator besides their outcome (reliability 72, 88, 102): the difference between our
 * clocks, verdicts that contradict our own, and one transaction for several authorizations. Nothing here changes an answer.
 */
import { lruMap } from '../../base/lru-map.ts';
import type { Exposition } from '../../base/prometheus.ts';
import type { PaymentOrder } from '../../payment/protocol/order.ts';
import type { SettleOutcome, VerifyOutcome } from '../../payment/settlement/settlement.ts';
import { SIGNATURE_BYTES } from '../../payment/signature/signature.ts';

/** Clock samples: their median stays right while fewer than half are wrong, and follows a step of either clock soon. */
const SAMPLE_COUNT = 31;
/** A `Date` has whole seconds: on average half of one has passed. */
const DATE_MEAN_MS = 500;
/** A sample is off by at most half the duration of its call; slower calls are too imprecise. */
const CALL_MS_MAX = 2000;
/**
 * Transactions that are remembered, about 200 bytes each; two authorizations with one transaction settle close together.
 */
const TRANSACTION_COUNT_MAX = 4096;

/** `0x` and two hex digits a byte. */
const SIGNATURE_TEXT_LENGTH = 2 + 2 * SIGNATURE_BYTES;

/** Codes that contradict a check which this server made before it asked (x402-v2 §4.9). */
const DIVERGENCES: ReadonlyMap<string, 'signature' | 'window'> = new Map([
  ['invalid_exact_evm_signature', 'signature'],
  ['invalid_exact_evm_signature_format', 'signature'],
  ['invalid_exact_evm_payload_signature', 'signature'],
  ['invalid_exact_evm_payload_signature_address', 'signature'],
  ['invalid_exact_evm_payload_authorization_valid_after', 'window'],
  ['invalid_exact_evm_payload_authorization_valid_before', 'window'],
]);

/** An authorization whose settlement names another one's transaction. */
export interface RepeatedTransaction {
  readonly transaction: string;
  readonly order: PaymentOrder;
}

export interface SignalPorts {
  /** Called with an authorization that was settled with the transaction of another. */
  onRepeatedTransaction?(repeated: RepeatedTransaction): void;
}

export class FacilitatorSignals {
  readonly #ports: SignalPorts;
  /** Our clock minus the facilitator's, milliseconds; a ring. */
  readonly #samples: number[] = [];
  #nextSample = 0;
  /** Reservation key by transaction. */
  readonly #transactions = lruMap<string, string>(TRANSACTION_COUNT_MAX);
  readonly #divergences = { signature: 0, window: 0 };
  #repeatedCount = 0;

  constructor(ports: SignalPorts) {
    this.#ports = ports;
  }

  /**
   * Notes the clock of an answer. An answer from a cache (`Age`) shows an old one.
   * @param receivedMs our wall clock, milliseconds since 1970
   * @param durationMs of the call
   */
  noteDate(headers: Headers, receivedMs: number, durationMs: number): void {
    const date = Date.parse(headers.get('date') ?? '');
    if (Number.isNaN(date) || durationMs > CALL_MS_MAX || headers.has('age')) return;
    this.#samples[this.#nextSample] = receivedMs - durationMs / 2 - (date + DATE_MEAN_MS);
    this.#nextSample = (this.#nextSample + 1) % SAMPLE_COUNT;
  }

  /** How far our clock is ahead of the facilitator's, seconds; undefined before its first `Date`. */
  skewSeconds(): number | undefined {
    const sorted = this.#samples.toSorted((a, b) => a - b);
    const median = sorted[sorted.length >> 1];
    return median === undefined ? undefined : Math.round(median) / 1000;
  }

  noteVerified(order: PaymentOrder, outcome: VerifyOutcome): void {
    if (outcome.kind !== 'invalid') return;
    const about = DIVERGENCES.get(outcome.reason ?? '');
    if (about === 'window') this.#divergences.window++;
    if (about === 'signature') this.#noteSignature(order);
  }

  noteSettled(order: PaymentOrder, outcome: SettleOutcome): void {
    // Ignores `window`: it may have closed in transit, and has closed when the reconciler repeats a late settlement.
    if (outcome.kind === 'refused' && DIVERGENCES.get(outcome.reason ?? '') === 'signature') this.#noteSignature(order);
    if (outcome.kind !== 'settled') return;
    const { transaction } = outcome;
    const known = this.#transactions.get(transaction);
    if (known === undefined) this.#transactions.set(transaction, order.key);
    if (known === undefined || known === order.key) return;
    this.#repeatedCount++;
    this.#ports.onRepeatedTransaction?.({ transaction, order });
  }

  writeMetrics(page: Exposition): void {
    page.family(
      'paygrade_verification_divergences_total',
      'counter',
      'Payments that passed a check here and failed the same check at the facilitator.',
    );
    for (const [about, count] of Object.entries(this.#divergences)) page.sample(count, { about });
    page.single(
      'paygrade_settlement_repeated_transactions_total',
      'counter',
      'Authorizations settled with the transaction of another authorization.',
      this.#repeatedCount,
    );
    const skewSeconds = this.skewSeconds();
    if (skewSeconds === undefined) return;
    page.single(
      'paygrade_clock_skew_seconds',
      'gauge',
      'How far the clock of this server is ahead of the clock of the facilitator.',
      skewSeconds,
    );
  }

  /** A contract wallet's signature was not checked here, so nothing about it diverges. */
  #noteSignature({ signature }: PaymentOrder): void {
    if (signature.length === SIGNATURE_TEXT_LENGTH) this.#divergences.signature++;
  }
}
