/** Reads events: inline ones from memory, long ones part by part from where they are stored. */
import { Buffer } from 'node:buffer';
import {
  type Absent,
  type EventJson,
  type Listing,
  type RawFound,
  UNKNOWN_EVENT,
  type UnfinishedEvent,
  type Woken,
} from '../callbacks.ts';
import { type EventPart, type InboxEvent, type InlineEvent, inlinePart, originalContentType } from '../event.ts';
import { finishedJson, inlineJson, jsonBytesMax } from '../event-json.ts';
import type { CallbackId } from '../identifier.ts';
import { FRAME_BYTES_MAX, PIECE_BYTES_MAX } from '../limits.ts';

/** Bytes of all finished events in one answer. */
const FINISHED_BYTES_MAX = PIECE_BYTES_MAX - FRAME_BYTES_MAX;

const isHeld = (event: InboxEvent): event is InlineEvent => event.text !== null;

/** Finished JSON of an inline event; undefined for a long one. */
export const inlineJsonOf = (event: InboxEvent): string | undefined => (isHeld(event) ? inlineJson(event) : undefined);

/** The end of a wait: its event, or how the callback ended while the event was read. */
export const wokenBy = ({ id }: InboxEvent, json: EventJson | Absent): (Woken & { readonly kind: 'event' }) | Absent =>
  typeof json === 'string' || 'read' in json ? { kind: 'event', eventId: id, event: json } : json;

/** The part of a callback that readers of its events need. */
export interface Readable {
  readonly id: CallbackId;
  /** In receipt order. */
  readonly events: readonly InboxEvent[];
}

/** Where the parts of long events come from. */
export interface EventSource<C extends Readable> {
  /** One part of a long event, or how the callback ended meanwhile. Rejects when the part cannot be read. */
  part(callback: C, event: InboxEvent, index: number): Promise<EventPart | Absent>;
}

/** A long event, whose parts come from the store. Many waits may share one. */
class StoredEvent<C extends Readable> implements UnfinishedEvent {
  readonly #source: EventSource<C>;
  readonly #callback: C;
  readonly #event: InboxEvent;
  readonly #first: EventPart | undefined;

  constructor(source: EventSource<C>, callback: C, event: InboxEvent, first?: EventPart) {
    this.#source = source;
    this.#callback = callback;
    this.#event = event;
    this.#first = first;
  }

  read(index: number): EventPart | Promise<EventPart | Absent> {
    if (index === 0 && this.#first !== undefined) return this.#first;
    return this.#source.part(this.#callback, this.#event, index);
  }
}

/** An inline event that is finished while its answer is sent, because other events fill the first piece. */
class HeldEvent implements UnfinishedEvent {
  readonly #event: InlineEvent;

  constructor(event: InlineEvent) {
    this.#event = event;
  }

  read(): EventPart {
    return inlinePart(this.#event);
  }
}

export class EventReader<C extends Readable> {
  readonly #source: EventSource<C>;

  constructor(source: EventSource<C>) {
    this.#source = source;
  }

  /** A long event, or how the callback ended during the read. */
  longJson(callback: C, event: InboxEvent): Promise<EventJson | Absent> {
    return this.#begun(callback, event, jsonBytesMax(event) <= FINISHED_BYTES_MAX);
  }

  /** @param callback a live one */
  async events(callback: C): Promise<Listing | Absent> {
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
        ? await this.#begun(callback, event, leftBytes > 0)
        : new StoredEvent(this.#source, callback, event);
      if (typeof json !== 'string' && !('read' in json)) return json;
      events.push(json);
    }
    return { kind: 'events', events };
  }

  /** A long event: finished if it fits the first piece of the answer, else with only its first part read. */
  async #begun(callback: C, event: InboxEvent, isFinished: boolean): Promise<EventJson | Absent> {
    const first = await this.#source.part(callback, event, 0);
    if (!('bytes' in first)) return first;
    return isFinished ? finishedJson(first) : new StoredEvent(this.#source, callback, event, first);
  }

  /** @param callback a live one */
  async raw(callback: C, eventId: string): Promise<RawFound> {
    const event = callback.events.find((candidate) => candidate.id === eventId);
    if (event === undefined) return UNKNOWN_EVENT;
    const first = isHeld(event) ? inlinePart(event) : await this.#source.part(callback, event, 0);
    if (!('bytes' in first)) return first;
    const { head, sizeBytes, bytes } = first;
    return {
      kind: 'raw',
      contentType: originalContentType(head),
      sizeBytes,
      first: bytes,
      event: new StoredEvent(this.#source, callback, event, first),
    };
  }
}
