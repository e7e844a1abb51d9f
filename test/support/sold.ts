/** Made-up sales, as in the books. */
import type { Sale } from '../../src/payment/books.ts';
import { checksummed, networkOf } from '../../src/payment/protocol/network.ts';
import { reservationKeyOf } from '../../src/payment/protocol/order.ts';
import type { MemoryBooks } from '../../src/storage/memory/books.ts';

const digits = (number: number, length: number): string => number.toString(16).padStart(length, '0');

/** The sale with this serial; sales of different serials differ in all identifying fields. */
export const soldWith = (serial: number, changes: Partial<Sale> = {}): Sale => ({
  serial,
  timeMs: Date.UTC(2026, 10, 20) + serial * 1000,
  operation: 'searchJobs',
  amountAtomic: 20_000n,
  network: 'eip155:8453',
  payer: checksummed(`0x${digits(serial, 40)}`),
  nonce: `0x${digits(serial, 64)}`,
  transaction: `0x${digits(serial, 64)}`,
  requestId: `req_00000000-0000-4000-8000-${digits(serial, 12)}`,
  question: digits(serial, 32),
  parameters: null,
  settlement: 'local',
  isDelivered: false,
  ...changes,
});

/** Enters a sale into books in memory, under the key of its authorization. */
export const enter = (books: MemoryBooks, sale: Sale): void =>
  books.add(sale, reservationKeyOf(networkOf(sale.network), sale.payer, sale.nonce));
