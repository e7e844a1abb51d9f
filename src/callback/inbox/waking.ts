/** Parks waits and wakes them with the next event. The beginning of a long event is read back once for all waits. */
import type { Clock } from '../../base/clock.ts';
import { Deadlines } from '../../base/deadlines.ts';
import type { Timers } from '../../base/timers.ts';
import { type Client, type Parked, UNKNOWN_EVENT, type Waited, type Waiter, type Woken } from '../callbacks.ts';
import type { InboxEvent } from '../event.ts';
import { WAIT_COUNT_MAX } from '../limits.ts';
import type { Callback } from './callback.ts';
import type { Lifetimes } from './lifetimes.ts';
import { type EventReader, inlineJsonOf, wokenBy } from './reading.ts';
import type { Wait, Waiters, WaitPorts } from './waiters.ts';

const PARKED: Parked = { kind: 'parked' };

export interface WakingPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly lifetimes: Lifetimes;
  readonly reader: EventReader<Callback>;
  onFailure(failure: unknown): void;
}

export class Waking {
  readonly #ports: WakingPorts;
  readonly #waitPorts: WaitPorts;
  #waitCount = 0;
  #isDraining = false;

  constructor(ports: WakingPorts) {
    this.#ports = ports;
    this.#waitPorts = {
      deadlines: new Deadlines(ports.clock, ports.timers),
      onCount: (change) => {
        this.#waitCount += change;
      },
    };
  }

  get waitCount(): number {
    return this.#waitCount;
  }

  /** @param callback a live one */
  wait(
    callback: Callback,
    after: string | null,
    timeoutMs: number,
    client: Client,
    waiter: Waiter,
  ): Waited | Parked | Promise<Waited> {
    const known = callback.events.findIndex(({ id }) => id === after);
    if (after !== null && known < 0) return UNKNOWN_EVENT;
    const next = callback.events[known + 1];
    if (next !== undefined) return this.#found(callback, next);
    if (this.#isDraining) return { kind: 'timed-out' };
    const waiters = callback.waiting(this.#waitPorts);
    if (waiters.count >= WAIT_COUNT_MAX) return { kind: 'too-many-waits' };
    if (client.isDisconnected()) return { kind: 'disconnected' };
    const endsInMs = callback.endsAtMs - this.#ports.clock.monotonicMs();
    if (timeoutMs >= endsInMs) this.#ports.lifetimes.endInTime(callback, endsInMs);
    waiters.add(waiter, client, timeoutMs < endsInMs ? timeoutMs : undefined);
    return PARKED;
  }

  /** Wakes the callback's waits with an event that was just stored. Resolves when the next one may be stored. */
  wake(callback: Callback, event: InboxEvent): Promise<void> | undefined {
    const { waiters } = callback;
    if (waiters === undefined || waiters.count === 0) return undefined;
    const waits = waiters.expecting();
    const json = inlineJsonOf(event);
    if (json === undefined) return this.#wakeWithLong(callback, event, waiters, waits);
    for (const wait of waits) waiters.end(wait, wokenBy(event, json));
    return undefined;
  }

  /** From now on every new wait times out at once. */
  drain(): void {
    this.#isDraining = true;
  }

  async #found(callback: Callback, event: InboxEvent): Promise<Waited> {
    return wokenBy(event, inlineJsonOf(event) ?? (await this.#ports.reader.longJson(callback, event)));
  }

  /**
   * Reads a long event back for the waits that were parked when it arrived; later waits find it among the events. When the
   * store fails, the waits time out, and the clients get the event when they ask again.
   */
  async #wakeWithLong(callback: Callback, event: InboxEvent, waiters: Waiters, waits: readonly Wait[]): Promise<void> {
    let how: Woken;
    try {
      how = wokenBy(event, await this.#ports.reader.longJson(callback, event));
    } catch (failure) {
      this.#ports.onFailure(failure);
      for (const wait of waits) wait.hasMissed = true;
      return;
    }
    for (const wait of waits) waiters.end(wait, how);
  }
}
