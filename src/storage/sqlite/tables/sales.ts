/**
 * The books in the state file: `sale`, one row a sale, with the serial of its reservation; `sale_day`, sums by day,
 * updated in the same transactions; `secret`, the key of the digests. A payment's outcome and its sale are one
 * operation of payments.ts, which calls {@link insertSale}. The start reads no sales: the books may hold years of them.
 */
import { isoDate } from '../../../base/iso-time.ts';
import type { Sale, SaleCursor, SalesDay, SalesQuery } from '../../../payment/books.ts';
import { checksummed, type NetworkId, networkOf } from '../../../payment/protocol/network.ts';
import { type ReservationKey, reservationKeyOf } from '../../../payment/protocol/order.ts';
import { salesDayOf } from '../../sales-day.ts';
import { checksumOfFields, DamagedError } from '../checksum.ts';
import type { Connection, Row } from '../connection.ts';
import type { BatchSums } from './batch-sums.ts';
import type { Table } from './table.ts';

export const SALES = 'sales';

interface OfSales {
  readonly table: typeof SALES;
}

export type SalesOperation =
  /** Answers that went out. */
  | (OfSales & { readonly kind: 'delivered'; readonly serials: readonly number[] })
  /** Removes sales from before a time, {@link PRUNED_COUNT_MAX} at most. */
  | (OfSales & { readonly kind: 'prune'; readonly beforeMs: number });

export type SalesRead =
  | (OfSales & { readonly kind: 'page'; readonly query: SalesQuery })
  | (OfSales & { readonly kind: 'find'; readonly key: ReservationKey })
  | (OfSales & { readonly kind: 'days'; readonly from: string })
  /** Asks for {@link SalesTotals}; sales after `beforeMs` do not count as undelivered. */
  | (OfSales & { readonly kind: 'totals'; readonly beforeMs: number });

/** Totals over the whole books, read from their sums and an index. */
export interface SalesTotals {
  readonly undeliveredCount: number;
  /** Time of the oldest sale, milliseconds since 1970; null without sales. */
  readonly oldestMs: number | null;
  /** The highest serial of a sale; 0 without sales. */
  readonly lastSerial: number;
}

/** Bounds the time that one commit spends removing old sales. */
const PRUNED_COUNT_MAX = 500;

/**
 * `number` finds a sale by its authorization: 48 bits of the reservation key, so two sales may share one. Numbers are
 * random, so the index sorts them only within pieces of 4,096 serials: a commit then writes a few pages at the end of
 * the index, where one index over all numbers would write another page for each sale in long books. A search looks into
 * each piece, newest first.
 */
const SCHEMA = `
  CREATE TABLE sale (
    serial INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, number INTEGER NOT NULL, operation TEXT NOT NULL,
    amount INTEGER NOT NULL, network TEXT NOT NULL, payer TEXT NOT NULL, nonce TEXT NOT NULL, hash TEXT NOT NULL,
    request TEXT NOT NULL, question TEXT NOT NULL, parameters TEXT, settlement TEXT NOT NULL,
    is_delivered INTEGER NOT NULL, checksum INTEGER NOT NULL
  );
  CREATE INDEX sale_by_time ON sale (time_ms, serial);
  CREATE INDEX sale_by_number ON sale (serial >> 12, number);
  CREATE INDEX sale_undelivered ON sale (time_ms, serial) WHERE is_delivered = 0;
  CREATE TABLE sale_day (
    day TEXT NOT NULL, settlement TEXT NOT NULL, network TEXT NOT NULL, operation TEXT NOT NULL,
    sales INTEGER NOT NULL, amount INTEGER NOT NULL, undelivered INTEGER NOT NULL,
    PRIMARY KEY (day, settlement, network, operation)
  ) WITHOUT ROWID;
  CREATE TABLE secret (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;
`;

/** The tables that grow with the history; the start's integrity check skips them. */
export const HISTORY_TABLES: readonly string[] = ['sale'];

const keyOf = ({ network, nonce, payer }: Sale): ReservationKey => reservationKeyOf(networkOf(network), payer, nonce);

const numberOf = (key: ReservationKey): number => Buffer.from(key, 'latin1').readUIntBE(0, 6);

const checksumOf = (sale: Sale): number =>
  checksumOfFields(
    sale.serial,
    sale.timeMs,
    sale.operation,
    String(sale.amountAtomic),
    sale.network,
    sale.payer,
    sale.nonce,
    sale.transaction,
    sale.requestId,
    sale.question,
    sale.parameters ?? '',
    sale.settlement,
  );

/** Enters a sale, in the transaction of its settlement. @param key of its reservation */
export function insertSale(connection: Connection, sale: Sale, key: ReservationKey, sums: BatchSums): void {
  connection.run(
    `INSERT INTO sale (serial, time_ms, number, operation, amount, network, payer, nonce, hash, request, question,
       parameters, settlement, is_delivered, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`,
    sale.serial,
    sale.timeMs,
    numberOf(key),
    sale.operation,
    sale.amountAtomic,
    sale.network,
    sale.payer,
    sale.nonce,
    sale.transaction,
    sale.requestId,
    sale.question,
    sale.parameters,
    sale.settlement,
    checksumOf(sale),
  );
  sums.sell(sale);
}

const COLUMNS = `serial, time_ms, operation, CAST(amount AS TEXT) AS amount, network, payer, nonce, hash, request, question,
  parameters, settlement, is_delivered, checksum`;

/** @throws an error where a value has another type than any sale's */
const soldIn = (row: Row): Sale => ({
  serial: row.serial as number,
  timeMs: row.time_ms as number,
  operation: row.operation as string,
  amountAtomic: BigInt(row.amount as string),
  network: row.network as NetworkId,
  payer: checksummed((row.payer as string).toLowerCase()),
  nonce: row.nonce as string,
  transaction: row.hash as string,
  requestId: row.request as string,
  question: row.question as string,
  parameters: row.parameters as string | null,
  settlement: row.settlement as Sale['settlement'],
  isDelivered: row.is_delivered === 1,
});

/** @throws DamagedError */
function saleOf(row: Row): Sale {
  let sale: Sale | undefined;
  try {
    sale = soldIn(row);
  } catch {
    // Damaged, as below.
  }
  if (sale === undefined || checksumOf(sale) !== row.checksum) throw new DamagedError(`sale ${row.serial}`);
  return sale;
}

/** A serial before every sale of the same time. */
const BEFORE_ALL = -1;

function page(connection: Connection, { sinceMs, isUndeliveredOnly, after, limit }: SalesQuery): Sale[] {
  const { timeMs, serial }: SaleCursor =
    after !== undefined && after.timeMs >= sinceMs ? after : { timeMs: sinceMs, serial: BEFORE_ALL };
  const wanted = isUndeliveredOnly ? 'AND is_delivered = 0' : '';
  const sql = `SELECT ${COLUMNS} FROM sale WHERE (time_ms, serial) > (?, ?) ${wanted} ORDER BY time_ms, serial LIMIT ?`;
  return connection.rows(sql, timeMs, serial, limit).map(saleOf);
}

const FIND = `
  WITH RECURSIVE piece (place) AS (
    SELECT MAX(serial) >> 12 FROM sale
    UNION ALL SELECT place - 1 FROM piece WHERE place > (SELECT MIN(serial) >> 12 FROM sale)
  )
  SELECT ${COLUMNS} FROM piece CROSS JOIN sale INDEXED BY sale_by_number ON serial >> 12 = place AND number = ?`;

function find(connection: Connection, key: ReservationKey): Sale | undefined {
  for (const row of connection.each(FIND, numberOf(key))) {
    const sale = saleOf(row);
    if (keyOf(sale) === key) return sale;
  }
  return undefined;
}

const DAYS = `
  SELECT day, settlement, network, operation, sales, CAST(amount AS TEXT) AS amount, undelivered FROM sale_day
  WHERE day >= ? ORDER BY day, settlement, network, operation`;

const days = (connection: Connection, from: string): SalesDay[] => connection.rows(DAYS, from).map(salesDayOf);

/** The parameter of both statements is a JSON list of serials. */
const COUNT_DELIVERED = `
  UPDATE sale_day SET undelivered = undelivered - sold.count
  FROM (
    SELECT date(time_ms / 86400000 * 86400, 'unixepoch') AS day, settlement, network, operation, COUNT(*) AS count
    FROM sale WHERE serial IN (SELECT value FROM json_each(?)) AND is_delivered = 0
    GROUP BY time_ms / 86400000, settlement, network, operation
  ) AS sold
  WHERE (sale_day.day, sale_day.settlement, sale_day.network, sale_day.operation)
    = (sold.day, sold.settlement, sold.network, sold.operation)`;
const MARK_DELIVERED = `
  UPDATE sale SET is_delivered = 1 WHERE serial IN (SELECT value FROM json_each(?)) AND is_delivered = 0`;

function markDelivered(connection: Connection, serials: readonly number[]): void {
  const list = JSON.stringify(serials);
  connection.run(COUNT_DELIVERED, list);
  connection.run(MARK_DELIVERED, list);
}

function prune(connection: Connection, beforeMs: number): void {
  connection.run(
    'DELETE FROM sale WHERE serial IN (SELECT serial FROM sale WHERE time_ms < ? ORDER BY time_ms, serial LIMIT ?)',
    beforeMs,
    PRUNED_COUNT_MAX,
  );
  connection.run('DELETE FROM sale_day WHERE day < ?', isoDate(beforeMs));
}

/** One row, whatever the tables hold. */
const TOTALS = `
  SELECT (SELECT COALESCE(SUM(undelivered), 0) FROM sale_day)
      - (SELECT COUNT(*) FROM sale WHERE is_delivered = 0 AND time_ms > ?) AS undelivered,
    (SELECT MIN(time_ms) FROM sale) AS oldest, (SELECT COALESCE(MAX(serial), 0) FROM sale) AS last`;

function totalsOf(connection: Connection, beforeMs: number): SalesTotals {
  const row = connection.row(TOTALS, beforeMs) as Row;
  return {
    undeliveredCount: row.undelivered as number,
    oldestMs: row.oldest as number | null,
    lastSerial: row.last as number,
  };
}

/** @throws DamagedError */
export function readSales(
  connection: Connection,
  read: SalesRead,
): readonly Sale[] | readonly SalesDay[] | SalesTotals | Sale | undefined {
  switch (read.kind) {
    case 'page':
      return page(connection, read.query);
    case 'find':
      return find(connection, read.key);
    case 'days':
      return days(connection, read.from);
    case 'totals':
      return totalsOf(connection, read.beforeMs);
    default:
      return read satisfies never;
  }
}

export const sales: Table<SalesOperation, SalesRead> = {
  name: SALES,
  schema: SCHEMA,
  apply(connection, operation, sums) {
    sums.write(connection);
    switch (operation.kind) {
      case 'delivered':
        markDelivered(connection, operation.serials);
        return;
      case 'prune':
        prune(connection, operation.beforeMs);
        return;
      default:
        operation satisfies never;
    }
  },
  read: readSales,
};

/** What the start reads from the books: a few rows, whatever their length. */
export interface BooksStart extends SalesTotals {
  /** 32 bytes. */
  readonly secret: Uint8Array;
}

const SECRET = 'question';

/** @param fresh the secret of a new file */
export function loadBooks(connection: Connection, fresh: () => Uint8Array): BooksStart {
  const found = connection.all('SELECT bytes FROM secret WHERE name = ?', SECRET)[0];
  const secret = (found?.bytes as Uint8Array | undefined) ?? fresh();
  if (found === undefined) connection.run('INSERT INTO secret (name, bytes) VALUES (?, ?)', SECRET, secret);
  return { ...totalsOf(connection, Number.MAX_SAFE_INTEGER), secret: new Uint8Array(secret) };
}
