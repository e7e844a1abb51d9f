/** What the callback operations are given. */
import type { Timers } from '../../base/timers.ts';
import type { Callbacks } from '../../callback/callbacks.ts';

export interface CallbackServices {
  readonly callbacks: Callbacks;
  /** For the deadline of slow bodies. */
  readonly timers: Timers;
  /** Public addresses without a trailing slash. */
  readonly baseUrl: string;
  readonly hookBaseUrl: string;
}
