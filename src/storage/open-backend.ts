/** Chooses the backend: a database that processes share, a state folder, or the memory of this process. */
import type { Backend, BackendPorts } from './backend.ts';
import { openMemoryBackend } from './memory/backend.ts';
import { openPostgresBackend } from './postgres/backend.ts';
import { openSqliteBackend, type SqliteOptions } from './sqlite/backend.ts';

export interface OpenBackendOptions extends Omit<SqliteOptions, 'stateDir' | 'commitDelayMs'> {
  /** undefined: the state of one process. */
  readonly databaseUrl: string | undefined;
  /** undefined: in memory only. */
  readonly stateDir: string | undefined;
}

/** @throws StateError one line, when the database or the folder cannot be used or its state is missing */
export function openBackend(options: OpenBackendOptions, ports: BackendPorts): Promise<Backend> {
  const { databaseUrl, stateDir } = options;
  if (databaseUrl !== undefined) return openPostgresBackend({ ...options, databaseUrl }, ports);
  return stateDir === undefined
    ? openMemoryBackend(options, ports)
    : openSqliteBackend({ ...options, stateDir }, ports);
}
