/** Opens the stores of all domains but payments over a database that processes share. */
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Timers } from '../../base/timers.ts';
import { PostgresAccounts } from './accounts/accounts.ts';
import { PostgresCallbacks } from './callbacks/callbacks.ts';
import type { Database } from './database.ts';
import type { Owner } from './owners.ts';
import { SharedRateLimits } from './rates/rate-limits.ts';
import { PostgresResolves } from './resolves/resolves.ts';
import { PostgresRetries } from './retries/retries.ts';

export interface DomainStoresOptions {
  /** Bytes that all callbacks of all processes together may claim. */
  readonly callbackBytes: number;
  /** Settlements move play money. */
  readonly isPlay: boolean;
}

export interface DomainStoresPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly database: Database;
  /** This process, whose lease has begun. */
  readonly owner: Owner;
  /** Something failed where no request waits for it. */
  onFailure(failure: unknown): void;
}

export interface DomainStores {
  readonly callbacks: PostgresCallbacks;
  readonly accounts: PostgresAccounts;
  readonly retries: PostgresRetries;
  readonly resolves: PostgresResolves;
  readonly rateLimits: SharedRateLimits;
  /**
   * Stops all timers and releases connections; the owner and the database stay open. May be repeated. Never rejects.
   */
  close(): Promise<void>;
}

/** @throws DatabaseAwayError, InDoubtError or StatementError when what is stored cannot be read */
export async function openDomainStores(
  { callbackBytes, isPlay }: DomainStoresOptions,
  ports: DomainStoresPorts,
): Promise<DomainStores> {
  const { owner } = ports;
  const rateLimits = new SharedRateLimits({ ...ports, processId: owner.id });
  await rateLimits.start();
  const callbacks = new PostgresCallbacks(callbackBytes, { ...ports, rateLimits, processId: owner.id });
  const accounts = new PostgresAccounts(isPlay, ports);
  const retries = new PostgresRetries({ ...ports, accounts });
  const resolves = new PostgresResolves(ports);
  const close = async (): Promise<void> => {
    callbacks.close();
    await Promise.all([callbacks.ended(), accounts.close(), resolves.close(), rateLimits.close()]);
  };
  try {
    await Promise.all([callbacks.start(), retries.start(), resolves.start()]);
  } catch (failure) {
    await close();
    throw failure;
  }
  return { callbacks, accounts, retries, resolves, rateLimits, close };
}
