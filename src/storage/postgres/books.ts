/**
 * The books of all processes (tables/sales.ts). Settlements insert the sales (cases.ts); this file notes deliveries,
 * removes sales past their retention, and reads pages straight from the database.
 */
import { DIGEST_KEY_BYTES, type Digest, keyedDigest } from '../../base/digest.ts';
import { MINUTE_MS } from '../../base/durations.ts';
import type { Random } from '../../base/random.ts';
import type { Timers } from '../../base/timers.ts';
import type { Books, Sale, SaleFacts, SalesDay, SalesQuery } from '../../payment/books.ts';
import type { Address, NetworkId } from '../../payment/protocol/network.ts';
import type { ReservationKey } from '../../payment/protocol/order.ts';
import { GatheredDeliveries } from '../gathered-deliveries.ts';
import { ON_ITS_WAY_MS, SaleCounts } from '../sale-counts.ts';
import { salesDayOf } from '../sales-day.ts';
import { hexOfKey } from './claims.ts';
import type { Row, Statement } from './connections.ts';
import type { Database } from './database.ts';
import type { Owner } from './owners.ts';
import { BOOKS_KEY, keptSecret } from './secrets.ts';

const PRUNED_COUNT_MAX = 1000;
/** A read of the whole books may take this long. */
const READ_MS = MINUTE_MS;

const COLUMNS = 'serial, time_ms, amount, network, payer, nonce, transaction, settlement, facts, is_delivered';

const PAGE = `
  SELECT ${COLUMNS} FROM paygrade.sales
  WHERE time_ms >= $1 AND (time_ms, serial) > ($2::bigint, $3::bigint)`;

const DAYS = `
  SELECT to_char(to_timestamp(time_ms / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, settlement, network, operation,
    count(*) AS sales, sum(amount) AS amount, count(*) FILTER (WHERE NOT is_delivered) AS undelivered
  FROM paygrade.sales WHERE time_ms >= $1
  GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`;

const PRUNE = `
  DELETE FROM paygrade.sales WHERE serial IN (
    SELECT serial FROM paygrade.sales WHERE time_ms < paygrade.now_ms() - $1::bigint
    ORDER BY time_ms, serial LIMIT ${PRUNED_COUNT_MAX} FOR UPDATE SKIP LOCKED
  ) RETURNING serial`;

const saleOf = (row: Row): Sale => ({
  ...(JSON.parse(row.facts as string) as SaleFacts),
  serial: row.serial as number,
  timeMs: row.time_ms as number,
  amountAtomic: BigInt(row.amount as string),
  network: row.network as NetworkId,
  payer: row.payer as Address,
  nonce: row.nonce as string,
  transaction: row.transaction as string,
  settlement: row.settlement as Sale['settlement'],
  isDelivered: row.is_delivered as boolean,
});

/** Reads the books beside running servers. */
export class BooksReader implements Pick<Books, 'list' | 'find' | 'days'> {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async list({ sinceMs, isUndeliveredOnly, after, limit }: SalesQuery): Promise<readonly Sale[]> {
    const text = `${PAGE}${isUndeliveredOnly ? ' AND NOT is_delivered' : ''} ORDER BY time_ms, serial LIMIT $4`;
    const values = [sinceMs, after?.timeMs ?? -1, after?.serial ?? -1, limit];
    return (await this.#database.run({ text, values })).map(saleOf);
  }

  async find(key: ReservationKey): Promise<Sale | undefined> {
    const text = `SELECT ${COLUMNS} FROM paygrade.sales WHERE key = decode($1, 'hex') ORDER BY serial DESC LIMIT 1`;
    const [row] = await this.#database.run({ name: 'find-sale', text, values: [hexOfKey(key)] });
    return row === undefined ? undefined : saleOf(row);
  }

  async days(from: string): Promise<readonly SalesDay[]> {
    const values = [Date.parse(`${from}T00:00:00Z`)];
    const rows = await this.#database.transaction(async (query) => {
      await query({ text: `SET LOCAL statement_timeout = ${READ_MS}` });
      return query({ text: DAYS, values, query_timeout: READ_MS });
    });
    return rows.map(salesDayOf);
  }
}

export interface BooksPorts {
  readonly timers: Timers;
  readonly random: Random;
}

/** What the books begin with. */
interface BooksStart {
  readonly keptMs: number;
  readonly timers: Timers;
  readonly secret: Uint8Array;
  readonly undeliveredCount: number;
}

export class PostgresBooks extends BooksReader implements Books {
  readonly digestOf: Digest;
  readonly #writer: Database;
  readonly #keptMs: number;
  readonly counts: SaleCounts;
  readonly #deliveries: GatheredDeliveries;

  /** @param keptMs how long a sale stays */
  static async open(database: Database, owner: Owner, keptMs: number, ports: BooksPorts): Promise<PostgresBooks> {
    const secret = await keptSecret(
      (statement) => database.run(statement),
      BOOKS_KEY,
      () => ports.random.bytes(DIGEST_KEY_BYTES),
    );
    const undeliveredCount = await undeliveredCountIn(database, 0);
    return new PostgresBooks(database, owner, { keptMs, timers: ports.timers, secret, undeliveredCount });
  }

  private constructor(database: Database, owner: Owner, { keptMs, timers, secret, undeliveredCount }: BooksStart) {
    super(database);
    this.digestOf = keyedDigest(secret);
    this.#writer = database;
    this.#keptMs = keptMs;
    this.counts = new SaleCounts(undeliveredCount);
    this.#deliveries = new GatheredDeliveries(timers, (serials) => this.#recordDelivered(serials));
    owner.onLook(() => this.#look());
  }

  markDelivered(serial: number): void {
    this.#deliveries.add(serial);
  }

  /** Records the deliveries still waiting. Never rejects. */
  close(): Promise<void> {
    return this.#deliveries.close();
  }

  #recordDelivered(serials: readonly number[]): Promise<unknown> {
    return this.#writer.run({
      name: 'mark-delivered',
      text: `UPDATE paygrade.sales SET is_delivered = true
             WHERE serial IN (
               SELECT serial FROM paygrade.sales WHERE serial = ANY ($1::bigint[]) AND NOT is_delivered
               ORDER BY serial FOR UPDATE
             )`,
      values: [serials],
    });
  }

  async #look(): Promise<void> {
    await this.#deliveries.retry();
    this.counts.undeliveredCount = await undeliveredCountIn(this.#writer, ON_ITS_WAY_MS);
    const prune: Statement = { name: 'prune-sales', text: PRUNE, values: [this.#keptMs] };
    while ((await this.#writer.run(prune)).length === PRUNED_COUNT_MAX);
  }
}

/** @param ageMs of the youngest sale that counts */
async function undeliveredCountIn(database: Database, ageMs: number): Promise<number> {
  const [row] = await database.run({
    name: 'count-undelivered',
    text: `SELECT count(*) AS count FROM paygrade.sales
           WHERE NOT is_delivered AND time_ms <= paygrade.now_ms() - $1::bigint`,
    values: [ageMs],
  });
  return row?.count as number;
}
