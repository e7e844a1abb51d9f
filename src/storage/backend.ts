/**
 * A backend provides the stores of all domains. Each folder of `storage/` with a `backend.ts` is one; a new backend is
 * a new folder that passes the suites of `test/suites/`, and a line in open-backend.ts.
 */
import type { Accounts } from '../accounts/accounts.ts';
import type { Clock } from '../base/clock.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Random } from '../base/random.ts';
import type { RateLimits } from '../base/rate-limits.ts';
import type { Timers } from '../base/timers.ts';
import type { Callbacks } from '../callback/callbacks.ts';
import type { Books } from '../payment/books.ts';
import type { Address } from '../payment/protocol/network.ts';
import type { Reservations } from '../payment/reservations.ts';
import type { PlayLedger } from '../payment/settlement/play-ledger.ts';
import type { ResolveStore } from '../resolve/resolve-store.ts';
import type { RetryStore } from '../retry/store.ts';

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
  readonly accounts: Accounts;
  readonly resolves: ResolveStore;
  readonly rateLimits: RateLimits;
  readonly books: Books;
  readonly retries: RetryStore;
  /** The recipient of a play ledger whose operator named none; all processes of a state share it. @throws StateError */
  throwawayPayee(): MaybePromise<Address>;
  /** Why nothing can be written now; undefined = it can. */
  fault(): string | undefined;
  commits(): Commits;
  /** Notices for the operator at start, one line each. */
  readonly notices: readonly string[];
  /** Starts parts that only requests need. */
  readonly start?: () => void;
  /** Begins shutdown: ends the waits of all callbacks at once, so that listeners can finish soon. */
  drain(): void;
  /** After the last request: stops all timers, writes the queue and releases every resource. May be repeated. Never rejects. */
  close(): Promise<void>;
}

/** Options of every backend. */
export interface StoreOptions {
  /** Bytes that all callbacks together may claim. */
  readonly callbackBytes: number;
  /** undefined: settlements move real money. */
  readonly play: PlayOptions | undefined;
}

export interface PlayOptions {
  /** Opening balance of every payer, atomic units. */
  readonly openingAtomic: bigint;
}

export interface BackendPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  /** Called when the backend becomes unwritable (with the reason, one line) or writable again (undefined). */
  onStateFault(fault: string | undefined): void;
  /** Called with a notice for the operator, one line, that comes after the start. */
  onNotice?(notice: string): void;
  /** Called when the storage of callbacks or resolves fails in the background, where no request waits for it. */
  onFailure(failure: unknown): void;
}
