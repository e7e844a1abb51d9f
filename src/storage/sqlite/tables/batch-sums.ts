/**
 * Sums that the sales of a batch add to: the play ledger's and the daily ones. They are gathered while the batch is applied and
 * written once for each row, in the same transaction, at its end or before an operation that changes the same rows.
 */
import { isoDate } from '../../../base/iso-time.ts';
import type { Sale } from '../../../payment/books.ts';
import type { Connection } from '../connection.ts';

/** Sales of one row in `sale_day`. */
interface SoldOfDay {
  readonly key: readonly [day: string, settlement: string, network: string, operation: string];
  saleCount: number;
  amountAtomic: bigint;
}

const SPEND = `
  INSERT INTO spent (payer, atomic) VALUES (?, ?)
  ON CONFLICT (payer) DO UPDATE SET atomic = atomic + excluded.atomic`;
/** Uses no numbered parameters, which Node 22 counts differently. */
const SELL = `
  INSERT INTO sale_day (day, settlement, network, operation, sales, amount, undelivered) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET
    sales = sales + excluded.sales, amount = amount + excluded.amount, undelivered = undelivered + excluded.undelivered`;

export class BatchSums {
  /** By payer, in lower case: atomic units of play money. */
  readonly #spent = new Map<string, bigint>();
  readonly #sold = new Map<string, SoldOfDay>();

  /** Adds a sale that has just been entered, undelivered. */
  sell({ timeMs, settlement, network, operation, amountAtomic, payer }: Sale): void {
    if (settlement === 'local') {
      const lower = payer.toLowerCase();
      this.#spent.set(lower, (this.#spent.get(lower) ?? 0n) + amountAtomic);
    }
    const key = [isoDate(timeMs), settlement, network, operation] as const;
    const name = key.join('\n');
    const sold = this.#sold.get(name);
    if (sold === undefined) {
      this.#sold.set(name, { key, saleCount: 1, amountAtomic });
      return;
    }
    sold.saleCount++;
    sold.amountAtomic += amountAtomic;
  }

  write(connection: Connection): void {
    for (const [payer, atomic] of this.#spent) connection.run(SPEND, payer, atomic);
    this.#spent.clear();
    for (const { key, saleCount, amountAtomic } of this.#sold.values()) {
      connection.run(SELL, ...key, saleCount, amountAtomic, saleCount);
    }
    this.#sold.clear();
  }
}
