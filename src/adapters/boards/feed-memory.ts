/**
 * Bounds the memory of all feeds being read: a part of an answer waits, unread, until it fits beside what other visits hold.
 * One visit at a time may exceed the bound, so that at least one makes progress: together they hold at most `FEEDS_BYTES_MAX`
 * and one feed of `FEED_BYTES_MAX`. A request that waits longer than its time limit fails, and its board is tried again later.
 */

/** The memory that one visit holds. */
export interface FeedClaim {
  /** Resolves when the bytes fit. Rejects with the signal's reason when it aborts first. */
  take(bytes: number, signal: AbortSignal): Promise<void>;
  /** Whether it ever waited: a slow answer after that says nothing about the host. */
  readonly hasWaited: boolean;
  /** Gives back the bytes of an answer that is not kept. */
  giveBack(bytes: number): void;
  /** Gives back all that the visit holds. */
  release(): void;
}

export class FeedMemory {
  readonly #bytesMax: number;
  #bytes = 0;
  /** The visit that may exceed the bound. */
  #exempt: FeedClaim | undefined;
  readonly #waiting = new Set<() => void>();

  /** @param bytesMax most bytes of all visits but one together */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes that visits hold. */
  get bytes(): number {
    return this.#bytes;
  }

  claim(): FeedClaim {
    let own = 0;
    const giveBack = (bytes: number): void => {
      own -= bytes;
      this.#bytes -= bytes;
      this.#wake();
    };
    let hasWaited = false;
    const claim: FeedClaim = {
      take: async (bytes, signal) => {
        while (!this.#mayTake(claim, bytes)) {
          hasWaited = true;
          await this.#change(signal);
        }
        own += bytes;
        this.#bytes += bytes;
      },
      get hasWaited() {
        return hasWaited;
      },
      giveBack,
      release: () => {
        if (this.#exempt === claim) this.#exempt = undefined;
        giveBack(own);
      },
    };
    return claim;
  }

  #mayTake(claim: FeedClaim, bytes: number): boolean {
    if (this.#bytes + bytes <= this.#bytesMax || this.#exempt === claim) return true;
    if (this.#exempt !== undefined) return false;
    this.#exempt = claim;
    return true;
  }

  /** Resolves when bytes were given back. */
  #change(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const wake = (): void => {
        signal.removeEventListener('abort', end);
        resolve();
      };
      const end = (): void => {
        this.#waiting.delete(wake);
        reject(signal.reason);
      };
      signal.addEventListener('abort', end, { once: true });
      this.#waiting.add(wake);
    });
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}
