/**
 * One callback in memory and its states (callback.md, "States and transitions"): active until it expires or is deleted,
 * whichever comes first. Everything but its identity is made on first use: most callbacks get one or two webhooks.
 */
import { RateWindow } from '../../base/rate-window.ts';
import type { CallbackHandle } from '../callbacks.ts';
import type { InboxEvent } from '../event.ts';
import type { CallbackId } from '../identifier.ts';
import { RATE_COUNT_MAX, RATE_WINDOW_MS } from '../limits.ts';
import { Waiters, type WaitPorts } from './waiters.ts';

export type CallbackState = 'active' | 'expired' | 'deleted';

const NO_EVENTS: readonly InboxEvent[] = Object.freeze([]);

export function newRateWindow(): RateWindow {
  return new RateWindow(RATE_COUNT_MAX, RATE_WINDOW_MS);
}

export class Callback implements CallbackHandle {
  readonly id: CallbackId;
  readonly tokenDigest: Uint8Array;
  readonly expiresAtMs: number;
  /** Monotonic; decides. The callback is expired at this very moment. */
  readonly endsAtMs: number;
  state: CallbackState = 'active';
  /** Stored events in receipt order; grows only, and is replaced by an empty one at the end. */
  events: readonly InboxEvent[] = NO_EVENTS;
  /** `received_at` of the last event, seconds since 1970; a later event is never given an earlier one. */
  lastReceivedSeconds = 0;
  rate: RateWindow | undefined;
  waiters: Waiters | undefined;
  /** Cancels the timer of its end, set once a wait may last until then. */
  cancelEnd: (() => void) | undefined;
  /** The last append under way, if any; it never rejects. Appends to one callback run one after another. */
  storing: Promise<unknown> | undefined;

  constructor(id: CallbackId, tokenDigest: Uint8Array, expiresAtMs: number, endsAtMs: number) {
    this.id = id;
    this.tokenDigest = tokenDigest;
    this.expiresAtMs = expiresAtMs;
    this.endsAtMs = endsAtMs;
  }

  rateWindow(): RateWindow {
    this.rate ??= newRateWindow();
    return this.rate;
  }

  waiting(ports: WaitPorts): Waiters {
    this.waiters ??= new Waiters(ports);
    return this.waiters;
  }

  addEvent(event: InboxEvent): void {
    this.events = [...this.events, event];
  }

  /** Drops everything that was stored. */
  end(state: 'expired' | 'deleted'): void {
    this.state = state;
    this.events = NO_EVENTS;
  }
}
