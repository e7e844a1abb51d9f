/**
 * The event store of a process that writes nothing to disk. It holds only the bodies that are too long for the inbox's own
 * records, so a callback without a long body costs nothing here.
 */
import type { EventRecord } from '../../callback/event.ts';
import type { CallbackId, EventId } from '../../callback/identifier.ts';
import type { EventStore, LoadedCallback } from '../../callback/inbox/event-store.ts';

export class MemoryEventStore implements EventStore {
  readonly #long = new Map<CallbackId, Map<EventId, EventRecord>>();

  /** Number of callbacks with a long event. */
  get size(): number {
    return this.#long.size;
  }

  async create(): Promise<void> {}

  async append(id: CallbackId, event: EventRecord): Promise<void> {
    if (event.isInline) return;
    const events = this.#long.get(id) ?? new Map<EventId, EventRecord>();
    this.#long.set(id, events.set(event.id, event));
  }

  async read(id: CallbackId, eventId: EventId): Promise<EventRecord | undefined> {
    return this.#long.get(id)?.get(eventId);
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
