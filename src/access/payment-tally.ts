/**
 * What became of payments, counted around the gate that takes them: the gate itself knows nothing of it. One tally an
 * operation; an unpaid request costs one addition.
 */
import type { Gate, Pass } from '../http/access.ts';
import { Refusal } from '../http/errors.ts';

export const PAYMENT_OUTCOMES = [
  /** Nothing was sent; an offer was made. */
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
  /** A bug of ours on the way. */
  'failed',
] as const;

export type PaymentOutcome = (typeof PAYMENT_OUTCOMES)[number];

export class PaymentTally {
  readonly operation: string;
  readonly counts: Record<PaymentOutcome, number>;
  /** Settlements that were begun and have not answered. */
  inFlightCount = 0;

  constructor(operation: string) {
    this.operation = operation;
    this.counts = Object.fromEntries(PAYMENT_OUTCOMES.map((outcome) => [outcome, 0])) as Record<PaymentOutcome, number>;
  }
}

function outcomeOf(refusal: Refusal): PaymentOutcome {
  switch (refusal.code) {
    case 'PAYMENT_REQUIRED':
      return 'offered';
    case 'PAYMENT_INVALID':
      return 'invalid';
    case 'PAYMENT_ALREADY_USED':
      return 'repeated';
    case 'PAYMENT_NOT_SETTLED':
      return 'refused';
    case 'SETTLEMENT_PENDING':
      return 'unknown';
    case 'SETTLEMENT_UNAVAILABLE':
      return 'unavailable';
    default:
      return 'failed';
  }
}

/** The same gate, counted. */
export function talliedGate(gate: Gate, tally: PaymentTally): Gate {
  const { counts } = tally;

  const talliedPass = (pass: Pass): Pass => ({
    async settle() {
      tally.inFlightCount++;
      let outcome: PaymentOutcome = 'failed';
      try {
        const settled = await pass.settle();
        outcome = settled instanceof Refusal ? outcomeOf(settled) : 'settled';
        return settled;
      } finally {
        tally.inFlightCount--;
        counts[outcome]++;
      }
    },
    release() {
      counts.released++;
      pass.release();
    },
  });

  const judged = (admitted: Pass | Refusal | undefined): Pass | Refusal | undefined => {
    if (admitted === undefined) return undefined;
    if (!(admitted instanceof Refusal)) return talliedPass(admitted);
    counts[outcomeOf(admitted)]++;
    return admitted;
  };

  return {
    admit(visit, question) {
      const admitted = gate.admit(visit, question);
      if (!(admitted instanceof Promise)) return judged(admitted);
      return admitted.then(judged, (failure) => {
        counts.failed++;
        throw failure;
      });
    },
  };
}
