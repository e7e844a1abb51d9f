/** Enters a sale in the books of a state file, as the end of its settlement does. */
import type { Sale } from '../../src/payment/books.ts';
import { networkOf } from '../../src/payment/protocol/network.ts';
import { reservationKeyOf } from '../../src/payment/protocol/order.ts';
import type { Connection } from '../../src/storage/sqlite/connection.ts';
import { BatchSums } from '../../src/storage/sqlite/tables/batch-sums.ts';
import { insertSale } from '../../src/storage/sqlite/tables/sales.ts';

export function enterSale(connection: Connection, sale: Sale): void {
  const sums = new BatchSums();
  insertSale(connection, sale, reservationKeyOf(networkOf(sale.network), sale.payer, sale.nonce), sums);
  sums.write(connection);
}
