/**
 * A backend: it keeps what the domains must not forget and gives the stores of all of them. Each folder of `storage/` with a
 * `backend.ts` is one; a new backend is a new folder that passes the suites of `test/suites/` and a line in open-backend.ts.
 */
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { RateLimits } from '../base/rate-limits.ts';
import type { Timers } from '../base/timers.ts';
import type { Callbacks } from '../callback/callbacks.ts';
import type { Reservations } from '../payment/reservations.ts';
import type { PlayLedger } from '../payment/settlement/play-ledger.ts';

/** Commits since the start; both are 0 for a backend that commits nothing. */
export interface Commits {
  readonly batchCount: number;
  /** Records in these batches. */
  readonly operationCount: number;
}

export interface Backend {
  readonly reservations: Reservations;
  /** undefined when settlements move real money. */
  readonly playLedger: PlayLedger | undefined;
  readonly callbacks: Callbacks;
  readonly rateLimits: RateLimits;
  /** Why nothing can be written now; undefined = it can. */
  fault(): string | undefined;
  commits(): Commits;
  /** What the operator must know at start, one line each. */
  readonly notices: readonly string[];
  /** Shutdown begins: the waits of the callbacks end at once, so that listeners finish soon. */
  drain(): void;
  /** After the last request: stops all timers, writes what waits and releases every resource. Never rejects, also when repeated. */
  close(): Promise<void>;
}

/** What every backend needs to know. */
export interface StoreOptions {
  /** Bytes that all callbacks together may claim. */
  readonly callbackBytes: number;
  /** undefined: settlements move real money. */
  readonly play: PlayOptions | undefined;
}

export interface PlayOptions {
  /** What every payer starts with, atomic units. */
  readonly openingAtomic: bigint;
}

export interface BackendPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  /** The backend became unwritable (why, one line) or writable again (undefined). */
  onFault(fault: string | undefined): void;
  /** The callbacks' storage failed in the background, where no request waits for it. */
  onCallbackFault(fault: unknown): void;
}
