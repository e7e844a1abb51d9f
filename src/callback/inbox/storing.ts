/**
 * Stores webhooks as events. Appends to one callback, and its deletion, run one after another. Readers see an event only once
 * the store has it; expiry and the limit of events are checked again at that moment.
 */
import type { Clock } from '../../base/clock.ts';
import { chain, type MaybePromise } from '../../base/maybe-promise.ts';
import type { Random } from '../../base/random.ts';
import { FULL, type Received } from '../callbacks.ts';
import { type EventRecord, eventHead, type InboxEvent, inboxEventOf, isAcceptable, type Webhook } from '../event.ts';
import { newEventId } from '../identifier.ts';
import { EVENT_COUNT_MAX } from '../limits.ts';
import type { Callback } from './callback.ts';
import type { EventStore } from './event-store.ts';
import type { Lifetimes } from './lifetimes.ts';
import type { Waking } from './waking.ts';

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

  receive(callback: Callback, webhook: Webhook): MaybePromise<Received> {
    if (!isAcceptable(webhook.form, webhook.bytes)) return { kind: 'invalid-json' };
    return this.inTurn(callback, () => this.#store(callback, webhook));
  }

  /** Runs a step while no other append or deletion of its callback runs. */
  inTurn<Result>(callback: Callback, step: () => MaybePromise<Result>): MaybePromise<Result> {
    const storing = chain(callback.storing, step);
    if (!(storing instanceof Promise)) return storing;
    const over = (): void => {
      if (callback.storing === settled) callback.storing = undefined;
    };
    const settled = storing.then(over, over);
    callback.storing = settled;
    return storing;
  }

  #store(callback: Callback, webhook: Webhook): MaybePromise<Received> {
    const { clock, random, store, lifetimes } = this.#ports;
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
    return chain(store.append(callback.id, record), () => this.#stored(callback, event, receivedAtSeconds));
  }

  /** Shows an event that the store has. */
  #stored(callback: Callback, event: InboxEvent, receivedAtSeconds: number): MaybePromise<Received> {
    const { lifetimes, waking } = this.#ports;
    const ended = lifetimes.endOf(callback);
    if (ended !== undefined) return ended;
    callback.lastReceivedSeconds = receivedAtSeconds;
    callback.addEvent(event);
    const received = { kind: 'stored', eventId: event.id } as const;
    return chain(waking.wake(callback, event), () => received);
  }
}
