/**
 * The event store of the inbox (a port). The inbox decides everything from memory; the event store holds what must outlive the
 * process, and bodies too long for memory. Each method is one indivisible step. When its promise resolves, the step is as
 * durable as the store promises, and the inbox acknowledges a webhook only then.
 *
 * The inbox calls a callback's methods one after another (create first, then appends one at a time, then one delete or expire,
 * nothing after it); reads may overlap with anything. A rejected promise is an outage: the step may or may not have happened.
 * The client then gets a 500. The inbox then treats the creation or the event as not stored, and a callback that it failed to
 * delete as live.
 */
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { EventPart, EventRecord } from '../event.ts';
import type { CallbackId, EventId } from '../identifier.ts';

export interface CallbackRecord {
  readonly id: CallbackId;
  /** SHA-256 of the read token, 32 bytes; no store holds the token itself. */
  readonly tokenDigest: Uint8Array;
  /** Wall clock, milliseconds since 1970: the end that the customer was promised. */
  readonly expiresAtMs: number;
}

/** A callback of an earlier process. */
export interface LoadedCallback {
  readonly callback: CallbackRecord;
  /** In receipt order. An event that is not inline may have no bytes (`null`). */
  readonly events: readonly LoadedEvent[];
}

export interface LoadedEvent extends Omit<EventRecord, 'bytes'> {
  /** Bytes of the body. */
  readonly sizeBytes: number;
  readonly bytes: Uint8Array | null;
}

export interface EventStore {
  create(callback: CallbackRecord): Promise<void>;
  /** Stores an event. From this call on the store owns the bytes of an event that is not inline, and may empty them. */
  append(id: CallbackId, event: EventRecord): MaybePromise<void>;
  /**
   * Reads one part of an event that is not inline, without reading the others.
   * @param index of the part, from 0
   * @returns undefined when there is no such part, as when the callback was deleted or has expired
   */
  read(id: CallbackId, eventId: EventId, index: number): Promise<EventPart | undefined>;
  /** Removes a callback and all of its events. Does nothing for an unknown id. */
  delete(id: CallbackId): Promise<void>;
  /** Removes the events; the callback's record may stay, so that a restart still knows its id as expired. */
  expire(id: CallbackId): Promise<void>;
  /**
   * Returns the callbacks of an earlier process, in any order; called once, before any other method. They have their events until
   * {@link expire}, because the clock may be ahead. The store may omit and remove callbacks that expired more than `tombstoneMs`
   * and CLOCK_AHEAD_MS_MAX before `nowMs`.
   */
  load(nowMs: number, tombstoneMs: number): Promise<readonly LoadedCallback[]>;
}
