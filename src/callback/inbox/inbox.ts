/**
 * All callbacks of a process: made, posted to, read, waited for, ended (callback.md; decisions §5). Every decision is taken
 * from memory and the clock that is handed in; timers only clean up. Everything that is acknowledged has been through the
 * store first.
 *
 * Invariants: a live callback is never evicted, shortened or unreadable; at most EVENT_COUNT_MAX events each, decided again
 * at the moment of storing; every stored event reaches a chain of waits once, in order; nothing is stored in a callback
 * that has ended; when every lifetime has passed, maps and claims are empty.
 */
import type { Clock } from '../../base/clock.ts';
import { isSameDigest } from '../../base/digest.ts';
import type { Random } from '../../base/random.ts';
import type { RateWindow } from '../../base/rate-window.ts';
import type { Timers } from '../../base/timers.ts';
import {
  type EventRecord,
  eventHead,
  finishedJson,
  type HeldEvent,
  heldEvent,
  isAcceptable,
  originalContentType,
  type RawBody,
  rawOf,
  type Webhook,
} from '../event.ts';
import { type CallbackId, type EventId, newCallbackId, newEventId } from '../identifier.ts';
import {
  EVENT_COUNT_MAX,
  LIFETIME_MS,
  RATE_WINDOW_MS,
  SWEEP_PAUSE_MS,
  TOMBSTONE_MS,
  tombstoneCountMax,
  UNKNOWN_ID_COUNT_MAX,
  WAIT_COUNT_MAX,
} from '../limits.ts';
import { digestOf, newReadToken } from '../read-token.ts';
import { Callback, newRateWindow } from './callback.ts';
import { Room } from './capacity-ledger.ts';
import { Deadlines } from './deadlines.ts';
import { ExpiryMap } from './expiry-map.ts';
import type { CallbackStore } from './store.ts';
import type { Client, Wait, Waiter, Waiters, WaitPorts, Woken } from './waiters.ts';

export interface InboxPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly store: CallbackStore;
  /**
   * The store failed where nobody waits for it: the events of an expired callback may still take space, or who waited for a
   * long event has to ask again.
   */
  onStoreFault(fault: unknown): void;
}

export interface Created {
  readonly id: CallbackId;
  /** Shown to the customer once, and kept nowhere. */
  readonly readToken: string;
  /** Wall clock, milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** A callback that is not there any more, or never was. */
export type Absent = { readonly kind: 'not-found' } | { readonly kind: 'expired' };

/** What whoever asks for it is told. */
export const ABSENT_MESSAGES = {
  'not-found': 'there is no such callback',
  expired: 'this callback is past its ten minutes',
} as const;

/** May this webhook be read? In the order of the checks; `rate` counts this request unless it is `too-many`. */
export type Admission =
  | { readonly kind: 'admitted'; readonly callback: Callback }
  | { readonly kind: 'too-many'; readonly retryAfterMs: number }
  | Absent
  | { readonly kind: 'full' };

export type Received =
  | { readonly kind: 'stored'; readonly eventId: EventId }
  | { readonly kind: 'invalid-json' }
  | Absent
  | { readonly kind: 'full' };

export type Authorized = { readonly kind: 'allowed' } | { readonly kind: 'wrong-token' } | Absent;

export type Waited = Woken | { readonly kind: 'unknown-event' } | { readonly kind: 'too-many-waits' };

/** Nothing yet: the waiter is told. */
export interface Parked {
  readonly kind: 'parked';
}

export interface Listing {
  readonly kind: 'events';
  readonly expiresAtMs: number;
  /** Finished JSON of each event, in receipt order. */
  readonly events: readonly string[];
}

export type RawFound = (RawBody & { readonly kind: 'raw' }) | { readonly kind: 'unknown-event' } | Absent;

/** What is left of an expired callback: enough to tell its owner so. */
interface Tombstone {
  readonly tokenDigest: Uint8Array;
}

const NOT_FOUND = { kind: 'not-found' } as const;
const EXPIRED = { kind: 'expired' } as const;
const FULL = { kind: 'full' } as const;
const UNKNOWN_EVENT = { kind: 'unknown-event' } as const;
const PARKED: Parked = { kind: 'parked' };

export class Inbox {
  readonly room: Room;
  readonly #ports: InboxPorts;
  readonly #live: ExpiryMap<Callback>;
  readonly #tombstones: ExpiryMap<Tombstone>;
  /** Rates of ids that are no live callback's. */
  readonly #strangers: ExpiryMap<RateWindow>;
  readonly #waitPorts: WaitPorts;
  #waitCount = 0;
  #isClosing = false;

  /** @param capacityBytes what all callbacks together may claim */
  constructor(capacityBytes: number, ports: InboxPorts) {
    const { clock, timers } = ports;
    this.room = new Room(capacityBytes, () => this.#live.sweep());
    this.#ports = ports;
    this.#live = new ExpiryMap({
      lifetimeMs: LIFETIME_MS,
      sweepPauseMs: SWEEP_PAUSE_MS,
      clock,
      timers,
      onEnd: (callback) => this.#end(callback, 'expired'),
    });
    this.#tombstones = new ExpiryMap({
      lifetimeMs: TOMBSTONE_MS,
      sweepPauseMs: SWEEP_PAUSE_MS,
      countMax: tombstoneCountMax(capacityBytes),
      clock,
      timers,
    });
    this.#strangers = new ExpiryMap({
      lifetimeMs: RATE_WINDOW_MS,
      sweepPauseMs: SWEEP_PAUSE_MS,
      countMax: UNKNOWN_ID_COUNT_MAX,
      clock,
      timers,
    });
    this.#waitPorts = {
      deadlines: new Deadlines(clock, timers),
      onCount: (change) => {
        this.#waitCount += change;
      },
    };
  }

  /** Counts for metrics and tests; ended entries that were not swept yet are among them. */
  get counts(): {
    readonly live: number;
    readonly tombstones: number;
    readonly strangers: number;
    readonly waits: number;
  } {
    return {
      live: this.#live.size,
      tombstones: this.#tombstones.size,
      strangers: this.#strangers.size,
      waits: this.#waitCount,
    };
  }

  /** Takes up what the store kept. Called once, before anything else. */
  async load(): Promise<void> {
    const { clock, store } = this.#ports;
    const nowMs = clock.nowMs();
    const loaded = await store.load(nowMs, TOMBSTONE_MS);
    const inOrder = [...loaded].sort((a, b) => a.callback.expiresAtMs - b.callback.expiresAtMs);
    for (const { callback: kept, events } of inOrder) {
      // A wall clock that was set back while nothing ran gives nobody more than a lifetime.
      const leftMs = Math.min(kept.expiresAtMs - nowMs, LIFETIME_MS);
      if (leftMs <= 0) {
        const rememberedMs = leftMs + TOMBSTONE_MS;
        if (rememberedMs > 0) this.#tombstones.set(kept.id, { tokenDigest: kept.tokenDigest }, rememberedMs);
        this.#inBackground(store.expire(kept.id));
        continue;
      }
      const callback = new Callback(kept.id, kept.tokenDigest, kept.expiresAtMs, clock.monotonicMs() + leftMs);
      for (const { bytes, ...event } of events) {
        const { id, form } = event;
        callback.addEvent(
          bytes === null || !isAcceptable(form, bytes)
            ? { id, json: null, bodyStart: 0, isText: form.kind === 'text', bytes: null }
            : heldEvent({ ...event, bytes }),
        );
        callback.lastReceivedSeconds = Math.max(callback.lastReceivedSeconds, event.receivedAtSeconds);
      }
      this.room.adopt();
      this.#live.set(callback.id, callback, leftMs);
    }
  }

  /**
   * A new callback, whose lifetime begins now. Its bytes have been claimed from `room` before; the claim is the callback's
   * from here on, and is given back when this fails.
   */
  async create(): Promise<Created> {
    const { clock, random, store } = this.#ports;
    let id = newCallbackId(random);
    while (this.#live.peek(id) !== undefined || this.#tombstones.peek(id) !== undefined) id = newCallbackId(random);
    const readToken = newReadToken(random);
    const expiresAtMs = clock.nowMs() + LIFETIME_MS;
    const callback = new Callback(id, digestOf(readToken), expiresAtMs, clock.monotonicMs() + LIFETIME_MS);
    this.room.own();
    this.#live.set(id, callback);
    try {
      await store.create({ id, tokenDigest: callback.tokenDigest, expiresAtMs });
    } catch (fault) {
      if (callback.state === 'active') {
        this.#live.delete(id);
        callback.end('deleted');
        this.room.vacate();
      }
      throw fault;
    }
    return { id, readToken, expiresAtMs };
  }

  /** The checks of a webhook that need no body: rate, existence, expiry, limit of events. */
  admit(id: CallbackId): Admission {
    const nowMs = this.#ports.clock.monotonicMs();
    const retryAfterMs = this.#rateOf(id).tryPass(nowMs);
    if (retryAfterMs > 0) return { kind: 'too-many', retryAfterMs };
    const callback = this.#find(id);
    if (callback === undefined) return this.#absent(id);
    return callback.events.length < EVENT_COUNT_MAX ? { kind: 'admitted', callback } : FULL;
  }

  /** Judges a JSON body and stores the webhook; expiry and the limit of events are decided again here. */
  async receive(callback: Callback, webhook: Webhook): Promise<Received> {
    if (!isAcceptable(webhook.form, webhook.bytes)) return { kind: 'invalid-json' };
    const before = callback.storing;
    const storing = before === undefined ? this.#store(callback, webhook) : this.#storeAfter(before, callback, webhook);
    const settled = storing.then(
      () => undefined,
      () => undefined,
    );
    callback.storing = settled;
    try {
      return await storing;
    } finally {
      if (callback.storing === settled) callback.storing = undefined;
    }
  }

  /** Whose token is it? Existence, then token, then expiry. */
  authorize(id: CallbackId, token: string): Authorized {
    const callback = this.#find(id);
    const digest = callback?.tokenDigest ?? this.#tombstones.get(id)?.tokenDigest;
    if (digest === undefined) return NOT_FOUND;
    if (!isSameDigest(digest, digestOf(token))) return { kind: 'wrong-token' };
    return callback === undefined ? EXPIRED : { kind: 'allowed' };
  }

  /**
   * The first event after `after` (null: the first of all), now, or to `waiter` within `timeoutMs`. At shutdown every wait
   * times out. A wait that would outlast its callback ends with it.
   */
  wait(
    id: CallbackId,
    after: string | null,
    timeoutMs: number,
    client: Client,
    waiter: Waiter,
  ): Waited | Parked | Promise<Waited> {
    const callback = this.#find(id);
    if (callback === undefined) return this.#absent(id);
    const known = after === null ? -1 : callback.events.findIndex((event) => event.id === after);
    if (after !== null && known < 0) return UNKNOWN_EVENT;
    const next = callback.events[known + 1];
    if (next !== undefined) return this.#eventFound(callback, next);
    if (this.#isClosing) return { kind: 'timed-out' };
    const waiters = callback.waiting(this.#waitPorts);
    if (waiters.count >= WAIT_COUNT_MAX) return { kind: 'too-many-waits' };
    if (client.isDisconnected()) return { kind: 'gone' };
    const endsInMs = callback.endsAtMs - this.#ports.clock.monotonicMs();
    if (timeoutMs >= endsInMs) this.#endInTime(callback, endsInMs);
    waiters.add(waiter, client, timeoutMs < endsInMs ? timeoutMs : undefined);
    return PARKED;
  }

  async events(id: CallbackId): Promise<Listing | Absent> {
    const callback = this.#find(id);
    if (callback === undefined) return this.#absent(id);
    const events: string[] = [];
    for (const event of callback.events) {
      const json = event.json ?? (await this.#finished(callback, event));
      if (json === undefined) return this.#absent(id);
      events.push(json);
    }
    return { kind: 'events', expiresAtMs: callback.expiresAtMs, events };
  }

  /** The exact bytes of one event. */
  async raw(id: CallbackId, eventId: string): Promise<RawFound> {
    const callback = this.#find(id);
    if (callback === undefined) return this.#absent(id);
    const event = callback.events.find((candidate) => candidate.id === eventId);
    if (event === undefined) return UNKNOWN_EVENT;
    const { json } = event;
    if (json !== null) return { kind: 'raw', ...rawOf({ ...event, json }) };
    const record = await this.#ports.store.read(callback.id, event.id);
    if (record === undefined) return this.#absent(id);
    return { kind: 'raw', bytes: record.bytes, contentType: originalContentType(record.head) };
  }

  /** Ends a callback before its time. When this resolves, it is gone for good. */
  async delete(id: CallbackId): Promise<{ readonly kind: 'deleted' } | Absent> {
    const callback = this.#find(id);
    if (callback === undefined) return this.#absent(id);
    const { storing } = callback;
    this.#live.delete(id);
    this.#end(callback, 'deleted');
    await storing;
    await this.#ports.store.delete(id);
    return { kind: 'deleted' };
  }

  /** Shutdown: whoever waits is told to come back, now and from now on. What was stored stays. */
  close(): void {
    this.#isClosing = true;
    for (const callback of this.#live.values()) {
      callback.waiters?.endAll({ kind: 'timed-out' });
      callback.cancelEnd?.();
    }
    this.#live.close();
    this.#tombstones.close();
    this.#strangers.close();
  }

  /** The live callback; one past its end is ended here, whether or not a timer has seen it. */
  #find(id: CallbackId): Callback | undefined {
    const callback = this.#live.peek(id);
    if (callback === undefined || this.#ports.clock.monotonicMs() < callback.endsAtMs) return callback;
    this.#live.delete(id);
    this.#end(callback, 'expired');
    return undefined;
  }

  /** Somebody waits past the callback's end, which is not left to the sweep then. */
  #endInTime(callback: Callback, endsInMs: number): void {
    callback.cancelEnd ??= this.#ports.timers.after(Math.ceil(endsInMs), () => {
      callback.cancelEnd = undefined;
      if (this.#find(callback.id) === undefined) return;
      this.#endInTime(callback, callback.endsAtMs - this.#ports.clock.monotonicMs());
    });
  }

  #absent(id: CallbackId): Absent {
    return this.#tombstones.get(id) === undefined ? NOT_FOUND : EXPIRED;
  }

  /** The live callback's own exact window, or the one of an id without a callback. */
  #rateOf(id: CallbackId): RateWindow {
    const callback = this.#live.peek(id);
    if (callback !== undefined) return callback.rateWindow();
    const window = this.#strangers.get(id) ?? newRateWindow();
    this.#strangers.set(id, window);
    return window;
  }

  /** The callback is no longer in the map of live ones. */
  #end(callback: Callback, state: 'expired' | 'deleted'): void {
    const { id, tokenDigest, rate, storing } = callback;
    callback.end(state);
    callback.cancelEnd?.();
    this.room.vacate();
    // The rate is the id's: it counts on across the end.
    if (rate !== undefined) this.#strangers.set(id, rate);
    if (state === 'deleted') {
      callback.waiters?.endAll(NOT_FOUND);
      return;
    }
    const rememberedMs = callback.endsAtMs + TOMBSTONE_MS - this.#ports.clock.monotonicMs();
    if (rememberedMs > 0) this.#tombstones.set(id, { tokenDigest }, rememberedMs);
    callback.waiters?.endAll(EXPIRED);
    this.#inBackground(this.#expireStored(id, storing));
  }

  async #expireStored(id: CallbackId, storing: Promise<unknown> | undefined): Promise<void> {
    await storing;
    await this.#ports.store.expire(id);
  }

  #inBackground(work: Promise<void>): void {
    work.catch((fault: unknown) => this.#ports.onStoreFault(fault));
  }

  async #storeAfter(before: Promise<unknown>, callback: Callback, webhook: Webhook): Promise<Received> {
    await before;
    return this.#store(callback, webhook);
  }

  /** One append, alone on its callback. Published only when the store has it. */
  async #store(callback: Callback, webhook: Webhook): Promise<Received> {
    const { clock, random, store } = this.#ports;
    const ended = this.#endOf(callback);
    if (ended !== undefined) return ended;
    if (callback.events.length >= EVENT_COUNT_MAX) return FULL;
    const { method, form, retained, bytes } = webhook;
    const receivedAtSeconds = Math.max(callback.lastReceivedSeconds, Math.floor(clock.nowMs() / 1000));
    const id = newEventId(random);
    const head = eventHead(id, receivedAtSeconds, method, retained);
    const held = heldEvent({ id, receivedAtSeconds, head, form, bytes });
    // The bytes of a long event are the store's from here on.
    const record: EventRecord = { id, receivedAtSeconds, head, form, bytes, isInline: held.json !== null };
    await store.append(callback.id, record);
    const endedMeanwhile = this.#endOf(callback);
    if (endedMeanwhile !== undefined) return endedMeanwhile;
    callback.lastReceivedSeconds = receivedAtSeconds;
    callback.addEvent(held);
    const { waiters } = callback;
    if (waiters !== undefined && waiters.count > 0) {
      const waits = waiters.expecting();
      if (held.json === null) await this.#wakeWithLong(callback, held, waiters, waits);
      else for (const wait of waits) waiters.end(wait, { kind: 'event', eventId: id, json: held.json });
    }
    return { kind: 'stored', eventId: id };
  }

  /**
   * A long event is read back for those who waited when it came; whoever begins to wait meanwhile has seen it. The callback's
   * next event waits for this. When the store fails, they wait on, and find it when they ask again.
   */
  async #wakeWithLong(callback: Callback, event: HeldEvent, waiters: Waiters, waits: readonly Wait[]): Promise<void> {
    let how: Woken;
    try {
      const json = await this.#finished(callback, event);
      how = json === undefined ? this.#absent(callback.id) : { kind: 'event', eventId: event.id, json };
    } catch (fault) {
      this.#ports.onStoreFault(fault);
      for (const wait of waits) wait.hasMissed = true;
      return;
    }
    for (const wait of waits) waiters.end(wait, how);
  }

  /** How a callback that somebody still holds has ended, if it has. */
  #endOf(callback: Callback): Absent | undefined {
    this.#find(callback.id);
    switch (callback.state) {
      case 'active':
        return undefined;
      case 'expired':
        return EXPIRED;
      case 'deleted':
        return NOT_FOUND;
      default:
        return callback.state satisfies never;
    }
  }

  async #eventFound(callback: Callback, event: HeldEvent): Promise<Waited> {
    const json = event.json ?? (await this.#finished(callback, event));
    return json === undefined ? this.#absent(callback.id) : { kind: 'event', eventId: event.id, json };
  }

  /** An event of the store; undefined when its callback ended while it was read. */
  async #finished(callback: Callback, event: HeldEvent): Promise<string | undefined> {
    const record = await this.#ports.store.read(callback.id, event.id);
    if (record !== undefined) return finishedJson(record);
    if (this.#endOf(callback) === undefined) throw new Error(`the store has lost ${event.id}`);
    return undefined;
  }
}
