/**
 * The waits on one callback. All of them wait for the next stored event, so one event answers them all. The inbox registers a
 * wait in the same turn in which it found no event, so none is missed in between. A wait ends once: by an event, its timeout,
 * the callback's end, a disconnect or shutdown.
 *
 * A process holds ten thousand waits, so a wait is one object without a timer, a promise or a closure.
 */
import { type Deadlines, TimerEntry } from '../../base/deadlines.ts';
import type { DisconnectListener } from '../../base/disconnect-listener.ts';
import type { Client, Waiter, Woken } from '../callbacks.ts';

export interface WaitPorts {
  readonly deadlines: Deadlines;
  /** Called with +1 and -1 as waits begin and end. */
  readonly onCount: (change: 1 | -1) => void;
}

/** One parked request. */
export class Wait extends TimerEntry implements DisconnectListener {
  readonly #waiters: Waiters;
  readonly waiter: Waiter;
  isOver = false;
  /** The store could not read this wait's event back. A later event must not overtake it, so the wait only times out. */
  hasMissed = false;

  constructor(waiters: Waiters, waiter: Waiter) {
    super();
    this.#waiters = waiters;
    this.waiter = waiter;
  }

  override onDue(): void {
    this.#waiters.end(this, { kind: 'timed-out' });
  }

  /** The client has disconnected. */
  handleEvent(): void {
    this.#waiters.end(this, { kind: 'disconnected' });
  }
}

export class Waiters {
  readonly #ports: WaitPorts;
  readonly #waiting = new Set<Wait>();

  constructor(ports: WaitPorts) {
    this.#ports = ports;
  }

  get count(): number {
    return this.#waiting.size;
  }

  /** @param timeoutMs undefined when the callback expires first, because that ends its waits */
  add(waiter: Waiter, client: Client, timeoutMs: number | undefined): void {
    const wait = new Wait(this, waiter);
    client.onDisconnect(wait);
    this.#waiting.add(wait);
    if (timeoutMs !== undefined) this.#ports.deadlines.add(wait, timeoutMs);
    this.#ports.onCount(1);
  }

  /** Does nothing for a wait that has ended. */
  end(wait: Wait, how: Woken): void {
    if (!this.#waiting.delete(wait)) return;
    wait.isOver = true;
    this.#ports.deadlines.remove(wait);
    this.#ports.onCount(-1);
    wait.waiter.woken(how);
  }

  /** The waits that receive an event stored now. */
  expecting(): readonly Wait[] {
    return [...this.#waiting].filter(({ hasMissed }) => !hasMissed);
  }

  /** Ends all waits. */
  endAll(how: Woken): void {
    for (const wait of [...this.#waiting]) this.end(wait, how);
  }
}
