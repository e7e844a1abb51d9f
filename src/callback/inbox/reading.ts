/** Reads events: inline ones from memory, long ones part by part from the event store. */
import { Buffer } from 'node:buffer';
import type { Absent, EventJson, Listing, RawFound, UnfinishedEvent } from '../callbacks.ts';
import { type EventPart, type InboxEvent, type InlineEvent, inlinePart, originalContentType } from '../event.ts';
import { finishedJson, inlineJson, jsonBytesMax } from '../event-json.ts';
import { FRAME_BYTES_MAX, PIECE_BYTES_MAX } from '../limits.ts';
import type { Callback } from './callback.ts';
import type { EventStore } from './event-store.ts';
import type { Lifetimes } from './lifetimes.ts';

/** Finished events of one answer, together. */
const FINISHED_BYTES_MAX = PIECE_BYTES_MAX - FRAME_BYTES_MAX;

const UNKNOWN_EVENT = { kind: 'unknown-event' } as const;

const isHeld = (event: InboxEvent): event is InlineEvent => event.text !== null;

/** Finished JSON of an inline event; undefined for a long one. */
export const inlineJsonOf = (event: InboxEvent): string | undefined => (isHeld(event) ? inlineJson(event) : undefined);

/** A long event, whose parts come from the store. Many waits may share one. */
class StoredEvent implements UnfinishedEvent {
  readonly #reader: EventReader;
  readonly #callback: Callback;
  readonly #event: InboxEvent;
  readonly #first: EventPart | undefined;

  constructor(reader: EventReader, callback: Callback, event: InboxEvent, first?: EventPart) {
    this.#reader = reader;
    this.#callback = callback;
    this.#event = event;
    this.#first = first;
  }

  read(index: number): EventPart | Promise<EventPart | Absent> {
    if (index === 0 && this.#first !== undefined) return this.#first;
    return this.#reader.part(this.#callback, this.#event, index);
  }
}

/** An event of memory that is finished while its answer leaves, because others take the first piece. */
class HeldEvent implements UnfinishedEvent {
  readonly #event: InlineEvent;

  constructor(event: InlineEvent) {
    this.#event = event;
  }

  read(): EventPart {
    return inlinePart(this.#event);
  }
}

export class EventReader {
  readonly #store: EventStore;
  readonly #lifetimes: Lifetimes;

  constructor(store: EventStore, lifetimes: Lifetimes) {
    this.#store = store;
    this.#lifetimes = lifetimes;
  }

  /** One part of a long event, or how the callback ended during the read. */
  async part(callback: Callback, event: InboxEvent, index: number): Promise<EventPart | Absent> {
    const part = await this.#store.read(callback.id, event.id, index);
    if (part !== undefined) return part;
    const ended = this.#lifetimes.endOf(callback);
    if (ended === undefined) throw new Error(`the store has lost ${event.id}`);
    return ended;
  }

  /** A long event, or how the callback ended during the read. */
  async longJson(callback: Callback, event: InboxEvent): Promise<EventJson | Absent> {
    const first = await this.part(callback, event, 0);
    if (!('bytes' in first)) return first;
    return jsonBytesMax(event) <= FINISHED_BYTES_MAX
      ? finishedJson(first)
      : new StoredEvent(this, callback, event, first);
  }

  /** @param callback a live one */
  async events(callback: Callback): Promise<Listing | Absent> {
    const events: EventJson[] = [];
    let leftBytes = FINISHED_BYTES_MAX;
    for (const event of callback.events) {
      if (isHeld(event)) {
        const json = leftBytes > 0 ? inlineJson(event) : '';
        leftBytes -= Buffer.byteLength(json);
        events.push(leftBytes > 0 ? json : new HeldEvent(event));
        continue;
      }
      const isFirst = leftBytes > 0;
      leftBytes -= jsonBytesMax(event);
      const json = isFirst
        ? await this.#listed(callback, event, leftBytes > 0)
        : new StoredEvent(this, callback, event);
      if (typeof json !== 'string' && !('read' in json)) return json;
      events.push(json);
    }
    return { kind: 'events', events };
  }

  /** A long event of a listing: finished when it fits the first piece, else with its first part. */
  async #listed(callback: Callback, event: InboxEvent, isFinished: boolean): Promise<EventJson | Absent> {
    const first = await this.part(callback, event, 0);
    if (!('bytes' in first)) return first;
    return isFinished ? finishedJson(first) : new StoredEvent(this, callback, event, first);
  }

  /** @param callback a live one */
  async raw(callback: Callback, eventId: string): Promise<RawFound> {
    const event = callback.events.find((candidate) => candidate.id === eventId);
    if (event === undefined) return UNKNOWN_EVENT;
    const first = isHeld(event) ? inlinePart(event) : await this.part(callback, event, 0);
    if (!('bytes' in first)) return first;
    const { head, sizeBytes, bytes } = first;
    const contentType = originalContentType(head);
    return { kind: 'raw', contentType, sizeBytes, first: bytes, event: new StoredEvent(this, callback, event, first) };
  }
}
