/**
 * Moves all durable state of a folder into an empty database (siblings §9) in one transaction. The folder's lock keeps
 * servers out meanwhile. Its marker says `moving` before the commit and `moved` after it, so no server ever sells from
 * the folder beside the database: an interrupted copy is repeated, or its folder is discarded with STATE_RESET.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DIGEST_KEY_BYTES } from '../../../base/digest.ts';
import { errorCodeOf, firstLineOf } from '../../../base/failure.ts';
import { isoTime } from '../../../base/iso-time.ts';
import { systemRandom } from '../../../base/random.ts';
import { CLOCK_AHEAD_MS_MAX } from '../../../callback/limits.ts';
import { FolderInPlaceError, folderFaultOf } from '../../folder-fault.ts';
import { foundPayee } from '../../payee-file.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { isUnreadable, StateDatabase } from '../../sqlite/database.ts';
import { lockState, type StateLock } from '../../sqlite/lock.ts';
import { isDamagedLogFile } from '../../sqlite/log-check.ts';
import { type Marker, readMarker, writeMarker } from '../../sqlite/marker.ts';
import { resultCodeOf } from '../../sqlite/result-code.ts';
import { STATE_FILE, USED_BEFORE } from '../../sqlite/state.ts';
import { loadBooks } from '../../sqlite/tables/sales.ts';
import { StateError } from '../../state-error.ts';
import { foundStateKey } from '../../state-key.ts';
import { type DatabasePorts, onDatabase } from '../command-database.ts';
import type { Database } from '../database.ts';
import { InDoubtError } from '../failures.ts';
import { KEY_CHECK, keyCheckOf, PAYEE } from '../secrets.ts';
import type { Query } from '../transaction.ts';
import { accountTables, callbackTables, workTables } from './domains.ts';
import { paymentTables } from './payments.ts';
import { type CopiedTable, insertAll } from './rows.ts';

/** Rows that were copied, by table. */
export type Copied = Readonly<Record<string, number>>;

/** Tables that are all empty only if nothing was ever sold, created or granted. */
const FILLED = ['claims', 'sales', 'play_spent', 'callbacks', 'organizations', 'retries', 'resolves'] as const;

/** Tables that number their own rows from 1. */
const NUMBERED = ['onboarding_grants', 'api_keys'] as const;

/** The folder cannot be copied: it is in use or holds no sound state. */
export class FolderError extends StateError {}

/** @throws StateError one line; a FolderError when the cause is the folder and not the database */
export async function copyState(stateDir: string, url: string, ports: DatabasePorts): Promise<Copied> {
  let lock: StateLock | undefined;
  try {
    if (statSync(stateDir, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new FolderError(`there is no folder ${stateDir}`);
    }
    lock = lockState(stateDir);
    if (lock === undefined) throw new FolderError(`a server uses ${stateDir}: stop it first`);
    const marker = markerOf(stateDir);
    const secrets = secretTables(stateDir);
    const source = openSource(stateDir);
    try {
      return await onDatabase(url, 'state copy', ports, (database) =>
        copyLocked(stateDir, marker, { source, secrets }, database, ports),
      );
    } finally {
      source.close();
    }
  } catch (failure) {
    if (isUnreadable(failure))
      throw new FolderError(`the state of ${stateDir} cannot be read (${firstLineOf(failure)})`, { cause: failure });
    const isOfFile = resultCodeOf(failure) !== undefined || failure instanceof FolderInPlaceError || isRefused(failure);
    if (!isOfFile) throw failure;
    throw new FolderError(`${stateDir} cannot be used: ${folderFaultOf(stateDir, failure)}`, { cause: failure });
  } finally {
    lock?.release();
  }
}

/** The system lets this user not read or write a file; failures of the database are StateErrors by now. */
const isRefused = (failure: unknown): boolean => ['EACCES', 'EPERM', 'EROFS'].includes(errorCodeOf(failure) ?? '');

/** @throws StateError */
function markerOf(stateDir: string): Marker {
  const marker = readMarker(stateDir);
  if (marker === null) {
    const isCopy = existsSync(join(stateDir, STATE_FILE));
    const what = isCopy ? 'a copy without its state.json: start a server on it once' : 'no state';
    throw new FolderError(`${stateDir} holds ${what}`);
  }
  if (marker === undefined) throw new FolderError(`the state of ${stateDir} is damaged (state.json)`);
  if (marker.moved === 'moved') throw new FolderError(`the state of ${stateDir} was copied to a database already`);
  return marker;
}

/** @throws StateError, or a failure for which isUnreadable is true */
function openSource(stateDir: string): StateDatabase {
  const path = join(stateDir, STATE_FILE);
  if (!existsSync(path)) throw new FolderError(`${path} is missing`);
  if (isDamagedLogFile(`${path}-wal`)) throw new FolderError(`the log of ${path} is damaged`);
  const database = new StateDatabase({ path, sync: 'full' });
  try {
    database.check();
    return database;
  } catch (failure) {
    database.close();
    throw failure;
  }
}

async function copyLocked(
  stateDir: string,
  marker: Marker,
  { source, secrets }: { readonly source: StateDatabase; readonly secrets: readonly CopiedTable[] },
  database: Database,
  { clock }: DatabasePorts,
): Promise<Copied> {
  const nowMs = clock.nowMs();
  if (source.meta(USED_BEFORE) * 1000 > nowMs) {
    const until = isoTime(source.meta(USED_BEFORE) * 1000);
    throw new FolderError(
      `the state of ${stateDir} was reset or restored, and refuses older authorizations until ${until}: copy it then`,
    );
  }
  const { generation, sync } = marker;
  let copied: Copied;
  try {
    copied = await database.transaction(async (query) => {
      // As at a start: what has expired since then leaves with the database's sweeps, which ask its clock too.
      const counts = await copyAll(query, secrets, source.connection, nowMs - CLOCK_AHEAD_MS_MAX);
      writeMarker(stateDir, { generation, sync, moved: 'moving' });
      return counts;
    });
  } catch (failure) {
    if (failure instanceof InDoubtError) {
      throw new StateError(
        'the database was lost at the commit: run the same again; it goes on where nothing was copied',
        { cause: failure },
      );
    }
    writeMarker(stateDir, marker);
    throw failure;
  }
  writeMarker(stateDir, { generation, sync, moved: 'moved' });
  return copied;
}

async function copyAll(
  query: Query,
  secrets: readonly CopiedTable[],
  connection: Connection,
  nowMs: number,
): Promise<Copied> {
  // Locks out a second copy.
  await query({ text: 'SELECT claimed FROM paygrade.callback_room WHERE id = 1 FOR UPDATE' });
  const checks = FILLED.map((name) => `EXISTS (SELECT FROM paygrade.${name})`).join(' OR ');
  const [found] = await query({ text: `SELECT ${checks} AS is_filled` });
  if (found?.is_filled === true) throw new StateError('the database is not empty: copy into an empty one');
  const books = loadBooks(connection, () => systemRandom.bytes(DIGEST_KEY_BYTES));
  const callbacks = callbackTables(connection, nowMs);
  const tables: CopiedTable[] = [
    ...paymentTables(connection, nowMs, books),
    ...secrets,
    ...callbacks.tables,
    ...accountTables(connection, nowMs),
    ...workTables(connection, nowMs),
  ];
  await query({ text: 'DELETE FROM paygrade.secrets' });
  const counts: Record<string, number> = {};
  for (const table of tables) counts[table.name] = (counts[table.name] ?? 0) + (await insertAll(query, table));
  await query({ text: 'UPDATE paygrade.callback_room SET claimed = $1 WHERE id = 1', values: [callbacks.liveCount] });
  for (const name of NUMBERED) {
    await query({
      text: `SELECT setval(pg_get_serial_sequence('paygrade.${name}', 'serial'),
        (SELECT coalesce(max(serial), 0) FROM paygrade.${name}) + 1, false)`,
    });
  }
  return counts;
}

/**
 * The throwaway recipient, so that offers stay the same, and the check of the folder's key, so that no other key is used.
 * @throws FolderError when one of their files holds something else
 */
function secretTables(stateDir: string): CopiedTable[] {
  const rows: [string, Uint8Array][] = [];
  try {
    const payee = foundPayee(stateDir);
    if (payee !== undefined) rows.push([PAYEE, Buffer.from(payee.slice(2), 'hex')]);
    const key = foundStateKey(stateDir);
    if (key !== undefined) rows.push([KEY_CHECK, keyCheckOf(key)]);
  } catch (failure) {
    throw failure instanceof StateError ? new FolderError(failure.message, { cause: failure }) : failure;
  }
  const columns = [
    ['name', 'text'],
    ['bytes', 'bytea'],
  ] as const;
  return rows.length === 0 ? [] : [{ name: 'secrets', columns, rows }];
}
