/**
 * Where callbacks are kept (a port). The inbox decides everything from memory; a store keeps what must outlive it, and the
 * bodies that are too long for memory. Each method is one indivisible step, and when its promise resolves the step has
 * happened for good, as far as the store can promise that: an acknowledgement waits for it.
 *
 * The inbox calls a callback's methods one after another (create first, then appends one at a time, then one delete or
 * expire, nothing after it); reads may overlap with anything. A rejected promise is an outage: the step did not happen, or
 * may not have; the caller is told 500 and the inbox counts it as not done.
 */
import type { EventRecord } from '../event.ts';
import type { CallbackId, EventId } from '../identifier.ts';

export interface CallbackRecord {
  readonly id: CallbackId;
  /** SHA-256 of the read token, 32 bytes; the token itself is nowhere. */
  readonly tokenDigest: Uint8Array;
  /** Wall clock, milliseconds since 1970: the end of its life as it was promised to the customer. */
  readonly expiresAtMs: number;
}

/** A callback as it is found at start. */
export interface LoadedCallback {
  readonly callback: CallbackRecord;
  /** In the order in which they were stored. Bytes may be left out (`null`) of those that are not inline. */
  readonly events: readonly LoadedEvent[];
}

export type LoadedEvent = Omit<EventRecord, 'bytes'> & { readonly bytes: Uint8Array | null };

export interface CallbackStore {
  create(callback: CallbackRecord): Promise<void>;
  /** The bytes of an event that is not inline are the store's from the call on, and may be empty afterwards. */
  append(id: CallbackId, event: EventRecord): Promise<void>;
  /** An event that is not inline; undefined once its callback was deleted or has expired. */
  read(id: CallbackId, eventId: EventId): Promise<EventRecord | undefined>;
  /** Removes a callback and all of its events, without a trace. Unknown ids are no fault. */
  delete(id: CallbackId): Promise<void>;
  /** Removes the events; the callback's own record may stay, so that its id is known as expired after a restart. */
  expire(id: CallbackId): Promise<void>;
  /**
   * Everything that was kept, in any order, called once before anything else. Callbacks past their end come without events,
   * those that ended longer ago than `rememberedMs` before `nowMs` may be left out and removed.
   */
  load(nowMs: number, rememberedMs: number): Promise<readonly LoadedCallback[]>;
}
