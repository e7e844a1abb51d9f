/**
 * Connections to PostgreSQL through `pg`, on Node and Bun alike. `query_timeout` bounds every statement on our side, because a
 * frozen server honours no timeout of its own; the pool throws a connection away after any failure.
 */
import { type ClientBase, Pool, type PoolClient, type QueryResult, types } from 'pg';
import { errorCodeOf } from '../../base/failure.ts';
import type { DatabaseAddress } from './address.ts';
import { isReadOnly, PoolBusyError } from './failures.ts';

/** A statement whose values are parameters, never part of its text. */
export interface Statement {
  /** The server prepares a named statement once for each connection; one name always has the same text. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Milliseconds, in place of the pool's. */
  readonly query_timeout?: number;
}

export type Row = Readonly<Record<string, unknown>>;

/** A connection taken from the pool. */
export interface Connection {
  query(statement: Statement): Promise<{ readonly rows: Row[]; readonly rowCount: number | null }>;
  on(event: 'notification', listener: (message: { channel: string; payload?: string | undefined }) => void): unknown;
  on(event: 'error' | 'end', listener: (failure?: Error) => void): unknown;
  /** @param isBroken the pool closes it instead of keeping it */
  release(isBroken: boolean): void;
}

/** @throws whatever says that the connection must not be used */
export type CheckConnection = (connection: Pick<Connection, 'query'>) => Promise<void>;

/** A pool. Tests substitute pools that lose answers or set the database's clock. */
export interface Connections {
  /** @param isKept it stays out of the pool; the pool closes it if no other connection is left for statements */
  connect(isKept?: boolean): Promise<Connection>;
  /** @param check runs on each connection that is opened from now on, before its first statement */
  checkEach?(check: CheckConnection): void;
  end(): Promise<void>;
}

export interface ConnectionLimits {
  readonly countMax: number;
  /** Longest wait for the server's answer to a statement. */
  readonly statementMs: number;
  /** Longest wait for a connection. */
  readonly connectMs: number;
}

/** `int8`: milliseconds, counts and serials, which are safe integers; amounts of money are `numeric` and stay text. */
const INT8_OID = 20;
const getTypeParser: typeof types.getTypeParser = ((oid: number, format?: 'text' | 'binary') =>
  oid === INT8_OID && format !== 'binary' ? Number : types.getTypeParser(oid, format as 'text')) as never;

/** An idle connection is closed after this time, so that a pool shrinks after a rush. */
const IDLE_MS = 30_000;
/** The server ends a statement shortly before we stop waiting for it. */
const SERVER_SHARE = 0.9;

/** SQLSTATE: the server has no connection left for this user or database. */
const TOO_MANY_CONNECTIONS = '53300';
/** How long the pool opens no further connection after the server refused one. */
const CROWDED_MS = 10_000;

/** Sent once on each connection, as a statement because some poolers refuse parameters at connect. */
const sessionText = (statementMs: number): string =>
  `SET statement_timeout = ${Math.floor(statementMs * SERVER_SHARE)}; SET idle_in_transaction_session_timeout = ${statementMs}`;

const serverOf = ({ host, port, user, password, database, ssl }: DatabaseAddress) => ({
  host,
  port,
  ...(user === undefined ? {} : { user }),
  ...(password === undefined ? {} : { password }),
  ...(database === undefined ? {} : { database }),
  ssl,
});

const queryOf =
  (client: ClientBase): Connection['query'] =>
  (statement) =>
    client.query(statement as never) as Promise<QueryResult>;

function connectionOf(client: PoolClient, onFailure: (failure: unknown) => never, onRelease: () => void): Connection {
  const query = queryOf(client);
  const swallow = (): void => {};
  client.on('error', swallow);
  return {
    query: (statement) => query(statement).catch(onFailure),
    on: (event: string, listener: never) => client.on(event as 'notification', listener),
    release(isBroken) {
      client.removeListener('error', swallow);
      onRelease();
      client.release(isBroken);
    },
  };
}

export function openConnections(address: DatabaseAddress, limits: ConnectionLimits): Connections {
  let openCount = 0;
  let checkConnection: CheckConnection = async () => {};
  /**
   * Those opened since a session was found read-only. All new ones are once that is the default, and while older ones went on
   * writing, statements would succeed and fail in turns.
   */
  let alike = new WeakSet<ClientBase>();
  const pool = new Pool({
    ...serverOf(address),
    max: limits.countMax,
    query_timeout: limits.statementMs,
    connectionTimeoutMillis: limits.connectMs,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
    keepAlive: true,
    application_name: 'paygrade',
    types: { getTypeParser },
    // The pool awaits what this returns.
    onConnect: (async (client: ClientBase) => {
      openCount++;
      alike.add(client);
      client.once('end', () => openCount--);
      await client.query(sessionText(limits.statementMs));
      await checkConnection({ query: queryOf(client) });
    }) as (client: ClientBase) => void,
  });
  // When an idle connection is lost, the pool removes it and the next statement opens another.
  pool.on('error', () => {});
  const kept = new Set<PoolClient>();
  let crowded: NodeJS.Timeout | undefined;
  /** The server refuses further connections: the pool makes do with the open ones for a while. */
  const makeDo = (): void => {
    pool.options.max = Math.max(1, openCount);
    clearTimeout(crowded);
    crowded = setTimeout(() => {
      pool.options.max = limits.countMax;
    }, CROWDED_MS).unref();
    if (openCount <= kept.size) for (const client of kept) client.end().catch(() => {});
  };
  /**
   * A server that refuses further connections is not away while this process has some: statements take turns on those.
   */
  const taken = async (): Promise<PoolClient> => {
    const untilMs = performance.now() + limits.connectMs;
    for (;;) {
      try {
        const client = await pool.connect();
        if (alike.has(client)) return client;
        client.release(true);
      } catch (failure) {
        const code = errorCodeOf(failure);
        // All connections are open, so this was a timeout waiting for one, not a failed connect. One that hangs will be
        // lost soon.
        if (code === undefined && openCount >= pool.options.max) {
          throw new PoolBusyError('all connections are in use', { cause: failure });
        }
        const isCrowded = code === TOO_MANY_CONNECTIONS && pool.totalCount > 0;
        if (!isCrowded || performance.now() > untilMs) throw failure;
        makeDo();
      }
    }
  };
  const noted = (failure: unknown): never => {
    if (isReadOnly(failure)) alike = new WeakSet();
    throw failure;
  };
  return {
    async connect(isKept = false) {
      if (isKept && pool.options.max - kept.size < 2) throw new Error('statements need all connections');
      const client = await taken();
      if (isKept) kept.add(client);
      return connectionOf(client, noted, () => kept.delete(client));
    },
    checkEach(check) {
      checkConnection = check;
    },
    end: () => pool.end(),
  };
}
