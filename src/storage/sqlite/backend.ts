/** The backend of one process with a state folder: the stores decide in memory, and a journal makes them durable. */
import type { Backend, BackendPorts, StoreOptions } from '../backend.ts';
import { openMemoryStores } from '../memory/stores.ts';
import { throwawayPayee } from '../payee-file.ts';
import type { JournalPorts } from './journal.ts';
import { openSqliteState, type SqliteState, type StateOptions } from './state.ts';

export interface SqliteOptions extends StoreOptions, Omit<StateOptions, 'isPlay'> {}

export interface SqlitePorts extends BackendPorts, Pick<JournalPorts, 'soon' | 'openWriter'> {}

/** @throws StateError one line, when the folder cannot be used or its state is missing */
export async function openSqliteBackend(options: SqliteOptions, ports: SqlitePorts): Promise<Backend> {
  const state = await openSqliteState({ ...options, isPlay: options.play !== undefined }, ports);
  return backendOver(state, options, ports, options.stateDir);
}

/**
 * Opens the stores over an open state, which the backend closes, even when this rejects.
 * @param stateDir folder for what is not in the state file; null: it is not stored
 */
export async function backendOver(
  state: SqliteState,
  options: StoreOptions,
  ports: BackendPorts,
  stateDir: string | null,
): Promise<Backend> {
  // The backend does not hold `state` itself: what the start loaded must not live as long as the process.
  const { persistence, journal: _journal, ...open } = state;
  try {
    const stores = await openMemoryStores(options, ports, persistence);
    let closing: Promise<void> | undefined;
    return {
      ...stores,
      ...open,
      throwawayPayee: () => throwawayPayee(stateDir, ports.random),
      drain: () => stores.callbacks.drain(),
      close() {
        stores.callbacks.close();
        stores.resolves.close();
        closing ??= stores.accounts.close().then(() => open.close());
        return closing;
      },
    };
  } catch (failure) {
    await open.close();
    throw failure;
  }
}
