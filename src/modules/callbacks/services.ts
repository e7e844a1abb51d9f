/** What the callback operations are given. */
import type { Timers } from '../../base/timers.ts';
import type { Inbox } from '../../callback/inbox/inbox.ts';

export interface CallbackServices {
  readonly inbox: Inbox;
  /** For the deadline of slow bodies. */
  readonly timers: Timers;
  /** Public addresses without a trailing slash. */
  readonly baseUrl: string;
  readonly hookBaseUrl: string;
}
