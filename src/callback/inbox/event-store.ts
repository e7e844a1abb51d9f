/**
 * What lies under the inbox (a port): the inbox decides everything from memory, and an event store holds what must outlive
 * the process and the bodies that are too long for memory. Each method is one indivisible step; when its promise resolves,
 * the step is as durable as the store promises, and an acknowledgement waits for that.
 *
 * The inbox calls a callback's methods one after another (create first, then appends one at a time, then one delete or
 * expire, nothing after it); reads may overlap with anything. A rejected promise is an outage: the step did not happen, or
 * may not have. The client then gets a 500, and the inbox treats the step as not done.
 */
import type { EventRecord } from '../event.ts';
import type { CallbackId, EventId } from '../identifier.ts';

export interface CallbackRecord {
  readonly id: CallbackId;
  /** SHA-256 of the read token, 32 bytes; no store holds the token itself. */
  readonly tokenDigest: Uint8Array;
  /** Wall clock, milliseconds since 1970: the end that the customer was promised. */
  readonly expiresAtMs: number;
}

/** A callback that an earlier process left. */
export interface LoadedCallback {
  readonly callback: CallbackRecord;
  /** In receipt order. Those that are not inline may come without bytes (`null`). */
  readonly events: readonly LoadedEvent[];
}

export type LoadedEvent = Omit<EventRecord, 'bytes'> & { readonly bytes: Uint8Array | null };

export interface EventStore {
  create(callback: CallbackRecord): Promise<void>;
  /** From the call on the store owns the bytes of an event that is not inline, and may empty them. */
  append(id: CallbackId, event: EventRecord): Promise<void>;
  /** An event that is not inline; undefined once its callback was deleted or has expired. */
  read(id: CallbackId, eventId: EventId): Promise<EventRecord | undefined>;
  /** Removes a callback and all of its events, without a trace. Unknown ids are no fault. */
  delete(id: CallbackId): Promise<void>;
  /** Removes the events; the callback's record may stay, so that a restart still knows its id as expired. */
  expire(id: CallbackId): Promise<void>;
  /**
   * What an earlier process left, in any order; called once, before anything else. Callbacks past their end come without
   * events. The store may leave out and remove those that ended longer than `tombstoneMs` before `nowMs`.
   */
  load(nowMs: number, tombstoneMs: number): Promise<readonly LoadedCallback[]>;
}
