/** The plan of a load test, and the amounts derived from it. */
import type { Clock } from '../base/clock.ts';
import { EVENT_COUNT_MAX, WAIT_COUNT_MAX } from '../callback/limits.ts';
import { type Kind, type Mix, type Scenario, shareOf } from './mix.ts';
import type { Target } from './target.ts';

export interface LoadPlan {
  readonly target: Target;
  /** Checked addresses; the run uses the first that answers. */
  readonly addresses: readonly string[];
  readonly scenario: Scenario;
  readonly mix: Mix;
  /** Requests a second; undefined = closed loop. */
  readonly rate: number | undefined;
  readonly connectionCount: number;
  readonly durationMs: number;
  readonly warmUpMs: number;
  readonly timeoutMs: number;
  /** Waits held at a time. */
  readonly waitCount: number;
  /** Callbacks to buy; undefined = as many as the rate needs. */
  readonly callbackCount: number | undefined;
  readonly signerCount: number;
  /** Payments kept signed ahead; undefined = by rate and duration. */
  readonly signedCount: number | undefined;
  /** API key of the Jobs Data API; a mix with `data` has one. */
  readonly key: string | undefined;
}

/** Figures of the running test, for a live line. */
export interface LiveFigures {
  readonly elapsedMs: number;
  readonly totalMs: number;
  readonly isWarmingUp: boolean;
  /** Answers a second since the last figures. */
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly unexpectedCount: number;
  readonly inFlight: number;
}

export interface LoadPorts {
  /** Version of paygrade, for the result. */
  readonly version: string;
  readonly clock: Clock;
  /** Ends the run early; the result covers the time until then. */
  readonly stop: AbortSignal;
  /** Receives a text about each step of preparation and clean-up. */
  readonly onPhase: (text: string) => void;
  readonly onFigures: (figures: LiveFigures) => void;
}

/** Callbacks to buy without `--callbacks`: for a closed loop, and at most for a rate. */
const CALLBACK_COUNT_CLOSED = 200;
const CALLBACK_COUNT_MAX = 1000;
/** Callbacks that the waits are spread over; more waits than that share a callback. */
const WAIT_CALLBACK_COUNT = 200;
/** Payments signed ahead for a closed loop, per second of the run, and the bounds of the stock. */
const SIGNED_PER_SECOND_CLOSED = 400;
const SIGNED_COUNT_MIN = 64;
const SIGNED_COUNT_MAX = 10_000;

/** Callbacks to buy. */
export interface CallbackCounts {
  readonly webhook: number;
  readonly wait: number;
  /** Waits held on each callback for waits. */
  readonly waitsEach: number;
}

/** From `--callbacks` if given, else from the number of webhooks that the rate will send. */
export function callbackCounts(plan: LoadPlan): CallbackCounts {
  const { mix, rate, durationMs, warmUpMs, waitCount, callbackCount } = plan;
  const countFor = (kind: Kind): number => {
    if (!mix.has(kind)) return 0;
    if (callbackCount !== undefined) return callbackCount;
    if (rate === undefined) return CALLBACK_COUNT_CLOSED;
    const sentCount = (rate * shareOf(mix, kind) * (durationMs + warmUpMs)) / 1000;
    return Math.min(CALLBACK_COUNT_MAX, Math.ceil(sentCount / EVENT_COUNT_MAX) + 1);
  };
  const waitsEach = Math.min(WAIT_COUNT_MAX, Math.ceil(waitCount / WAIT_CALLBACK_COUNT));
  const wait = mix.has('wait') ? Math.max(countFor('wait'), Math.ceil(waitCount / waitsEach)) : 0;
  return { webhook: countFor('webhook'), wait, waitsEach };
}

/** Most payments that the run can send (Infinity in a closed loop), and those to sign before it. */
export function paymentCounts(plan: LoadPlan): { readonly plannedCount: number; readonly stockCount: number } {
  const { mix, rate, durationMs, warmUpMs, signedCount } = plan;
  const seconds = (durationMs + warmUpMs) / 1000;
  const perSecond = (rate ?? SIGNED_PER_SECOND_CLOSED) * shareOf(mix, 'paid');
  const needed = Math.ceil(perSecond * seconds) + 1;
  return {
    plannedCount: rate === undefined ? Number.POSITIVE_INFINITY : needed,
    stockCount: signedCount ?? Math.min(SIGNED_COUNT_MAX, Math.max(SIGNED_COUNT_MIN, needed)),
  };
}
