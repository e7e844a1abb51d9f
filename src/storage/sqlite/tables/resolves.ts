/**
 * Resolves in the state file. The creation inserts a row, which later gets the outcome; after an hour the row keeps only id,
 * digest and time, and an hour later it is deleted. The outcome has a separate checksum, because it is read on demand.
 */
import type { ResolveId } from '../../../resolve/identifier.ts';
import { KEPT_MS, TOMBSTONE_MS } from '../../../resolve/limits.ts';
import type { ResolveRecord } from '../../../resolve/resolve-store.ts';
import type { ResolveQuestion } from '../../../resolve/result.ts';
import type { LoadedResolve, ResolveChange } from '../../memory/resolves-journal.ts';
import { checksumOfFields, DamagedError } from '../checksum.ts';
import type { Connection, Row } from '../connection.ts';
import type { Table } from './table.ts';

export const RESOLVES = 'resolves';

interface OfResolves {
  readonly table: typeof RESOLVES;
}

export type ResolveOperation = OfResolves & ResolveChange;

/** Asks for the outcome of a resolve; the answer is its JSON or undefined. */
export interface OutcomeQuery extends OfResolves {
  readonly id: ResolveId;
}

const SCHEMA = `
  CREATE TABLE resolve (
    id TEXT PRIMARY KEY, token_digest BLOB NOT NULL, created_at_ms INTEGER NOT NULL, question TEXT NOT NULL,
    checksum INTEGER NOT NULL, status TEXT NOT NULL, outcome BLOB NOT NULL, outcome_checksum INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX resolve_by_time ON resolve (created_at_ms);
`;

const PENDING = 'pending';
/** What replaces the question once the hour of a resolve is over. */
const NO_QUESTION = '';
const EMPTY = new Uint8Array(0);

const checksumOf = (id: string, tokenDigest: Uint8Array, createdAtMs: number): number =>
  checksumOfFields(id, tokenDigest, createdAtMs);
const outcomeChecksum = (id: string, question: string, status: string, outcome: Uint8Array): number =>
  checksumOfFields(id, question, status, outcome);

function create(connection: Connection, { id, tokenDigest, createdAtMs, question }: ResolveRecord): void {
  const text = JSON.stringify(question);
  connection.run(
    `INSERT INTO resolve (id, token_digest, created_at_ms, question, checksum, status, outcome, outcome_checksum)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    tokenDigest,
    createdAtMs,
    text,
    checksumOf(id, tokenDigest, createdAtMs),
    PENDING,
    EMPTY,
    outcomeChecksum(id, text, PENDING, EMPTY),
  );
}

/** Replaces all of a row except id, digest and time. */
function replace(connection: Connection, id: string, status: string, outcome: Uint8Array): void {
  connection.run(
    'UPDATE resolve SET question = ?, status = ?, outcome = ?, outcome_checksum = ? WHERE id = ?',
    NO_QUESTION,
    status,
    outcome,
    outcomeChecksum(id, NO_QUESTION, status, outcome),
    id,
  );
}

/** @throws DamagedError */
function checkOutcome({ id, question, status, outcome, outcome_checksum }: Row): Uint8Array {
  const bytes = (outcome as Uint8Array | null) ?? EMPTY;
  if (outcomeChecksum(id as string, question as string, status as string, bytes) !== outcome_checksum) {
    throw new DamagedError(`resolve ${id}`);
  }
  return bytes;
}

export const resolves: Table<ResolveOperation, OutcomeQuery> = {
  name: RESOLVES,
  schema: SCHEMA,
  apply(connection, operation) {
    switch (operation.kind) {
      case 'create':
        create(connection, operation.resolve);
        return;
      case 'finish':
        replace(connection, operation.id, operation.status, operation.outcome);
        return;
      case 'expire':
        for (const id of operation.ids) replace(connection, id, PENDING, EMPTY);
        return;
      case 'forget':
        for (const id of operation.ids) connection.run('DELETE FROM resolve WHERE id = ?', id);
        return;
      default:
        operation satisfies never;
    }
  },
  read(connection, { id }) {
    const row = connection.row('SELECT id, question, status, outcome, outcome_checksum FROM resolve WHERE id = ?', id);
    if (row === undefined) return undefined;
    const outcome = checkOutcome(row);
    return outcome.length === 0 ? undefined : new TextDecoder().decode(outcome);
  },
  bodyBytesOf: (operation) => (operation.kind === 'finish' ? operation.outcome.length : 0),
};

/**
 * Loads the resolves without their outcomes, oldest first, and removes those past their second hour. @throws DamagedError
 */
export function loadResolves(connection: Connection, nowMs: number): LoadedResolve[] {
  connection.inTransaction(() => {
    connection.run('DELETE FROM resolve WHERE created_at_ms <= ?', nowMs - KEPT_MS - TOMBSTONE_MS);
    const expired = connection.all('SELECT id FROM resolve WHERE created_at_ms <= ?', nowMs - KEPT_MS);
    for (const { id } of expired) replace(connection, id as string, PENDING, EMPTY);
  });
  const rows = connection.all(
    `SELECT id, token_digest, created_at_ms, question, checksum, status, LENGTH(outcome) AS size,
       CASE status WHEN '${PENDING}' THEN outcome END AS outcome, outcome_checksum
     FROM resolve ORDER BY created_at_ms, id`,
  );
  return rows.map((row) => {
    const id = row.id as ResolveId;
    const tokenDigest = new Uint8Array(row.token_digest as Uint8Array);
    const createdAtMs = row.created_at_ms as number;
    if (checksumOf(id, tokenDigest, createdAtMs) !== row.checksum) throw new DamagedError(`resolve ${id}`);
    // An outcome is checked when it is read.
    if (row.status === PENDING) checkOutcome(row);
    const question = row.question as string;
    return {
      id,
      tokenDigest,
      createdAtMs,
      status: row.status as LoadedResolve['status'],
      question: question === NO_QUESTION ? undefined : (JSON.parse(question) as ResolveQuestion),
      outcomeBytes: row.size as number,
    };
  });
}
