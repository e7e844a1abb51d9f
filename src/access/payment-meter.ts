/** Counts the payment outcomes of paid operations, one meter per operation. An unpaid request costs one addition. */
import type { Exposition } from '../base/prometheus.ts';
import { zeroCounts } from '../base/zero-counts.ts';
import type { Begun, Settled } from '../payment/purchase.ts';

export const PAYMENT_OUTCOMES = [
  /** The request had no payment; the answer was an offer. */
  'offered',
  /** The payment was malformed, did not match the offer or had a wrong signature. */
  'invalid',
  /** The authorization was used before, or another request is using it. */
  'repeated',
  /** The payment was valid, but the question had no answer: the authorization is free again. */
  'released',
  'settled',
  /** The settlement refused; no money moved. */
  'refused',
  /** Money may have moved. The reconciler finds the outcome, which `paygrade_payment_recoveries_total` counts. */
  'unknown',
  /** The settlement or the state was unavailable; nothing was charged. */
  'unavailable',
  /** The payer had paid for this answer before and asked again under its identifier; nothing was charged. */
  'resent',
  /** Too many payments of one client at a time. */
  'crowded',
  /** A bug of ours. */
  'failed',
] as const;

export type PaymentOutcome = (typeof PAYMENT_OUTCOMES)[number];

const OUTCOME_OF_BEGUN = {
  invalid: 'invalid',
  used: 'repeated',
  resale: 'resent',
  'under-way': 'repeated',
  conflict: 'repeated',
  'no-room': 'unavailable',
  crowded: 'crowded',
  unavailable: 'unavailable',
} as const satisfies Record<Exclude<Begun['kind'], 'purchase'>, PaymentOutcome>;

const OUTCOME_OF_SETTLED = {
  settled: 'settled',
  refused: 'refused',
  abandoned: 'refused',
  lapsed: 'invalid',
  pending: 'unknown',
  unavailable: 'unavailable',
} as const satisfies Record<Settled['kind'], PaymentOutcome>;

export class PaymentMeter {
  /** `operation`, and `surface` where it is not the base. */
  readonly labels: Readonly<Record<string, string>>;
  readonly counts = zeroCounts(PAYMENT_OUTCOMES);
  /** Settlements that have begun and have no result yet. */
  inFlightCount = 0;

  constructor(labels: Readonly<Record<string, string>>) {
    this.labels = labels;
  }

  countBegun({ kind }: Begun): void {
    if (kind !== 'purchase') this.counts[OUTCOME_OF_BEGUN[kind]]++;
  }

  /** Counts one settlement from its start to its result. Rejects when `settling` rejects. */
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

  /** Settlements of all operations that have begun and have no result yet. */
  get inFlightCount(): number {
    return this.#meters.reduce((total, { inFlightCount }) => total + inFlightCount, 0);
  }

  /** The paid operations, by name; two surfaces may share a name. */
  get operations(): readonly string[] {
    return this.#meters.map(({ labels }) => labels.operation ?? '');
  }

  writeOutcomes(into: Exposition): void {
    for (const { labels, counts } of this.#meters) {
      for (const outcome of PAYMENT_OUTCOMES) into.sample(counts[outcome], { ...labels, outcome });
    }
  }
}
