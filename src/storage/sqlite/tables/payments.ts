/**
 * Payments in the state file: `pending`, unsettled settlements with the data for a repeat; `used`, used authorizations
 * (end-record.ts); `spent`, the play ledger's sums. Serials ascend, and only memory finds reservations by their keys, so a
 * payment touches only the ends of the tables and of their indexes.
 */
import type { Sale, SaleFacts } from '../../../payment/books.ts';
import type { IdentifierClaim } from '../../../payment/protocol/identifier.ts';
import { orderOfText } from '../../../payment/protocol/order.ts';
import type { AnswerToKeep, RecordedCase } from '../../memory/reservation-journal.ts';
import type { UsedAuthorization } from '../../memory/used-authorizations.ts';
import { checksumOfFields, DamagedError } from '../checksum.ts';
import type { Connection, Row } from '../connection.ts';
import { dropAnswers, insertAnswer, keepAnswer } from './answers.ts';
import type { BatchSums } from './batch-sums.ts';
import { endOfRecord, endRecord } from './end-record.ts';
import { insertSale } from './sales.ts';
import type { Table } from './table.ts';

export const PAYMENTS = 'payments';

interface OfPayments {
  readonly table: typeof PAYMENTS;
}

/** A settlement that is about to begin. */
export interface Intent extends OfPayments {
  readonly kind: 'intent';
  readonly serial: number;
  /** True: it moves play money, so its outcome changes the play ledger's sums. */
  readonly isPlay: boolean;
  /** Lower case. */
  readonly payer: string;
  readonly valueAtomic: bigint;
  /** As `orderTextOf` writes it. */
  readonly order: string;
  /** JSON of the {@link SaleFacts}. */
  readonly sale: string;
  /** One for each identifier of the payment. */
  readonly answers: readonly AnswerToKeep[];
}

/** The final outcome of a settlement. */
export interface End extends OfPayments {
  readonly kind: 'end';
  readonly serial: number;
  readonly end: UsedAuthorization;
  /** The entry of the books for a settled payment. */
  readonly sale: Sale | undefined;
  /** The identifiers of the payment. */
  readonly claims: readonly IdentifierClaim[];
  /** Only used for a payment with an identifier. */
  readonly keptUntilMs: number;
}

export interface Unknown extends OfPayments {
  readonly kind: 'unknown';
  readonly serial: number;
  readonly transaction: string;
  readonly isRefused: boolean;
}

export type PaymentOperation =
  | Intent
  | Unknown
  | End
  | (OfPayments & { readonly kind: 'release'; readonly serial: number })
  /** Used authorizations whose retention is over. */
  | (OfPayments & { readonly kind: 'forget'; readonly serials: readonly number[] });

export type LoadedEnd = UsedAuthorization & { readonly serial: number };

/** A recorded settlement without an outcome. */
export type LoadedCase = Omit<RecordedCase, 'isRepeatable'> & { readonly isPlay: boolean };

const SCHEMA = `
  CREATE TABLE pending (
    serial INTEGER PRIMARY KEY, is_play INTEGER NOT NULL, payer TEXT NOT NULL, value INTEGER NOT NULL,
    "transaction" TEXT NOT NULL, is_refused INTEGER NOT NULL DEFAULT 0, terms TEXT NOT NULL, sale TEXT NOT NULL,
    checksum INTEGER NOT NULL
  );
  CREATE TABLE used (serial INTEGER PRIMARY KEY, record BLOB NOT NULL);
  CREATE TABLE spent (payer TEXT PRIMARY KEY, atomic INTEGER NOT NULL) WITHOUT ROWID;
`;

function applyIntent(connection: Connection, intent: Intent): void {
  const { serial, isPlay, payer, valueAtomic, order, sale, answers } = intent;
  const playFlag = isPlay ? 1 : 0;
  connection.run(
    `INSERT INTO pending (serial, is_play, payer, value, "transaction", terms, sale, checksum)
     VALUES (?, ?, ?, ?, '', ?, ?, ?)`,
    serial,
    playFlag,
    payer,
    valueAtomic,
    order,
    sale,
    checksumOfFields(serial, playFlag, payer, String(valueAtomic), order, sale),
  );
  for (const { claim, sealed } of answers) insertAnswer(connection, serial, claim, sealed);
}

function applyEnd(connection: Connection, ended: End, sums: BatchSums): void {
  const { serial, end, sale, claims, keptUntilMs } = ended;
  connection.runOnOne('DELETE FROM pending WHERE serial = ?', serial);
  connection.run('INSERT INTO used (serial, record) VALUES (?, ?)', serial, endRecord(serial, end));
  if (sale !== undefined) insertSale(connection, sale, end.key, sums);
  for (const claim of claims) keepAnswer(connection, serial, claim, keptUntilMs, sale?.transaction ?? '');
}

function forget(connection: Connection, serials: readonly number[]): void {
  for (const serial of serials) connection.run('DELETE FROM used WHERE serial = ?', serial);
}

export const payments: Table<PaymentOperation> = {
  name: PAYMENTS,
  schema: SCHEMA,
  apply(connection, operation, sums) {
    switch (operation.kind) {
      case 'intent':
        applyIntent(connection, operation);
        return;
      case 'unknown': {
        const { serial, transaction, isRefused } = operation;
        const update = 'UPDATE pending SET "transaction" = ?, is_refused = ? WHERE serial = ?';
        connection.runOnOne(update, transaction, isRefused ? 1 : 0, serial);
        return;
      }
      case 'end':
        applyEnd(connection, operation, sums);
        return;
      case 'release':
        connection.runOnOne('DELETE FROM pending WHERE serial = ?', operation.serial);
        dropAnswers(connection, operation.serial);
        return;
      case 'forget':
        forget(connection, operation.serials);
        return;
      default:
        operation satisfies never;
    }
  },
  bodyBytesOf: (operation) =>
    operation.kind === 'intent' ? operation.answers.reduce((sum, { sealed }) => sum + sealed.length, 0) : 0,
};

/**
 * Loads the used authorizations by serial. Removes and omits those with a `validBefore` before `fromSeconds`.
 * @throws DamagedError, or the Error of node:sqlite for damaged pages
 */
export function loadEnds(connection: Connection, fromSeconds: number): LoadedEnd[] {
  const ends: LoadedEnd[] = [];
  const past: number[] = [];
  for (const row of connection.each('SELECT serial, record FROM used ORDER BY serial')) {
    const serial = row.serial as number;
    const end = endOfRecord(serial, row.record as Uint8Array);
    if (end.validBeforeSeconds < fromSeconds) past.push(serial);
    else ends.push({ serial, ...end });
  }
  if (past.length > 0) connection.inTransaction(() => forget(connection, past));
  return ends;
}

function caseOf(row: Row): LoadedCase {
  const serial = row.serial as number;
  const isPlay = row.is_play === 1;
  const terms = row.terms as string;
  const sale = row.sale as string;
  const checksum = checksumOfFields(serial, isPlay ? 1 : 0, row.payer as string, row.value as string, terms, sale);
  if (checksum !== row.checksum) throw new DamagedError(`settlement ${serial}`);
  return {
    serial,
    isPlay,
    order: orderOfText(terms),
    sale: JSON.parse(sale) as SaleFacts,
    transaction: row.hash as string,
    isRefused: row.is_refused === 1,
  };
}

/** Loads the settlements without an outcome, by serial. @throws DamagedError */
export function loadCases(connection: Connection): LoadedCase[] {
  return connection
    .all(
      `SELECT serial, is_play, payer, CAST(value AS TEXT) AS value, "transaction" AS hash, is_refused, terms, sale, checksum
       FROM pending ORDER BY serial`,
    )
    .map(caseOf);
}

/** Loads the play ledger's sums. */
export function loadSpent(connection: Connection): [payer: string, atomic: bigint][] {
  const rows = connection.all('SELECT payer, CAST(atomic AS TEXT) AS atomic FROM spent');
  return rows.map((row) => [row.payer as string, BigInt(row.atomic as string)]);
}
