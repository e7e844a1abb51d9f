/** Sales are found by their authorization wherever they stand in a long book, through the index alone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sale } from '../../../src/payment/books.ts';
import { BASE, checksummed } from '../../../src/payment/protocol/network.ts';
import { reservationKeyOf } from '../../../src/payment/protocol/order.ts';
import { StateDatabase } from '../../../src/storage/sqlite/database.ts';
import { readSales, SALES } from '../../../src/storage/sqlite/tables/sales.ts';
import { enterSale } from '../../support/enter-sale.ts';
import { SALE } from '../../support/sale.ts';

const PAYER = checksummed(`0x${'ab'.repeat(20)}`);
/** Both ends of pieces of 4,096, with pieces between them that hold nothing. */
const SERIALS = [1, 4095, 4096, 4097, 40_000, 1_000_000];
const nonceOf = (serial: number): string => `0x${serial.toString(16).padStart(64, '0')}`;

const saleAt = (serial: number): Sale => ({
  ...SALE,
  serial,
  timeMs: 1_790_000_000_000 + serial,
  amountAtomic: 20_000n,
  network: BASE.id,
  payer: PAYER,
  nonce: nonceOf(serial),
  transaction: `0x${'cd'.repeat(32)}`,
  settlement: 'local',
  isDelivered: false,
});

let folder: string;
let database: StateDatabase;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'paygrade-sale-index-'));
  database = new StateDatabase({ path: join(folder, 'state.db'), sync: 'normal' });
});
afterAll(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

const find = (serial: number): unknown =>
  readSales(database.connection, { table: SALES, kind: 'find', key: reservationKeyOf(BASE, PAYER, nonceOf(serial)) });

describe('the books by authorization', () => {
  it('find nothing while they are empty', () => {
    expect(find(1)).toBeUndefined();
  });

  it('find the sale of every serial, and none that was not made', () => {
    for (const serial of SERIALS) enterSale(database.connection, saleAt(serial));
    for (const serial of SERIALS) expect(find(serial)).toEqual(saleAt(serial));
    expect(find(2)).toBeUndefined();
  });
});
