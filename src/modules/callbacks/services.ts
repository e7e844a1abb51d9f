/** The services of the callback operations' handlers and ways in. */
import type { OverloadServices } from '../../access/overload.ts';
import type { RatedServices } from '../../access/rate-limit.ts';
import type { PaidServices } from '../../access/x402.ts';
import type { Callbacks } from '../../callback/callbacks.ts';
import type { BodyReader } from '../../http/body.ts';

export interface CallbackServices extends OverloadServices, PaidServices, RatedServices {
  readonly callbacks: Callbacks;
  readonly bodies: BodyReader;
  /** Public addresses without a trailing slash. */
  readonly baseUrl: string;
  readonly hookBaseUrl: string;
  readonly counters: CallbackCounters;
}

export interface CallbackCounters {
  eventsStored: number;
}
