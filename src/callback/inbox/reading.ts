/** Reads events: inline ones from memory, long ones from the event store. */
import type { Absent, Listing, RawFound } from '../callbacks.ts';
import { finishedJson, type InboxEvent, originalContentType, rawOf } from '../event.ts';
import type { Callback } from './callback.ts';
import type { EventStore } from './event-store.ts';
import type { Lifetimes } from './lifetimes.ts';

const UNKNOWN_EVENT = { kind: 'unknown-event' } as const;

export class EventReader {
  readonly #store: EventStore;
  readonly #lifetimes: Lifetimes;

  constructor(store: EventStore, lifetimes: Lifetimes) {
    this.#store = store;
    this.#lifetimes = lifetimes;
  }

  /** Finished JSON of a long event, or how the callback ended during the read. */
  async longJson(callback: Callback, event: InboxEvent): Promise<string | Absent> {
    const record = await this.#store.read(callback.id, event.id);
    if (record !== undefined) return finishedJson(record);
    const ended = this.#lifetimes.endOf(callback);
    if (ended === undefined) throw new Error(`the store has lost ${event.id}`);
    return ended;
  }

  /** @param callback a live one */
  async events(callback: Callback): Promise<Listing | Absent> {
    const events: string[] = [];
    for (const event of callback.events) {
      const json = event.json ?? (await this.longJson(callback, event));
      if (typeof json !== 'string') return json;
      events.push(json);
    }
    return { kind: 'events', events };
  }

  /** @param callback a live one */
  async raw(callback: Callback, eventId: string): Promise<RawFound> {
    const event = callback.events.find((candidate) => candidate.id === eventId);
    if (event === undefined) return UNKNOWN_EVENT;
    const { json } = event;
    if (json !== null) return { kind: 'raw', ...rawOf({ ...event, json }) };
    const record = await this.#store.read(callback.id, event.id);
    if (record === undefined) return this.#lifetimes.endOf(callback) ?? this.#lifetimes.absent(callback.id);
    return { kind: 'raw', bytes: record.bytes, contentType: originalContentType(record.head) };
  }
}
