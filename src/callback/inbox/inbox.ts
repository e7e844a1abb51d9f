/**
 * The callbacks of one process. The inbox implements the port of callbacks.ts and decides everything from memory and its
 * clock; an event store makes the result durable (callback.md; decisions §5). This file has the rules of requests; lifetimes.ts
 * tracks live and expired callbacks, storing.ts appends events, waking.ts parks and wakes waits, reading.ts reads events.
 */
import type { Clock } from '../../base/clock.ts';
import { isSameDigest } from '../../base/digest.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { Random } from '../../base/random.ts';
import type { Timers } from '../../base/timers.ts';
import {
  type Absent,
  type Authorized,
  type CallbackCounts,
  type CallbackDraft,
  type CallbackHandle,
  type Callbacks,
  type Client,
  type Created,
  EXPIRED,
  FULL,
  type Listing,
  NOT_FOUND,
  type Parked,
  type RawFound,
  type ReadAdmission,
  type Received,
  type Waited,
  type Waiter,
  type WebhookAdmission,
} from '../callbacks.ts';
import { inboxEventOf, type Webhook } from '../event.ts';
import { type CallbackId, newCallbackId } from '../identifier.ts';
import { EVENT_COUNT_MAX, LIFETIME_MS, TOMBSTONE_MS } from '../limits.ts';
import { digestOf, newReadToken } from '../read-token.ts';
import { Callback } from './callback.ts';
import type { CapacityLedger } from './capacity-ledger.ts';
import type { EventStore, LoadedCallback } from './event-store.ts';
import { ExpiredAtStart } from './expired-at-start.ts';
import { Lifetimes } from './lifetimes.ts';
import { EventReader, type EventSource } from './reading.ts';
import { EventWriter } from './storing.ts';
import { Waking } from './waking.ts';

export interface InboxPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly store: EventStore;
  /**
   * Called when the store failed in the background, where no request waits for it: the events of an expired callback may still
   * take up space, or a wait missed a long event and its client must ask again.
   */
  onFailure(failure: unknown): void;
}

type Deleted = { readonly kind: 'deleted' };

/** @throws Error for a handle of another implementation: a bug in the caller */
function callbackOf(handle: CallbackHandle): Callback {
  if (!(handle instanceof Callback)) throw new Error('not a callback of this inbox');
  return handle;
}

const sourceOf = (store: EventStore, lifetimes: Lifetimes): EventSource<Callback> => ({
  async part(callback, event, index) {
    const part = await store.read(callback.id, event.id, index);
    if (part !== undefined) return part;
    const ended = lifetimes.endOf(callback) ?? (callback.isDeleting ? NOT_FOUND : undefined);
    if (ended === undefined) throw new Error(`the store has lost ${event.id}`);
    return ended;
  },
});

export class Inbox implements Callbacks {
  readonly #ports: InboxPorts;
  readonly #lifetimes: Lifetimes;
  readonly #reader: EventReader<Callback>;
  readonly #waking: Waking;
  readonly #writer: EventWriter;
  readonly #expiredAtStart: ExpiredAtStart;
  /** Callbacks that are not on record yet. */
  readonly #creating = new Map<CallbackId, Promise<void>>();

  /** @param capacityBytes bytes that all callbacks together may claim */
  constructor(capacityBytes: number, ports: InboxPorts) {
    const { clock, random, timers, store } = ports;
    this.#ports = ports;
    const lifetimes = new Lifetimes(capacityBytes, {
      clock,
      timers,
      onExpired: (callback, storing) => void this.#reported(this.#expireStored(callback.id, storing)),
    });
    const reader = new EventReader(sourceOf(store, lifetimes));
    const waking = new Waking({ clock, timers, lifetimes, reader, onFailure: (failure) => ports.onFailure(failure) });
    this.#lifetimes = lifetimes;
    this.#reader = reader;
    this.#waking = waking;
    this.#writer = new EventWriter({ clock, random, store, lifetimes, waking });
    this.#expiredAtStart = new ExpiredAtStart({
      clock,
      timers,
      revive: (callbacks) => lifetimes.addAmong(callbacks.map(({ loaded, leftMs }) => this.#restored(loaded, leftMs))),
      end: (ids) => this.#endedStored(ids),
    });
  }

  get capacity(): CapacityLedger {
    return this.#lifetimes.capacity;
  }

  get counts(): CallbackCounts {
    const { liveCount, tombstoneCount, unknownIdCount } = this.#lifetimes;
    return { live: liveCount, tombstones: tombstoneCount, unknownIds: unknownIdCount, waits: this.#waking.waitCount };
  }

  /** Loads the callbacks of an earlier process from the store. Called once, before any other method. */
  async load(): Promise<void> {
    const { clock, store } = this.#ports;
    const loaded = await store.load(clock.nowMs(), TOMBSTONE_MS);
    // Not the time before the store was read: that may take seconds.
    const nowMs = clock.nowMs();
    const inOrder = [...loaded].sort((a, b) => a.callback.expiresAtMs - b.callback.expiresAtMs);
    const expired: LoadedCallback[] = [];
    for (const one of inOrder) {
      const { id, tokenDigest, expiresAtMs } = one.callback;
      // If the wall clock was set back between two processes, no callback gets more than one lifetime.
      const leftMs = Math.min(expiresAtMs - nowMs, LIFETIME_MS);
      if (leftMs > 0) this.#lifetimes.add(this.#restored(one, leftMs), leftMs);
      else {
        this.#lifetimes.addTombstone(id, tokenDigest, leftMs + TOMBSTONE_MS);
        expired.push(one);
      }
    }
    this.#expiredAtStart.watch(expired);
  }

  /** A callback of an earlier process, with its claim. */
  #restored({ callback: { id, tokenDigest, expiresAtMs }, events }: LoadedCallback, leftMs: number): Callback {
    const callback = new Callback(id, tokenDigest, expiresAtMs, this.#ports.clock.monotonicMs() + leftMs);
    for (const event of events) {
      callback.addEvent(inboxEventOf(event, event.sizeBytes, event.bytes));
      callback.lastReceivedSeconds = Math.max(callback.lastReceivedSeconds, event.receivedAtSeconds);
    }
    this.capacity.restore();
    return callback;
  }

  draft(): CallbackDraft {
    const { random } = this.#ports;
    let id = newCallbackId(random);
    while (this.#isTaken(id)) id = newCallbackId(random);
    return { id, readToken: newReadToken(random) };
  }

  #isTaken(id: CallbackId): boolean {
    return this.#lifetimes.isTaken(id) || this.#expiredAtStart.has(id);
  }

  async create({ id, readToken }: CallbackDraft): Promise<Created> {
    const { clock, store } = this.#ports;
    const lifetimes = this.#lifetimes;
    if (this.#isTaken(id)) {
      lifetimes.capacity.release();
      // If two requests create one draft, the second waits for the first one's record and fails with it.
      await this.#creating.get(id);
      const authorized = this.authorize(id, readToken);
      if (authorized.kind === 'allowed') return { id, readToken, expiresAtMs: authorized.callback.expiresAtMs };
      throw new Error(`the callback ${id} of a draft has ended`);
    }
    const expiresAtMs = clock.nowMs() + LIFETIME_MS;
    const callback = new Callback(id, digestOf(readToken), expiresAtMs, clock.monotonicMs() + LIFETIME_MS);
    lifetimes.capacity.commit();
    lifetimes.add(callback);
    const stored = store.create({ id, tokenDigest: callback.tokenDigest, expiresAtMs });
    this.#creating.set(id, stored);
    try {
      await stored;
    } catch (fault) {
      lifetimes.discard(callback);
      throw fault;
    } finally {
      this.#creating.delete(id);
    }
    return { id, readToken, expiresAtMs };
  }

  admit(id: CallbackId): WebhookAdmission {
    const callback = this.#lifetimes.find(id);
    const rate = callback?.rateWindow() ?? this.#lifetimes.rateOfUnknown(id);
    const retryAfterMs = rate.tryPass(this.#ports.clock.monotonicMs());
    if (retryAfterMs > 0) return { kind: 'too-many', retryAfterMs };
    if (callback === undefined) return this.#lifetimes.absent(id);
    return callback.events.length < EVENT_COUNT_MAX ? { kind: 'admitted', callback } : FULL;
  }

  receive(handle: CallbackHandle, webhook: Webhook): MaybePromise<Received> {
    return this.#writer.receive(callbackOf(handle), webhook);
  }

  authorize(id: CallbackId, token: string): Authorized {
    const callback = this.#lifetimes.find(id);
    const digest = callback?.tokenDigest ?? this.#lifetimes.expiredDigest(id);
    if (digest === undefined) return NOT_FOUND;
    if (!isSameDigest(digest, digestOf(token))) return { kind: 'wrong-token' };
    return callback === undefined ? EXPIRED : { kind: 'allowed', callback };
  }

  admitRead(id: CallbackId, token: string): ReadAdmission {
    const authorized = this.authorize(id, token);
    if (authorized.kind !== 'allowed') return authorized;
    const retryAfterMs = callbackOf(authorized.callback).readWindow().tryPass(this.#ports.clock.monotonicMs());
    return retryAfterMs === 0 ? authorized : { kind: 'too-many', retryAfterMs };
  }

  wait(
    handle: CallbackHandle,
    after: string | null,
    timeoutMs: number,
    client: Client,
    waiter: Waiter,
  ): Waited | Parked | Promise<Waited> {
    const callback = callbackOf(handle);
    return this.#lifetimes.endOf(callback) ?? this.#waking.wait(callback, after, timeoutMs, client, waiter);
  }

  events(handle: CallbackHandle): Promise<Listing | Absent> {
    const callback = callbackOf(handle);
    const ended = this.#lifetimes.endOf(callback);
    return ended === undefined ? this.#reader.events(callback) : Promise.resolve(ended);
  }

  raw(handle: CallbackHandle, eventId: string): Promise<RawFound> {
    const callback = callbackOf(handle);
    const ended = this.#lifetimes.endOf(callback);
    return ended === undefined ? this.#reader.raw(callback, eventId) : Promise.resolve(ended);
  }

  async delete(handle: CallbackHandle): Promise<Deleted | Absent> {
    const callback = callbackOf(handle);
    return this.#writer.inTurn(callback, () => this.#delete(callback));
  }

  /** The callback ends only once the store has removed it: when the store fails, the owner can try again. */
  async #delete(callback: Callback): Promise<Deleted | Absent> {
    const ended = this.#lifetimes.endOf(callback);
    if (ended !== undefined) return ended;
    callback.isDeleting = true;
    try {
      await this.#ports.store.delete(callback.id);
    } finally {
      callback.isDeleting = false;
    }
    // It may have expired meanwhile.
    if (this.#lifetimes.endOf(callback) === undefined) this.#lifetimes.delete(callback);
    return { kind: 'deleted' };
  }

  drain(): void {
    this.#waking.drain();
    this.#lifetimes.drain();
  }

  close(): void {
    this.drain();
    this.#expiredAtStart.close();
    this.#lifetimes.close();
  }

  async #expireStored(id: CallbackId, storing: Promise<unknown> | undefined): Promise<void> {
    await storing;
    await this.#ports.store.expire(id);
  }

  /** A record whose hour of 410 is over goes as well. */
  async #endedStored(ids: readonly CallbackId[]): Promise<void> {
    const { store } = this.#ports;
    const ending = ids.map((id) => (this.#lifetimes.isTaken(id) ? store.expire(id) : store.delete(id)));
    await Promise.all(ending.map((end) => this.#reported(end)));
  }

  #reported(work: Promise<void>): Promise<void> {
    return work.catch((failure: unknown) => this.#ports.onFailure(failure));
  }
}
