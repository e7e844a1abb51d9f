/** Chooses the backend: a database that processes share, a state folder, or the memory of this process. */
import type { Backend, BackendPorts } from './backend.ts';
import { openMemoryBackend } from './memory/backend.ts';
import type { PostgresOptions } from './postgres/backend.ts';
import { openSqliteBackend, type SqliteOptions } from './sqlite/backend.ts';

export interface OpenBackendOptions
  extends Omit<SqliteOptions, 'stateDir' | 'commitDelayMs'>,
    Pick<PostgresOptions, 'stateKey'> {
  /** undefined: the state of one process. */
  readonly databaseUrl: string | undefined;
  /** undefined: in memory only. */
  readonly stateDir: string | undefined;
}

/** @throws StateError one line, when the database or the folder cannot be used or its state is missing */
export async function openBackend(options: OpenBackendOptions, ports: BackendPorts): Promise<Backend> {
  const { databaseUrl, stateDir } = options;
  if (databaseUrl !== undefined) {
    const { openPostgresBackend } = await import('./postgres/backend.ts'); // a start without a database does not load it
    return openPostgresBackend({ ...options, databaseUrl }, ports);
  }
  return stateDir === undefined
    ? openMemoryBackend(options, ports)
    : openSqliteBackend({ ...options, stateDir }, ports);
}
