/** Where used payments, callbacks and events are kept, as the configuration says: in a folder, or in memory only. */

import { MemoryStore } from '../callback/inbox/memory-store.ts';
import type { CallbackStore } from '../callback/inbox/store.ts';
import { IN_MEMORY } from '../config/settings.ts';
import type { Recovered, ReservationJournal } from '../payment/reservations.ts';
import type { KeptLedger } from '../payment/settlement/ledger.ts';
import { openSqliteState, type SqliteState, type StatePorts } from './sqlite/state.ts';

export interface Commits {
  readonly batchCount: number;
  readonly operationCount: number;
}

export interface OpenState {
  /** undefined: reservations last as long as the process. */
  readonly payments: ReservationJournal | undefined;
  readonly recovered: Recovered | undefined;
  readonly ledger: KeptLedger | undefined;
  readonly callbacks: CallbackStore;
  /** Why nothing can be written now; undefined = it can. */
  fault(): string | undefined;
  /** Transactions committed since the start, and the records in them. */
  commits(): Commits;
  /** What the operator must be told at start. */
  readonly notices: readonly string[];
  /** Writes what waits and gives the folder up. Never rejects. */
  close(): Promise<void>;
}

export function memoryState(): OpenState {
  return {
    payments: undefined,
    recovered: undefined,
    ledger: undefined,
    callbacks: new MemoryStore(),
    fault: () => undefined,
    commits: () => ({ batchCount: 0, operationCount: 0 }),
    notices: [`STATE_DIR=${IN_MEMORY}: used payments and callbacks are forgotten when this process ends`],
    close: async () => {},
  };
}

/** The settings that a backend is opened with. */
export interface StateConfig {
  readonly stateDir: string;
  readonly stateSync: 'full' | 'normal';
  readonly stateReset: boolean;
  readonly settlement: 'local' | 'facilitator';
}

/** @throws StateError one line, when the folder cannot be used or its state is missing */
export async function openState(config: StateConfig, ports: StatePorts): Promise<OpenState> {
  if (config.stateDir === IN_MEMORY) return memoryState();
  const state: SqliteState = await openSqliteState(
    {
      stateDir: config.stateDir,
      sync: config.stateSync,
      isPlay: config.settlement === 'local',
      mayReset: config.stateReset,
    },
    ports,
  );
  return state;
}
