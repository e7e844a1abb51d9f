/** Counts what requests to paid operations came to: one meter an operation. An unpaid request costs one addition. */
import type { Exposition } from '../base/prometheus.ts';
import type { Begun, Settled } from '../payment/checkout.ts';

export const PAYMENT_OUTCOMES = [
  /** No payment was sent; an offer was made. */
  'offered',
  /** Malformed, mismatched or badly signed. */
  'invalid',
  /** Used before, or in use. */
  'repeated',
  /** Valid, but the question had no answer: the authorization is free again. */
  'released',
  'settled',
  /** The settlement said no. */
  'refused',
  /** It is not known yet whether money moved; how it ends is counted as a recovery. */
  'unknown',
  /** The settlement or the state could not be used; nothing was charged. */
  'unavailable',
  /** A bug of ours on the way, or too many payments of one client. */
  'failed',
] as const;

export type PaymentOutcome = (typeof PAYMENT_OUTCOMES)[number];

const OUTCOME_OF_BEGUN = {
  invalid: 'invalid',
  used: 'repeated',
  crowded: 'failed',
  unavailable: 'unavailable',
} as const satisfies Record<Exclude<Begun['kind'], 'purchase'>, PaymentOutcome>;

const OUTCOME_OF_SETTLED = {
  settled: 'settled',
  refused: 'refused',
  abandoned: 'refused',
  pending: 'unknown',
  unavailable: 'unavailable',
} as const satisfies Record<Settled['kind'], PaymentOutcome>;

export class PaymentMeter {
  /** `operation`, and `surface` where it is not the base. */
  readonly labels: Readonly<Record<string, string>>;
  readonly counts: Record<PaymentOutcome, number>;
  /** Settlements that were begun and have not answered. */
  inFlightCount = 0;

  constructor(labels: Readonly<Record<string, string>>) {
    this.labels = labels;
    this.counts = Object.fromEntries(PAYMENT_OUTCOMES.map((outcome) => [outcome, 0])) as Record<PaymentOutcome, number>;
  }

  countBegun({ kind }: Begun): void {
    if (kind !== 'purchase') this.counts[OUTCOME_OF_BEGUN[kind]]++;
  }

  /** Counts one settlement from its start to its result. Rejects as it does. */
  async countSettled(settling: Promise<Settled>): Promise<Settled> {
    this.inFlightCount++;
    let outcome: PaymentOutcome = 'failed';
    try {
      const settled = await settling;
      outcome = OUTCOME_OF_SETTLED[settled.kind];
      return settled;
    } finally {
      this.inFlightCount--;
      this.counts[outcome]++;
    }
  }
}

/** The meters of all paid operations. */
export class PaymentMeters {
  readonly #meters: PaymentMeter[] = [];

  open(labels: Readonly<Record<string, string>>): PaymentMeter {
    const meter = new PaymentMeter(labels);
    this.#meters.push(meter);
    return meter;
  }

  /** Settlements of all operations that have not answered. */
  get inFlightCount(): number {
    return this.#meters.reduce((total, { inFlightCount }) => total + inFlightCount, 0);
  }

  writeOutcomes(into: Exposition): void {
    for (const { labels, counts } of this.#meters) {
      for (const outcome of PAYMENT_OUTCOMES) into.sample(counts[outcome], { ...labels, outcome });
    }
  }
}
