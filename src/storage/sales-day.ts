/** A day of the books from a row of either database. */
import type { SalesDay } from '../payment/books.ts';
import type { NetworkId } from '../payment/protocol/network.ts';

export const salesDayOf = (row: Readonly<Record<string, unknown>>): SalesDay => ({
  day: row.day as string,
  settlement: row.settlement as SalesDay['settlement'],
  network: row.network as NetworkId,
  operation: row.operation as string,
  saleCount: row.sales as number,
  amountAtomic: BigInt(row.amount as string),
  undeliveredCount: row.undelivered as number,
});
