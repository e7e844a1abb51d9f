/**
 * The delivery of a job's completion event (siblings §6): tried at once, then 5 s, 30 s, 2 min and 10 min after the previous
 * try. Each try is on record before it is sent, so kills cause no extra tries: one that a kill interrupts counts as made.
 */
import { DELIVERY_PAUSES_MS } from './limits.ts';

export const CALLBACK_STATUSES = ['none', 'pending', 'delivering', 'delivered', 'failed'] as const;
export type CallbackStatus = (typeof CALLBACK_STATUSES)[number];

export interface Delivery {
  /** `pending` before the first try, `delivering` from then until the end. */
  readonly status: Exclude<CallbackStatus, 'none'>;
  readonly attemptCount: number;
  readonly lastAttemptAtMs: number | null;
  readonly lastStatusCode: number | null;
  /**
   * null while the job goes on, and at the end. During a try, its start: a process that finds it due finds the try interrupted.
   */
  readonly nextAttemptAtMs: number | null;
  readonly deliveredAtMs: number | null;
  readonly isUnderWay: boolean;
}

export const NEW_DELIVERY: Delivery = {
  status: 'pending',
  attemptCount: 0,
  lastAttemptAtMs: null,
  lastStatusCode: null,
  nextAttemptAtMs: null,
  deliveredAtMs: null,
  isUnderWay: false,
};

export const isDeliveryOver = ({ status }: Delivery): boolean => status === 'delivered' || status === 'failed';

/** Begins a try; undefined when none may be made. */
export function startDelivery(delivery: Delivery, nowMs: number): Delivery | undefined {
  const { attemptCount, isUnderWay } = delivery;
  if (isUnderWay || isDeliveryOver(delivery)) return undefined;
  return {
    ...delivery,
    status: 'delivering',
    attemptCount: attemptCount + 1,
    lastAttemptAtMs: nowMs,
    nextAttemptAtMs: nowMs,
    isUnderWay: true,
  };
}

/** Ends the try in flight. @param statusCode of its answer; null without one. @returns undefined when no try is in flight */
export function endDelivery(delivery: Delivery, statusCode: number | null, nowMs: number): Delivery | undefined {
  if (!delivery.isUnderWay) return undefined;
  const ended = { ...delivery, isUnderWay: false, lastStatusCode: statusCode, nextAttemptAtMs: null };
  if (statusCode !== null && statusCode >= 200 && statusCode < 300) {
    return { ...ended, status: 'delivered', deliveredAtMs: nowMs };
  }
  const pause = DELIVERY_PAUSES_MS[delivery.attemptCount];
  return pause === undefined ? { ...ended, status: 'failed' } : { ...ended, nextAttemptAtMs: nowMs + pause };
}
