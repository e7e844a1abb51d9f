/**
 * The port of the callbacks (callback.md; decisions §5): create, receive webhooks, read, wait, end. Everything that modules
 * and ways in need of callbacks is here; a backend implements it. Methods answer now or later; where an answer may come now,
 * a caller pays for no promise.
 *
 * What every implementation promises: a live callback is never evicted, shortened or unreadable; a callback stores at most
 * EVENT_COUNT_MAX events, and the step that stores one decides this again; a webhook is acknowledged once it will survive
 * whatever the store promises to survive; a chain of waits gets every stored event once, in order; nothing is stored in a
 * callback that has ended.
 */
import type { DisconnectListener } from '../base/disconnect-listener.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Webhook } from './event.ts';
import type { EventParts } from './event-json.ts';
import type { CallbackId, EventId } from './identifier.ts';

/**
 * A callback that a request was admitted to. Good for that request: the callback may end at any moment, and then the methods
 * that take the handle answer {@link Absent}.
 */
export interface CallbackHandle {
  readonly id: CallbackId;
  /** Wall clock, milliseconds since 1970; for display only. */
  readonly expiresAtMs: number;
}

/** Why there is no callback: none ever was or it was deleted, or its ten minutes are over. */
export type Absent = { readonly kind: 'not-found' } | { readonly kind: 'expired' };

/**
 * Storage for callbacks, claimed once the payment for a creation is verified and before it is settled (decisions §5;
 * reliability 126, 127). Every callback claims the same number of bytes, CLAIM_BYTES.
 */
export interface CallbackCapacity {
  readonly capacityBytes: number;
  /** Bytes claimed by live callbacks and by creations whose payment is being settled. */
  readonly claimedBytes: number;
  /** Whether a claim would succeed now. Claims nothing, so another request may be faster. */
  isFree(): MaybePromise<boolean>;
  /** One indivisible step: claims the bytes of one callback, or answers false when they are not free. */
  tryClaim(): MaybePromise<boolean>;
  /** Gives back a claim that did not become a callback. */
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
  /** It has stored as many events as it takes. */
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

/** A read begins: it counts towards the rate of the callback's reads unless it is `too-many`, or not allowed. */
export type ReadAdmission = Authorized | { readonly kind: 'too-many'; readonly retryAfterMs: number };

/**
 * An event that is read part by part while its answer leaves. A part rejects when the store fails, and is
 * {@link Absent} once the callback has ended.
 */
export type UnfinishedEvent = EventParts<Absent>;

/** An event for an answer: finished JSON when that fits a piece of the answer (PIECE_BYTES_MAX). */
export type EventJson = string | UnfinishedEvent;

/** How a wait ended. */
export type Woken =
  /** Part 0 of an unfinished event is there already. */
  | { readonly kind: 'event'; readonly eventId: EventId; readonly event: EventJson }
  | { readonly kind: 'timed-out' }
  | Absent
  /** The client went away. */
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
   * In receipt order. The finished ones together fit a piece of the answer; of the others, part 0 of the first is there already.
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

/** For metrics and tests. Ended callbacks that were not removed yet are counted. */
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
   * Makes a callback, of the draft or of a new one, whose lifetime begins now. The caller has claimed its bytes from
   * `capacity`; from here on the claim is the callback's, and the callbacks give it back when this rejects. A live
   * callback of the same draft is given again as it is: a crash after the first call may have cost the customer the
   * answer.
   */
  create(draft?: CallbackDraft): Promise<Created>;
  /** The checks of a webhook that need no body: rate, existence, expiry, limit of events. */
  admit(id: CallbackId): MaybePromise<WebhookAdmission>;
  /** Validates a JSON body and stores the webhook; checks expiry and the limit of events again. */
  receive(callback: CallbackHandle, webhook: Webhook): MaybePromise<Received>;
  /** Checks a read token: existence, then token, then expiry. */
  authorize(id: CallbackId, token: string): MaybePromise<Authorized>;
  /**
   * One indivisible step: as {@link authorize}, and counts a read that begins now. At most READ_COUNT_MAX reads of one callback
   * begin in any span of READ_WINDOW_MS.
   */
  admitRead(id: CallbackId, token: string): MaybePromise<ReadAdmission>;
  /**
   * Waits for the first event after `after` (null: the first of all) for at most `timeoutMs`. An answer, given now or by a
   * promise, is the end of the wait; `parked`, only ever given now, means that `waiter` gets the end. A wait that would
   * outlast its callback ends with it. From {@link drain} on every wait times out.
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
