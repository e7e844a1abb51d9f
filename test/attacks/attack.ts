/**
 * What an attack is, and whom it is aimed at. One attack a file; the same code runs in the tests, for seconds, and in
 * `npm run attack`, for as long as it is asked to. Attacks run in a process that is not the honest customer's
 * (`attacker.ts`), and with less claim to the processors: what is under attack is the server, not the machine.
 */

export interface Target {
  readonly port: number;
  /** The server has `TRUST_PROXY=true`: clients say in X-Forwarded-For which address they come from. */
  readonly isProxied: boolean;
}

/** Counts by name: connections, requests, answers by status. */
export type Figures = Readonly<Record<string, number>>;

/** The figure that every attack has: connections, or requests where those are what attacks, that it has begun. */
export const BEGUN = 'begun';

/** The one figure that is a peak and no sum. */
export const MOST_IN_FLIGHT = 'most in flight';

export interface Attack {
  /** Prepares (buys what it needs) and begins. Rejects when it cannot begin: an attack that does nothing proves nothing. */
  start(target: Target): Promise<void>;
  /** Ends every connection and timer. */
  stop(): void;
  readonly figures: Figures;
}

/** Addresses of attackers. Loopback owns 127.0.0.0/8, so a connection can come from any of them. */
export const ATTACKERS = ['127.0.0.66', '127.0.0.67', '127.0.0.68', '127.0.0.69'] as const;

export const attackerAt = (index: number): string => ATTACKERS[index % ATTACKERS.length]!;

/** Where attackers buy what they need; an address of floods would be refused there for its rate. */
export const BUYER = '127.0.0.70';

export class Counts {
  readonly #counts: Record<string, number> = {};

  add(name: string, by = 1): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + by;
  }

  /** The largest value seen under this name. */
  peak(name: string, value: number): void {
    this.#counts[name] = Math.max(this.#counts[name] ?? 0, value);
  }

  /** Adds what another time of the same attack has counted. */
  include(figures: Figures): void {
    for (const [name, count] of Object.entries(figures)) {
      if (name === MOST_IN_FLIGHT) this.peak(name, count);
      else this.add(name, count);
    }
  }

  get figures(): Figures {
    return { ...this.#counts };
  }
}

/** A loop of timers that ends with the attack. */
export class Repeated {
  #isStopped = false;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Calls once, unless the attack stops before. */
  after(delayMs: number, action: () => void): void {
    if (this.#isStopped) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, delayMs);
    this.#timers.add(timer);
  }

  /** Calls `rate` times a second, however long an action takes. */
  perSecond(rate: number, action: (index: number) => void): void {
    const startMs = performance.now();
    let index = 0;
    const tick = (): void => {
      const due = Math.floor(((performance.now() - startMs) * rate) / 1000);
      while (index < due && !this.#isStopped) action(index++);
      this.after(10, tick);
    };
    tick();
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
