/**
 * Retry jobs in the state file (siblings §6). A start reads no jobs, so a million waiting ones cost it nothing. An
 * index over `due_ms` finds the next work; a held job has no `due_ms`, so it is not found twice. A job's request is
 * sealed (AES-256-GCM, which also detects changes); the rest has a checksum, which every read verifies.
 */
import type { RetryId } from '../../../retry/identifier.ts';
import type { DueJob, RetryRecord, RetryUsage } from '../../../retry/store.ts';
import type { ChargeChange } from '../../memory/accounts-journal.ts';
import { bytesOrNull, decodeJob, encodeJob } from '../../retry-record.ts';
import { checksumOfFields, DamagedError } from '../checksum.ts';
import type { Connection, Row, SqlValue } from '../connection.ts';
import { applyCharge } from './accounts.ts';
import type { Table } from './table.ts';

export const RETRIES = 'retries';

interface OfRetries {
  readonly table: typeof RETRIES;
}

/** Counts to add to an organization's month. */
export interface UsageAdded extends RetryUsage {
  readonly organization: string;
  readonly monthMs: number;
}

interface Written extends RetryRecord {
  readonly isHeld: boolean;
  readonly usage: UsageAdded | undefined;
}

export type RetryOperation =
  | (OfRetries & Written & { readonly kind: 'create'; readonly charge?: ChargeChange })
  /** Blobs are members only if they changed. */
  | (OfRetries & { readonly kind: 'update' } & Pick<Written, 'job' | 'isHeld' | 'usage'> &
      Partial<Pick<Written, 'secrets' | 'resultBody'>>)
  /** Marks jobs as held. */
  | (OfRetries & { readonly kind: 'take'; readonly ids: readonly RetryId[] })
  | (OfRetries & { readonly kind: 'release'; readonly id: RetryId })
  | (OfRetries & { readonly kind: 'remove'; readonly id: RetryId });

export type RetryQuery =
  /** Answered by a {@link RetryRecord}, {@link DAMAGED} or undefined. */
  | (OfRetries & { readonly kind: 'find'; readonly id: RetryId })
  /** The same, by the digest of an idempotency key. */
  | (OfRetries & { readonly kind: 'key'; readonly key: string })
  /** Answered by {@link DueRows}. */
  | (OfRetries & {
      readonly kind: 'due';
      readonly nowMs: number;
      readonly countMax: number;
      readonly bytesMax: number;
      readonly without: readonly string[];
    })
  | (OfRetries & { readonly kind: 'usage'; readonly organization: string; readonly monthMs: number });

/** The answer for a damaged record: an error would lose its class between threads. */
export const DAMAGED = 'damaged';

export interface DueRow extends DueJob {
  readonly record: RetryRecord | typeof DAMAGED;
}

export interface DueRows {
  readonly rows: readonly DueRow[];
  /** As `Taken.nextDueMs`. */
  readonly nextDueMs: number | null | undefined;
}

/** `next_ms` is when the next step is due; `due_ms` the same, or NULL while a process holds the job. */
const SCHEMA = `
  CREATE TABLE retry (
    id TEXT PRIMARY KEY, customer TEXT NOT NULL, key_digest TEXT, next_ms INTEGER NOT NULL, due_ms INTEGER,
    state TEXT NOT NULL, secrets BLOB, result_body BLOB, checksum INTEGER NOT NULL
  );
  CREATE INDEX retry_due ON retry (due_ms, customer) WHERE due_ms IS NOT NULL;
  CREATE INDEX retry_held ON retry (id) WHERE due_ms IS NULL;
  CREATE UNIQUE INDEX retry_key ON retry (key_digest) WHERE key_digest IS NOT NULL;
  CREATE TABLE retry_usage (
    organization TEXT NOT NULL, month_ms INTEGER NOT NULL, created INTEGER NOT NULL, attempts INTEGER NOT NULL,
    delivered INTEGER NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (organization, month_ms)
  ) WITHOUT ROWID;
`;

const checksumOf = (id: string, customer: string, key: string | null, nextMs: number, state: string): number =>
  checksumOfFields(id, customer, key ?? '', nextMs, state);

/** @throws DamagedError */
function recordOf(row: Row): RetryRecord {
  const id = row.id as RetryId;
  const customer = row.customer as string;
  const state = row.state as string;
  const key = row.key_digest as string | null;
  if (checksumOf(id, customer, key, row.next_ms as number, state) !== row.checksum)
    throw new DamagedError(`retry ${id}`);
  return {
    job: decodeJob(id, customer, key, row.next_ms as number, state),
    secrets: bytesOrNull(row.secrets),
    resultBody: bytesOrNull(row.result_body),
  };
}

function foundIn(row: Row): RetryRecord | typeof DAMAGED {
  try {
    return recordOf(row);
  } catch (failure) {
    if (failure instanceof DamagedError) return DAMAGED;
    throw failure;
  }
}

function create(connection: Connection, { job, secrets, isHeld }: Written): void {
  const state = encodeJob(job);
  const key = job.idempotency?.key ?? null;
  connection.run(
    `INSERT INTO retry (id, customer, key_digest, next_ms, due_ms, state, secrets, result_body, checksum)
     VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?)`,
    job.id,
    job.customer,
    key,
    job.dueAtMs,
    isHeld ? null : job.dueAtMs,
    state,
    secrets,
    checksumOf(job.id, job.customer, key, job.dueAtMs, state),
  );
}

function update(connection: Connection, operation: Extract<RetryOperation, { kind: 'update' }>): void {
  const { job, isHeld, secrets, resultBody } = operation;
  const state = encodeJob(job);
  const values: SqlValue[] = [
    job.dueAtMs,
    isHeld ? null : job.dueAtMs,
    state,
    checksumOf(job.id, job.customer, job.idempotency?.key ?? null, job.dueAtMs, state),
  ];
  let blobs = '';
  if (secrets !== undefined) {
    blobs += ', secrets = ?';
    values.push(secrets);
  }
  if (resultBody !== undefined) {
    blobs += ', result_body = ?';
    values.push(resultBody);
  }
  const sql = `UPDATE retry SET next_ms = ?, due_ms = ?, state = ?, checksum = ?${blobs} WHERE id = ?`;
  connection.runOnOne(sql, ...values, job.id);
}

const checksumOfUsage = (organization: string, monthMs: number, usage: RetryUsage): number =>
  checksumOfFields(organization, monthMs, usage.retriesCreated, usage.attemptsMade, usage.callbacksDelivered);

/** @throws DamagedError */
function usageIn(connection: Connection, organization: string, monthMs: number): RetryUsage | undefined {
  const row = connection.row(
    'SELECT * FROM retry_usage WHERE organization = ? AND month_ms = ?',
    organization,
    monthMs,
  );
  if (row === undefined) return undefined;
  const usage = {
    retriesCreated: row.created as number,
    attemptsMade: row.attempts as number,
    callbacksDelivered: row.delivered as number,
  };
  if (checksumOfUsage(organization, monthMs, usage) !== row.checksum) {
    throw new DamagedError(`the retries of ${organization}`);
  }
  return usage;
}

/**
 * Counts for a month whose row is damaged are dropped, so that jobs go on; the row stays, and the next read shows the
 * damage to an operator.
 */
function addUsage(connection: Connection, added: UsageAdded | undefined): void {
  if (added === undefined) return;
  const { organization, monthMs } = added;
  let before: RetryUsage | undefined;
  try {
    before = usageIn(connection, organization, monthMs);
  } catch (failure) {
    if (failure instanceof DamagedError) return;
    throw failure;
  }
  const after = {
    retriesCreated: (before?.retriesCreated ?? 0) + added.retriesCreated,
    attemptsMade: (before?.attemptsMade ?? 0) + added.attemptsMade,
    callbacksDelivered: (before?.callbacksDelivered ?? 0) + added.callbacksDelivered,
  };
  connection.run(
    `INSERT OR REPLACE INTO retry_usage (organization, month_ms, created, attempts, delivered, checksum)
     VALUES (?, ?, ?, ?, ?, ?)`,
    organization,
    monthMs,
    after.retriesCreated,
    after.attemptsMade,
    after.callbacksDelivered,
    checksumOfUsage(organization, monthMs, after),
  );
}

const DUE_COLUMNS = 'id, customer, key_digest, next_ms, state, secrets, result_body, checksum';

/** Due jobs in the order of their times. It skips the index entries of the customers that the query leaves out. */
function dueRows(connection: Connection, query: Extract<RetryQuery, { kind: 'due' }>): DueRows {
  const { nowMs, countMax, bytesMax, without } = query;
  const wanted = without.length === 0 ? '' : 'AND customer NOT IN (SELECT value FROM json_each(?))';
  const found = connection.each(
    `SELECT ${DUE_COLUMNS} FROM retry WHERE due_ms <= ? ${wanted} ORDER BY due_ms LIMIT ?`,
    nowMs,
    ...(without.length === 0 ? [] : [JSON.stringify(without)]),
    countMax,
  );
  const rows: DueRow[] = [];
  let byteCount = 0;
  let isFull = false;
  for (const row of found) {
    const secretBytes = (row.secrets as Uint8Array | null)?.length ?? 0;
    // Results count as well: they are not held, but they pass through memory here.
    byteCount += secretBytes + ((row.result_body as Uint8Array | null)?.length ?? 0);
    if (rows.length > 0 && byteCount > bytesMax) {
      isFull = true;
      break;
    }
    const [id, customer] = [row.id as RetryId, row.customer as string];
    rows.push({ id, customer, byteCount: secretBytes, record: foundIn(row) });
  }
  if (isFull || rows.length === countMax) return { rows, nextDueMs: undefined };
  const next = connection.row('SELECT MIN(due_ms) AS due FROM retry WHERE due_ms > ?', nowMs) as Row;
  return { rows, nextDueMs: next.due as number | null };
}

export const retries: Table<RetryOperation, RetryQuery> = {
  name: RETRIES,
  schema: SCHEMA,
  apply(connection, operation) {
    switch (operation.kind) {
      case 'create':
        create(connection, operation);
        addUsage(connection, operation.usage);
        if (operation.charge !== undefined) applyCharge(connection, operation.charge);
        return;
      case 'update':
        update(connection, operation);
        addUsage(connection, operation.usage);
        return;
      case 'take':
        for (const id of operation.ids) connection.run('UPDATE retry SET due_ms = NULL WHERE id = ?', id);
        return;
      case 'release':
        connection.run('UPDATE retry SET due_ms = next_ms WHERE id = ?', operation.id);
        return;
      case 'remove':
        connection.run('DELETE FROM retry WHERE id = ?', operation.id);
        return;
      default:
        operation satisfies never;
    }
  },
  read(connection, query) {
    switch (query.kind) {
      case 'find':
      case 'key': {
        const [column, value] = query.kind === 'find' ? ['id', query.id] : ['key_digest', query.key];
        const row = connection.row(`SELECT ${DUE_COLUMNS} FROM retry WHERE ${column} = ?`, value);
        return row && foundIn(row);
      }
      case 'due':
        return dueRows(connection, query);
      case 'usage':
        return usageIn(connection, query.organization, query.monthMs);
      default:
        return query satisfies never;
    }
  },
  bodyBytesOf(operation) {
    if (operation.kind !== 'create' && operation.kind !== 'update') return 0;
    return (operation.secrets?.length ?? 0) + (operation.resultBody?.length ?? 0);
  },
};

/** All jobs, one after another. @throws DamagedError */
export function* everyRetry(connection: Connection): Iterable<RetryRecord> {
  for (const row of connection.each(`SELECT ${DUE_COLUMNS} FROM retry ORDER BY id`)) yield recordOf(row);
}

/** The usage of all organizations. @throws DamagedError */
export function everyUsage(connection: Connection): UsageAdded[] {
  return connection.all('SELECT organization, month_ms FROM retry_usage').map((row) => {
    const organization = row.organization as string;
    const monthMs = row.month_ms as number;
    const usage = usageIn(connection, organization, monthMs);
    if (usage === undefined) throw new DamagedError(`the retries of ${organization}`);
    return { organization, monthMs, ...usage };
  });
}

/** The table that may hold a million jobs: SQLite's full check of its indexes would delay a start by many seconds. */
export const LONG_TABLE = 'retry';

/**
 * Finds, by counting, a job index with an entry missing or too many: a job without an entry would never be sent.
 * @returns what is wrong, one line; undefined when each index has an entry for each job
 */
export function problemOfRetries(connection: Connection): string | undefined {
  const count = (sql: string): number => Number(connection.all(sql)[0]?.count);
  const jobs = count('SELECT COUNT(*) AS count FROM retry NOT INDEXED');
  const keys = count('SELECT COUNT(key_digest) AS count FROM retry NOT INDEXED');
  const rows: readonly (readonly [index: string, entries: number, wanted: number])[] = [
    ['id', count("SELECT COUNT(*) AS count FROM retry INDEXED BY sqlite_autoindex_retry_1 WHERE id > ''"), jobs],
    [
      'due',
      count('SELECT COUNT(*) AS count FROM retry INDEXED BY retry_due WHERE due_ms IS NOT NULL') +
        count('SELECT COUNT(*) AS count FROM retry INDEXED BY retry_held WHERE due_ms IS NULL'),
      jobs,
    ],
    ['key', count('SELECT COUNT(*) AS count FROM retry INDEXED BY retry_key WHERE key_digest IS NOT NULL'), keys],
  ];
  const wrong = rows.find(([, entries, wanted]) => entries !== wanted);
  return wrong && `the index of retries by ${wrong[0]} has ${wrong[1]} entries, not ${wrong[2]}`;
}

/** Frees the jobs that the previous process held. */
export function freeHeldRetries(connection: Connection): void {
  connection.run('UPDATE retry SET due_ms = next_ms WHERE due_ms IS NULL');
}
