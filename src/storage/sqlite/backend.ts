/** The backend of one process with a state folder: memory decides, and a journal on disk keeps what must outlive it. */
import type { Backend, BackendPorts, StoreOptions } from '../backend.ts';
import { openMemoryStores } from '../memory/stores.ts';
import type { JournalPorts } from './journal.ts';
import { openSqliteState, type SqliteState, type StateOptions } from './state.ts';

export interface SqliteOptions extends StoreOptions, Omit<StateOptions, 'isPlay'> {}

export interface SqlitePorts extends BackendPorts, Pick<JournalPorts, 'soon' | 'openWriter'> {}

/** @throws StateError one line, when the folder cannot be used or its state is missing */
export async function openSqliteBackend(options: SqliteOptions, ports: SqlitePorts): Promise<Backend> {
  const state = await openSqliteState({ ...options, isPlay: options.play !== undefined }, ports);
  return backendOver(state, options, ports);
}

/** The stores over an open state, which the backend closes; also when this rejects. */
export async function backendOver(state: SqliteState, options: StoreOptions, ports: BackendPorts): Promise<Backend> {
  // The rest of the state lives as long as the process, and what was read at start must not.
  const { persistence, journal: _journal, notices, ...open } = state;
  try {
    const stores = await openMemoryStores(options, ports, persistence);
    let closing: Promise<void> | undefined;
    return {
      ...stores,
      fault: () => open.fault(),
      commits: () => open.commits(),
      notices,
      drain: () => stores.callbacks.drain(),
      close() {
        stores.callbacks.close();
        closing ??= open.close();
        return closing;
      },
    };
  } catch (failure) {
    await open.close();
    throw failure;
  }
}
