/**
 * Long polls held open on one callback. Everybody who waits waits for the same thing, the next event that is stored, so a
 * wake-up answers all of them. A waiter is registered in the same turn in which it was found that there is nothing yet; no
 * event can fall between. It leaves by exactly one of: an event, its time, the callback's end, the client going away,
 * shutdown; whichever comes first takes its place in the line with it.
 *
 * Ten thousand are held at a time, so a wait is one object, without a timer, a promise or a closure of its own.
 */
import type { DisconnectListener } from '../../base/disconnect-listener.ts';
import type { EventId } from '../identifier.ts';
import { type Deadlines, TimerEntry } from './deadlines.ts';

/** How a wait ended. */
export type Woken =
  | { readonly kind: 'event'; readonly eventId: EventId; readonly json: string }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'gone' };

/** Who waits. */
export interface Waiter {
  /** How it ended; called once. */
  woken(how: Woken): void;
}

/** A request, as far as it can be seen to go away. */
export interface Client {
  /** True once it has. */
  isDisconnected(): boolean;
  /** Tells the listener when it does: once, some time after, or when its answer has gone out, or never. */
  onDisconnect(listener: DisconnectListener): void;
}

export interface WaitPorts {
  readonly deadlines: Deadlines;
  /** Called with +1 and -1 as waits begin and end. */
  readonly onCount: (change: 1 | -1) => void;
}

/** One request that is held. */
export class Wait extends TimerEntry implements DisconnectListener {
  readonly #waiters: Waiters;
  readonly waiter: Waiter;
  isOver = false;
  /** An event came that could not be read back: no later one may be told before it, so this wait ends by the clock. */
  hasMissed = false;

  constructor(waiters: Waiters, waiter: Waiter) {
    super();
    this.#waiters = waiters;
    this.waiter = waiter;
  }

  override onDue(): void {
    this.#waiters.end(this, { kind: 'timed-out' });
  }

  /** The client went away. */
  handleEvent(): void {
    this.#waiters.end(this, { kind: 'gone' });
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

  /** @param timeoutMs undefined where the callback ends first, which ends its waits */
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

  /** Those who are told of the event that comes now. */
  expecting(): readonly Wait[] {
    return [...this.#waiting].filter(({ hasMissed }) => !hasMissed);
  }

  /** The end of all waits. */
  endAll(how: Woken): void {
    for (const wait of [...this.#waiting]) this.end(wait, how);
  }
}
