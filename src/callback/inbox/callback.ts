/**
 * One callback in memory and its states (callback.md, "States and transitions"): active until it expires or its owner deletes
 * it. Rate windows and waiters are made at their first use, because most callbacks receive one or two webhooks.
 */
import { RateWindow } from '../../base/rate-window.ts';
import type { CallbackHandle } from '../callbacks.ts';
import type { InboxEvent } from '../event.ts';
import type { CallbackId } from '../identifier.ts';
import { RATE_COUNT_MAX, RATE_WINDOW_MS, READ_COUNT_MAX, READ_WINDOW_MS } from '../limits.ts';
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
  /** Monotonic, milliseconds. This clock decides: from exactly this moment on the callback is expired. */
  readonly endsAtMs: number;
  state: CallbackState = 'active';
  /** Stored events in receipt order. The list only grows, until an empty one replaces it at the callback's end. */
  events: readonly InboxEvent[] = NO_EVENTS;
  /** `received_at` of the last event, seconds since 1970; no later event gets an earlier time. */
  lastReceivedSeconds = 0;
  rate: RateWindow | undefined;
  /** Rate of reads. Dropped when the callback ends, because nothing is read afterwards. */
  reads: RateWindow | undefined;
  waiters: Waiters | undefined;
  /** Cancels the timer for the callback's end; set when a wait may last until then. */
  cancelEnd: (() => void) | undefined;
  /** The last append or deletion in flight, if any; it never rejects. They run one after another. */
  storing: Promise<unknown> | undefined;
  /** The store is removing the callback and its events. */
  isDeleting = false;

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

  readWindow(): RateWindow {
    this.reads ??= new RateWindow(READ_COUNT_MAX, READ_WINDOW_MS);
    return this.reads;
  }

  waiting(ports: WaitPorts): Waiters {
    this.waiters ??= new Waiters(ports);
    return this.waiters;
  }

  addEvent(event: InboxEvent): void {
    this.events = [...this.events, event];
  }

  /** Ends the callback and drops its events from memory. */
  end(state: 'expired' | 'deleted'): void {
    this.state = state;
    this.events = NO_EVENTS;
    this.reads = undefined;
  }
}
