/**
 * The event store over the state file. It writes every event and reads back only those too long for the inbox's memory,
 * one part at a time.
 */
import type { Clock } from '../../base/clock.ts';
import type { EventPart, EventRecord } from '../../callback/event.ts';
import type { CallbackId, EventId } from '../../callback/identifier.ts';
import type { CallbackRecord, EventStore, LoadedCallback } from '../../callback/inbox/event-store.ts';
import type { Journal } from './journal.ts';
import { CALLBACKS, type CallbackOperation, type EventQuery } from './tables/callbacks.ts';

/**
 * Records that are removed with one expiry: more than one, so that a backlog shrinks, but few, because the journal refuses what is
 * too much at once.
 */
const REMOVALS_MAX = 2;

interface Ended {
  readonly id: CallbackId;
  /** Monotonic time from which its record may be removed. */
  readonly dueMs: number;
}

export class SqliteEventStore implements EventStore {
  readonly #journal: Journal;
  readonly #clock: Clock;
  #loaded: readonly LoadedCallback[];
  #tombstoneMs = 0;
  /** Expired callbacks that still have a record, oldest first; at most as many as expire in `tombstoneMs`. */
  #ended: Ended[] = [];

  /** @param loaded the callbacks of earlier processes, with the bodies of inline events */
  constructor(journal: Journal, clock: Clock, loaded: readonly LoadedCallback[]) {
    this.#journal = journal;
    this.#clock = clock;
    this.#loaded = loaded;
  }

  create(callback: CallbackRecord): Promise<void> {
    return this.#write({ table: CALLBACKS, kind: 'callback', callback });
  }

  append(id: CallbackId, event: EventRecord): Promise<void> {
    return this.#write({ table: CALLBACKS, kind: 'event', callback: id, event });
  }

  read(id: CallbackId, eventId: EventId, index: number): Promise<EventPart | undefined> {
    const query: EventQuery = { table: CALLBACKS, callback: id, eventId, index };
    return this.#journal.read(query) as Promise<EventPart | undefined>;
  }

  delete(id: CallbackId): Promise<void> {
    return this.#write({ table: CALLBACKS, kind: 'delete-callback', id });
  }

  async expire(id: CallbackId): Promise<void> {
    await this.#write({ table: CALLBACKS, kind: 'expire-callback', id });
    const nowMs = this.#clock.monotonicMs();
    this.#ended.push({ id, dueMs: nowMs + this.#tombstoneMs });
    const dueCount = this.#ended.slice(0, REMOVALS_MAX).filter(({ dueMs }) => dueMs <= nowMs).length;
    await Promise.all(this.#ended.splice(0, dueCount).map((ended) => this.delete(ended.id)));
  }

  /** Returns the loaded callbacks and drops them, so that the store does not hold them for the life of the process. */
  async load(_nowMs: number, tombstoneMs: number): Promise<readonly LoadedCallback[]> {
    const loaded = this.#loaded;
    this.#loaded = [];
    this.#tombstoneMs = tombstoneMs;
    return loaded;
  }

  #write(operation: CallbackOperation): Promise<void> {
    return this.#journal.write(operation);
  }
}
