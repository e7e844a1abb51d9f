/** The services of the callback operations' handlers and ways in. */
import type { OverloadServices } from '../../access/overload.ts';
import type { RatedServices } from '../../access/rate-limit.ts';
import type { PaidServices } from '../../access/x402.ts';
import type { Timers } from '../../base/timers.ts';
import type { Callbacks } from '../../callback/callbacks.ts';

export interface CallbackServices extends OverloadServices, PaidServices, RatedServices {
  readonly callbacks: Callbacks;
  /** Timers for the deadline of slow bodies. */
  readonly timers: Timers;
  /** Public addresses without a trailing slash. */
  readonly baseUrl: string;
  readonly hookBaseUrl: string;
  readonly counters: CallbackCounters;
}

export interface CallbackCounters {
  eventsStored: number;
}
