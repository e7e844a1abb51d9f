/**
 * The event store of a process that writes nothing to disk. It holds only bodies that are too long for the inbox
 * itself, so a callback without a long body costs nothing here.
 */
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { EventPart, EventRecord } from '../../callback/event.ts';
import type { CallbackId, EventId } from '../../callback/identifier.ts';
import type { EventStore, LoadedCallback } from '../../callback/inbox/event-store.ts';
import { EVENT_PART_BYTES } from '../../callback/limits.ts';

export class MemoryEventStore implements EventStore {
  readonly #long = new Map<CallbackId, Map<EventId, EventRecord>>();

  /** Number of callbacks with a long event. */
  get size(): number {
    return this.#long.size;
  }

  async create(): Promise<void> {}

  append(id: CallbackId, event: EventRecord): MaybePromise<void> {
    if (event.isInline) return;
    const events = this.#long.get(id) ?? new Map<EventId, EventRecord>();
    this.#long.set(id, events.set(event.id, event));
  }

  /** Returns views of the stored bytes. */
  async read(id: CallbackId, eventId: EventId, index: number): Promise<EventPart | undefined> {
    const event = this.#long.get(id)?.get(eventId);
    if (event === undefined) return undefined;
    const { head, form, bytes } = event;
    const start = index * EVENT_PART_BYTES;
    if (start > 0 && start >= bytes.length) return undefined;
    return { head, form, sizeBytes: bytes.length, bytes: bytes.subarray(start, start + EVENT_PART_BYTES) };
  }

  async delete(id: CallbackId): Promise<void> {
    this.#long.delete(id);
  }

  async expire(id: CallbackId): Promise<void> {
    this.#long.delete(id);
  }

  /** Nothing outlives the process. */
  async load(): Promise<readonly LoadedCallback[]> {
    return [];
  }
}
