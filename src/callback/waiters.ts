/**
 * Long polls held open on one callback. Everybody who waits waits for the same thing, the next event that is stored, so a
 * wake-up answers all of them. A waiter is registered in the same turn in which it was found that there is nothing yet; no
 * event can fall between. It leaves by exactly one of: an event, its time, the callback's end, the client going away,
 * shutdown; whichever comes first takes its timer and listener with it.
 */
import type { Clock } from '../base/clock.ts';
import type { Timers } from '../base/timers.ts';
import type { EventId } from './identifier.ts';

/** How a wait ended. */
export type Woken =
  | { readonly kind: 'event'; readonly eventId: EventId; readonly json: string }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'gone' };

/** Who waits: a request, as far as it can be seen to go away. */
export interface Client {
  readonly signal: AbortSignal;
}

export interface WaitPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Called with +1 and -1 as waits begin and end. */
  readonly onCount: (change: 1 | -1) => void;
}

/** Why the time of a wait is up at its deadline: its own timeout, or the end of its callback. */
export type AtDeadline = 'timed-out' | 'expired';

export class Waiters {
  readonly #waiting = new Set<(woken: Woken) => void>();

  get count(): number {
    return this.#waiting.size;
  }

  /** @param deadlineMs monotonic */
  wait(client: Client, deadlineMs: number, atDeadline: AtDeadline, ports: WaitPorts): Promise<Woken> {
    const { clock, timers, onCount } = ports;
    const { signal } = client;
    if (signal.aborted) return Promise.resolve({ kind: 'gone' });
    return new Promise((resolve) => {
      let cancelTimer: () => void;
      const wake = (woken: Woken): void => {
        if (!this.#waiting.delete(wake)) return;
        cancelTimer();
        signal.removeEventListener('abort', leave);
        onCount(-1);
        resolve(woken);
      };
      const leave = (): void => wake({ kind: 'gone' });
      const ring = (): void => {
        const leftMs = deadlineMs - clock.monotonicMs();
        if (leftMs > 0) cancelTimer = timers.after(Math.ceil(leftMs), ring);
        else wake({ kind: atDeadline });
      };
      cancelTimer = timers.after(Math.ceil(deadlineMs - clock.monotonicMs()), ring);
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(wake);
      onCount(1);
    });
  }

  wakeAll(woken: Woken): void {
    for (const wake of [...this.#waiting]) wake(woken);
  }
}
