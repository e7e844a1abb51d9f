/**
 * The memory of all feeds that are being read: a part of an answer waits, unread, until it fits beside what the other visits hold.
 * One visit at a time may go beyond, so that there is always one that gets on: together they hold at most `FEEDS_BYTES_MAX` and
 * one feed of `FEED_BYTES_MAX`. A request that waited longer than it may take fails, and its board is tried again later.
 */

/** What one visit holds. */
export interface FeedClaim {
  /** Resolves when the bytes fit. Rejects with the signal's reason when it aborts first. */
  take(bytes: number, signal: AbortSignal): Promise<void>;
  /** Whether it ever waited: what took long since then says nothing about a host. */
  readonly hasWaited: boolean;
  /** Of an answer that is not kept. */
  giveBack(bytes: number): void;
  /** The visit holds nothing any more. */
  release(): void;
}

export class FeedMemory {
  readonly #bytesMax: number;
  #bytes = 0;
  /** The one that may go beyond the bound. */
  #exempt: FeedClaim | undefined;
  readonly #waiting = new Set<() => void>();

  /** @param bytesMax of all visits but one together */
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
