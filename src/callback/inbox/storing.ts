/**
 * Stores webhooks as events. Appends to one callback run one after another. Readers see an event only when the store has it;
 * expiry and the limit of events are checked again at that moment.
 */
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Received } from '../callbacks.ts';
import { type EventRecord, eventHead, inboxEventOf, isAcceptable, type Webhook } from '../event.ts';
import { newEventId } from '../identifier.ts';
import { EVENT_COUNT_MAX } from '../limits.ts';
import type { Callback } from './callback.ts';
import type { EventStore } from './event-store.ts';
import type { Lifetimes } from './lifetimes.ts';
import type { Waking } from './waking.ts';

const FULL = { kind: 'full' } as const;

export interface StoringPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: EventStore;
  readonly lifetimes: Lifetimes;
  readonly waking: Waking;
}

export class EventWriter {
  readonly #ports: StoringPorts;

  constructor(ports: StoringPorts) {
    this.#ports = ports;
  }

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

  async #storeAfter(before: Promise<unknown>, callback: Callback, webhook: Webhook): Promise<Received> {
    await before;
    return this.#store(callback, webhook);
  }

  /** Appends one event while no other append of its callback runs. */
  async #store(callback: Callback, webhook: Webhook): Promise<Received> {
    const { clock, random, store, lifetimes, waking } = this.#ports;
    const ended = lifetimes.endOf(callback);
    if (ended !== undefined) return ended;
    if (callback.events.length >= EVENT_COUNT_MAX) return FULL;
    const { method, form, retained, bytes } = webhook;
    const receivedAtSeconds = Math.max(callback.lastReceivedSeconds, Math.floor(clock.nowMs() / 1000));
    const id = newEventId(random);
    const head = eventHead(id, receivedAtSeconds, method, retained);
    const event = inboxEventOf({ id, head, form }, bytes.length, bytes);
    // The store owns the bytes of a long event from here on.
    const record: EventRecord = { id, receivedAtSeconds, head, form, bytes, isInline: event.text !== null };
    await store.append(callback.id, record);
    const endedMeanwhile = lifetimes.endOf(callback);
    if (endedMeanwhile !== undefined) return endedMeanwhile;
    callback.lastReceivedSeconds = receivedAtSeconds;
    callback.addEvent(event);
    const woken = waking.wake(callback, event);
    if (woken !== undefined) await woken;
    return { kind: 'stored', eventId: id };
  }
}
