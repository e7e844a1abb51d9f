/**
 * The backend that any number of processes share (siblings §9): a PostgreSQL database decides, and each process holds
 * only the work it has under way. Opening it waits for the database, checks the durability that `STATE_SYNC` demands,
 * and migrates the tables.
 */
import type { Clock } from '../../base/clock.ts';
import { MINUTE_MS } from '../../base/durations.ts';
import { errorCodeOf, firstLineOf } from '../../base/failure.ts';
import { checksummed } from '../../payment/protocol/network.ts';
import type { Backend, BackendPorts, StoreOptions } from '../backend.ts';
import { freshPayee } from '../payee-file.ts';
import { StateError } from '../state-error.ts';
import { type DatabaseAddress, parseDatabaseUrl } from './address.ts';
import { PostgresBooks } from './books.ts';
import { type Connections, openConnections } from './connections.ts';
import { Database } from './database.ts';
import { openDomainStores } from './domain-stores.ts';
import { DatabaseAwayError, InDoubtError, lackOr } from './failures.ts';
import { Identity } from './identity.ts';
import { migrate } from './migrations.ts';
import { Owner } from './owners.ts';
import { PostgresPlayLedger } from './play-ledger.ts';
import { PostgresReservations } from './reservations.ts';
import { checkStateKey, keptSecret, PAYEE } from './secrets.ts';
import { TABLES } from './tables/tables.ts';
import { Wholeness } from './wholeness.ts';

/** How long a start waits for a database that does not answer (siblings §9). */
const START_MS = MINUTE_MS;
const START_PAUSE_MS = 250;

export const CONNECTION_LIMITS = { countMax: 16, statementMs: 5000, connectMs: 3000 };

/** Values of `synchronous_commit` that put a commit on the server's disk before acknowledging it. */
const SYNC_COMMITS: ReadonlySet<string> = new Set(['on', 'local', 'remote_write', 'remote_apply']);

export interface PostgresOptions extends StoreOptions {
  readonly databaseUrl: string;
  /** `full`: the database must commit durably. */
  readonly sync: 'full' | 'normal';
  /** How long a sale stays in the books, milliseconds. */
  readonly salesKeptMs: number;
  /** The same 32 bytes for all processes of the database; undefined: not checked. */
  readonly stateKey?: Uint8Array | undefined;
  /** How long the start waits for the database; {@link START_MS} when not given. */
  readonly startMs?: number;
}

export interface PostgresPorts extends BackendPorts {
  /** Opens connections in place of those of the address, for tests. */
  readonly openConnections?: (() => Connections) | undefined;
}

/** @throws StateError one line, when the database cannot be used */
export async function openPostgresBackend(options: PostgresOptions, ports: PostgresPorts): Promise<Backend> {
  const address = parseDatabaseUrl(options.databaseUrl);
  const database = new Database(ports.openConnections?.() ?? openConnections(address, CONNECTION_LIMITS), ports);
  try {
    await reach(database, address, ports.clock, options.startMs ?? START_MS);
    return await openOn(database, address, options, ports);
  } catch (failure) {
    await database.close();
    const isOfDatabase = failure instanceof DatabaseAwayError || failure instanceof InDoubtError;
    throw isOfDatabase
      ? new StateError(`the database ${address.shown} cannot be used: ${firstLineOf(failure)}`, { cause: failure })
      : lackOr(failure, address.shown);
  }
}

/** Prefixes of the runtimes' error codes for a certificate that is not trusted. */
const CERTIFICATE_CODES = /^(?:CERT_|DEPTH_ZERO_|ERR_TLS_CERT_|SELF_SIGNED_|UNABLE_TO_)/;

/** Waiting would not help: the database refuses this user, password or name, or we refuse its certificate. */
function isRefusal(failure: unknown): boolean {
  const code = errorCodeOf(failure instanceof Error ? failure.cause : undefined) ?? '';
  return code.startsWith('28') || code.startsWith('3D') || CERTIFICATE_CODES.test(code);
}

/** Waits until the database answers and accepts writes. */
async function reach(database: Database, address: DatabaseAddress, clock: Clock, startMs: number): Promise<void> {
  const untilMs = clock.monotonicMs() + startMs;
  for (;;) {
    try {
      if (await database.probe()) return;
      throw new DatabaseAwayError('it takes no writes: it is a stand-by until it is promoted, or read-only');
    } catch (failure) {
      if (isRefusal(failure)) throw failure;
      if (clock.monotonicMs() > untilMs) {
        const waited = Math.round(startMs / 1000);
        throw new StateError(
          `the database ${address.shown} could not be used for ${waited} s: ${firstLineOf(failure)}`,
          { cause: failure },
        );
      }
      await database.pause(START_PAUSE_MS);
    }
  }
}

/** @throws StateError when a power failure could take acknowledged commits */
export async function checkDurability(database: Database, address: DatabaseAddress): Promise<void> {
  const [row] = await database.run({
    text: "SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commits",
  });
  const off =
    row?.fsync !== 'on' ? 'fsync' : SYNC_COMMITS.has(row.commits as string) ? undefined : 'synchronous_commit';
  if (off === undefined) return;
  throw new StateError(
    `the database ${address.shown} has ${off} off, so a power failure could lose payments; switch it on, or set STATE_SYNC=normal`,
  );
}

/**
 * Statements are prepared once for each connection, so a pooler must leave it its session. One that gives sessions to transactions
 * shows the second connection what the first has set in its own, unless others keep it busy at that moment.
 * @param mark no earlier check has used it
 * @throws StateError when two connections share a session
 */
export async function checkSessions(
  database: Database,
  { shown }: Pick<DatabaseAddress, 'shown'>,
  mark: string,
): Promise<void> {
  const first = await database.connect().catch(() => undefined);
  if (first === undefined) return;
  let isHeld = true;
  const release = (): void => {
    if (isHeld) first.release(true);
    isHeld = false;
  };
  // Where the server gives no second one, the pool closes this one for it, and waits for its place.
  first.on('end', release);
  try {
    const marking = { text: "SELECT set_config('paygrade.session', $1, false)", values: [mark] };
    const isMarked = await first.query(marking).then(
      () => true,
      () => false,
    );
    if (!isMarked) return;
    const [row] = await database.run({ text: "SELECT current_setting('paygrade.session', true) AS mark" });
    if (row?.mark === mark) {
      throw new StateError(
        `the database ${shown} is behind a pooler that pools transactions; make it pool sessions, or name the database itself`,
      );
    }
  } finally {
    release();
  }
}

async function openOn(
  database: Database,
  address: DatabaseAddress,
  options: PostgresOptions,
  ports: PostgresPorts,
): Promise<Backend> {
  const { clock, random } = ports;
  const { stateKey } = options;
  if (options.sync === 'full') await checkDurability(database, address);
  await checkSessions(database, address, random.uuid());
  let identity: Identity | undefined;
  const owner = new Owner(database, { ...ports, onTables: (tables) => identity?.saw(tables) });
  await migrate(database, TABLES, owner.id);
  database.watchWith(await Wholeness.of((statement) => database.run(statement)));
  identity = await Identity.open(database, {
    clock,
    check: async (query) => {
      if (stateKey !== undefined) await checkStateKey(query, address, stateKey);
    },
    onNotice: (notice) => ports.onNotice?.(notice),
  });
  await owner.start();
  try {
    return await openStores(database, owner, identity, options, ports);
  } catch (failure) {
    database.endWaits();
    await owner.end();
    throw failure;
  }
}

async function openStores(
  database: Database,
  owner: Owner,
  identity: Identity,
  options: PostgresOptions,
  ports: PostgresPorts,
): Promise<Backend> {
  const { clock, random } = ports;
  const { play } = options;
  const books = await PostgresBooks.open(database, owner, options.salesKeptMs, ports);
  const reservations = await PostgresReservations.open(database, owner, {
    clock,
    settlement: play === undefined ? 'facilitator' : 'local',
    identity,
    onSold: (operation) => books.counts.sold(operation),
  });
  const playLedger = play === undefined ? undefined : new PostgresPlayLedger(database, play.openingAtomic);
  if (playLedger !== undefined) owner.onLook(() => playLedger.prune());
  const domains = await openDomainStores(
    { callbackBytes: options.callbackBytes, isPlay: play !== undefined },
    { ...ports, database, owner },
  );
  identity.onReplaced(() => {
    domains.retries.expectStrays();
    domains.resolves.expectStrays();
  });
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    database.endWaits();
    await domains.close();
    await books.close();
    await owner.end();
    await database.close();
  };
  return {
    callbacks: domains.callbacks,
    accounts: domains.accounts,
    rateLimits: domains.rateLimits,
    resolves: domains.resolves,
    retries: domains.retries,
    reservations,
    playLedger,
    books,
    fault: () => database.fault(),
    commits: () => ({ batchCount: database.statementCount, operationCount: database.statementCount }),
    throwawayPayee: async () => {
      const bytes = await keptSecret(
        (statement) => database.run(statement),
        PAYEE,
        () => Buffer.from(freshPayee(random).slice(2), 'hex'),
      );
      return checksummed(`0x${Buffer.from(bytes).toString('hex')}`);
    },
    notices: identity.notice === undefined ? [] : [identity.notice],
    drain: () => domains.callbacks.drain(),
    close() {
      closing ??= close();
      return closing;
    },
  };
}
