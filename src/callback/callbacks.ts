/**
 * The port of the callbacks (callback.md; decisions §5): create, receive webhooks, read, wait, end. Modules and ways in use
 * callbacks only through this port; a backend implements it. Methods that return a MaybePromise may answer at once, without
 * the cost of a promise.
 *
 * What every implementation promises: a live callback is never evicted, shortened or unreadable; a callback stores at most
 * EVENT_COUNT_MAX events, and the step that stores an event checks this again; a webhook is acknowledged only once it will
 * survive whatever the store promises to survive; a chain of waits gets every stored event once, in order; nothing is stored
 * in a callback that has ended.
 */
import type { DisconnectListener } from '../base/disconnect-listener.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Webhook } from './event.ts';
import type { EventParts } from './event-json.ts';
import type { CallbackId, EventId } from './identifier.ts';

/**
 * A callback that a request was admitted to. Valid for that request. The callback may end at any moment; methods that take the
 * handle then return {@link Absent}.
 */
export interface CallbackHandle {
  readonly id: CallbackId;
  /** Wall clock, milliseconds since 1970; for display only. */
  readonly expiresAtMs: number;
}

/** Why there is no callback: it never existed or was deleted, or its ten minutes are over. */
export type Absent = { readonly kind: 'not-found' } | { readonly kind: 'expired' };

export const NOT_FOUND = { kind: 'not-found' } as const;
export const EXPIRED = { kind: 'expired' } as const;
/** The callback has stored EVENT_COUNT_MAX events. */
export const FULL = { kind: 'full' } as const;
/** The callback has no event of that id. */
export const UNKNOWN_EVENT = { kind: 'unknown-event' } as const;

/**
 * Storage for callbacks, claimed once the payment for a creation is verified and before it is settled (decisions §5;
 * reliability 126, 127). Every callback claims the same number of bytes, CLAIM_BYTES.
 */
export interface CallbackCapacity {
  readonly capacityBytes: number;
  /** Bytes claimed by live callbacks and by creations whose payment is being settled. */
  readonly claimedBytes: number;
  /** Whether a claim would succeed now. Claims nothing, so another request may claim first. */
  isFree(): MaybePromise<boolean>;
  /** One indivisible step: claims the bytes of one callback, or returns false when they are not free. */
  tryClaim(): MaybePromise<boolean>;
  /** Releases a claim that did not become a callback. */
  release(): MaybePromise<void>;
}

/** A callback that does not exist yet. Plain JSON. */
export interface CallbackDraft {
  readonly id: CallbackId;
  /** Shown to the customer; the callbacks store only its digest. */
  readonly readToken: string;
}

export interface Created extends CallbackDraft {
  /** Wall clock, milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** The checks of a webhook that need no body, in their order. A webhook counts towards the rate unless it is `too-many`. */
export type WebhookAdmission =
  | { readonly kind: 'admitted'; readonly callback: CallbackHandle }
  | { readonly kind: 'too-many'; readonly retryAfterMs: number }
  | Absent
  /** It has stored EVENT_COUNT_MAX events. */
  | { readonly kind: 'full' };

export type Received =
  | { readonly kind: 'stored'; readonly eventId: EventId }
  | { readonly kind: 'invalid-json' }
  | Absent
  | { readonly kind: 'full' };

export type Authorized =
  | { readonly kind: 'allowed'; readonly callback: CallbackHandle }
  | { readonly kind: 'wrong-token' }
  | Absent;

/** Whether a read may begin. It counts towards the callback's rate of reads unless it is `too-many` or unauthorized. */
export type ReadAdmission = Authorized | { readonly kind: 'too-many'; readonly retryAfterMs: number };

/**
 * An event that is read part by part while its answer is sent. A part rejects when the store fails, and is {@link Absent} once
 * the callback has ended.
 */
export type UnfinishedEvent = EventParts<Absent>;

/** An event for an answer: finished JSON if that fits one piece of the answer (PIECE_BYTES_MAX). */
export type EventJson = string | UnfinishedEvent;

/** How a wait ended. */
export type Woken =
  /** Part 0 of an unfinished event has been read already. */
  | { readonly kind: 'event'; readonly eventId: EventId; readonly event: EventJson }
  | { readonly kind: 'timed-out' }
  | Absent
  /** The client disconnected. */
  | { readonly kind: 'disconnected' };

export type Waited = Woken | { readonly kind: 'unknown-event' } | { readonly kind: 'too-many-waits' };

/** There is no event yet: the callbacks call {@link Waiter.woken} when the wait ends. */
export interface Parked {
  readonly kind: 'parked';
}

/** A parked wait reports its end here. */
export interface Waiter {
  /** Called once. */
  woken(how: Woken): void;
}

/** The client of a wait. */
export interface Client {
  isDisconnected(): boolean;
  /** Calls the listener at most once: when the client disconnects, or after the answer was sent. */
  onDisconnect(listener: DisconnectListener): void;
}

export interface Listing {
  readonly kind: 'events';
  /**
   * In receipt order. The finished ones together fit one piece of the answer; part 0 of the first unfinished one has been read
   * already.
   */
  readonly events: readonly EventJson[];
}

export interface RawBody {
  readonly kind: 'raw';
  /** Content-Type as sent; null = the sender gave none. */
  readonly contentType: string | null;
  readonly sizeBytes: number;
  /** The body's bytes in part 0; all of them when they are EVENT_PART_BYTES or fewer. */
  readonly first: Uint8Array;
  /** The event, whose parts have the exact bytes. */
  readonly event: UnfinishedEvent;
}

export type RawFound = RawBody | { readonly kind: 'unknown-event' } | Absent;

/** For metrics and tests. Ended callbacks that are not removed yet count too. */
export interface CallbackCounts {
  readonly live: number;
  /** Expired ids that are still answered as expired. */
  readonly tombstones: number;
  /** Ids of no live callback whose webhooks count towards a rate. */
  readonly unknownIds: number;
  readonly waits: number;
}

export interface Callbacks {
  readonly capacity: CallbackCapacity;
  readonly counts: CallbackCounts;
  /** Draws a free id and a read token. Nothing is stored. */
  draft(): CallbackDraft;
  /**
   * Creates a callback from the draft; its lifetime begins now. The caller has claimed its bytes from `capacity`; this call
   * takes over the claim and releases it on rejection. If a live callback of the draft exists, it is returned unchanged: a
   * crash after the first call may have lost the customer's answer.
   */
  create(draft: CallbackDraft): Promise<Created>;
  /** The checks of a webhook that need no body: rate, existence, expiry, limit of events. */
  admit(id: CallbackId): MaybePromise<WebhookAdmission>;
  /** Validates a JSON body and stores the webhook; checks expiry and the limit of events again. */
  receive(callback: CallbackHandle, webhook: Webhook): MaybePromise<Received>;
  /** Checks a read token: existence, then token, then expiry. */
  authorize(id: CallbackId, token: string): MaybePromise<Authorized>;
  /**
   * One indivisible step: {@link authorize}, then counts a read that begins now. At most READ_COUNT_MAX reads of one callback
   * begin in any span of READ_WINDOW_MS.
   */
  admitRead(id: CallbackId, token: string): MaybePromise<ReadAdmission>;
  /**
   * Waits for the first event after `after` (null: the first of all) for at most `timeoutMs`. Any result but `parked`, given
   * at once or by a promise, ends the wait; `parked` is only given at once, and `waiter` then receives the end. A wait that
   * would outlast its callback ends with it. From {@link drain} on every wait times out.
   */
  wait(
    callback: CallbackHandle,
    after: string | null,
    timeoutMs: number,
    client: Client,
    waiter: Waiter,
  ): Parked | MaybePromise<Waited>;
  events(callback: CallbackHandle): Promise<Listing | Absent>;
  /** The exact bytes of one event. Like the other reads it rejects when the store fails before the first byte. */
  raw(callback: CallbackHandle, eventId: string): Promise<RawFound>;
  /** Deletes a callback before it expires. When this resolves, a restart does not bring it back. */
  delete(callback: CallbackHandle): Promise<{ readonly kind: 'deleted' } | Absent>;
  /** Shutdown begins: every wait ends at once as timed out, now and from now on. */
  drain(): void;
  /** Drains and stops all timers. Stored events stay. */
  close(): void;
}
