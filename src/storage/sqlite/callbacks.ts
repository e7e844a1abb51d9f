/**
 * Callbacks and events over the state file. Everything is written; only events that are too long for the inbox's memory are
 * ever read back.
 */
import type { Clock } from '../../base/clock.ts';
import type { EventRecord } from '../../callback/event.ts';
import type { CallbackId, EventId } from '../../callback/identifier.ts';
import type { CallbackRecord, CallbackStore, LoadedCallback } from '../../callback/inbox/store.ts';
import type { Journal } from './journal.ts';

interface Ended {
  readonly id: CallbackId;
  /** Monotonic time at which its record may go. */
  readonly dueMs: number;
}

export class SqliteCallbacks implements CallbackStore {
  readonly #journal: Journal;
  readonly #clock: Clock;
  #loaded: readonly LoadedCallback[];
  #rememberedMs = 0;
  /** Expired ones whose records still tell their end, oldest first; as many as expire while they are remembered. */
  #ended: Ended[] = [];

  /** @param loaded what was kept, with the bodies of inline events */
  constructor(journal: Journal, clock: Clock, loaded: readonly LoadedCallback[]) {
    this.#journal = journal;
    this.#clock = clock;
    this.#loaded = loaded;
  }

  create(callback: CallbackRecord): Promise<void> {
    return this.#journal.write({ kind: 'callback', callback });
  }

  append(id: CallbackId, event: EventRecord): Promise<void> {
    return this.#journal.write({ kind: 'event', callback: id, event });
  }

  read(id: CallbackId, eventId: EventId): Promise<EventRecord | undefined> {
    return this.#journal.read(id, eventId);
  }

  delete(id: CallbackId): Promise<void> {
    return this.#journal.write({ kind: 'delete-callback', id });
  }

  async expire(id: CallbackId): Promise<void> {
    await this.#journal.write({ kind: 'expire-callback', id });
    const nowMs = this.#clock.monotonicMs();
    this.#ended.push({ id, dueMs: nowMs + this.#rememberedMs });
    const firstKept = this.#ended.findIndex(({ dueMs }) => dueMs > nowMs);
    const due = this.#ended.splice(0, firstKept < 0 ? this.#ended.length : firstKept);
    await Promise.all(due.map((ended) => this.delete(ended.id)));
  }

  /** Read once, and let go of. */
  async load(_nowMs: number, rememberedMs: number): Promise<readonly LoadedCallback[]> {
    const loaded = this.#loaded;
    this.#loaded = [];
    this.#rememberedMs = rememberedMs;
    return loaded;
  }
}
