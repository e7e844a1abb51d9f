/**
 * Retry jobs in the memory of this process: the tables of the state file in an in-memory database, outside the heap.
 */
import type { Clock } from '../../base/clock.ts';
import type { RetryStore } from '../../retry/store.ts';
import { StateDatabase } from '../sqlite/database.ts';
import { RequestRefusedError, StateRefusedError } from '../sqlite/refused.ts';
import { SqliteRetryStore } from '../sqlite/retry-store.ts';
import type { MemoryAccounts } from './accounts.ts';

export interface MemoryRetries {
  storeWith(accounts: MemoryAccounts): RetryStore;
  /** May be repeated. */
  close(): void;
}

export function openMemoryRetries(clock: Clock): MemoryRetries {
  let database: StateDatabase | undefined;
  // Opened on first use, so that a process without retries has no such database.
  const opened = (): StateDatabase => {
    database ??= new StateDatabase({ path: ':memory:', sync: 'normal' });
    return database;
  };
  return {
    storeWith: (accounts) =>
      new SqliteRetryStore({
        clock,
        read: async (query) => opened().read(query),
        async write(operation) {
          const result = opened().apply([operation]);
          if (result.kind !== 'done') throw new StateRefusedError(result.detail);
          const [refused] = result.refused;
          if (refused !== undefined) throw new RequestRefusedError(refused.detail);
        },
        accounts,
        recordsCharges: false,
      }),
    close() {
      database?.close();
      database = undefined;
    },
  };
}
