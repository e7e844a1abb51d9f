/** The sums that a batch changes: the play ledger's and those of the days count each sale of it once, and no other. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isoDate } from '../../../src/base/iso-time.ts';
import type { Sale, SalesDay } from '../../../src/payment/books.ts';
import { checksummed, networkOf } from '../../../src/payment/protocol/network.ts';
import { orderTextOf, reservationKeyOf } from '../../../src/payment/protocol/order.ts';
import { StateDatabase } from '../../../src/storage/sqlite/database.ts';
import { loadSpent, PAYMENTS, type PaymentOperation } from '../../../src/storage/sqlite/tables/payments.ts';
import { readSales, SALES, type SalesOperation } from '../../../src/storage/sqlite/tables/sales.ts';
import { orderFor } from '../../payment/fixture.ts';
import { limitPages } from '../../support/inline-writer.ts';
import { soldWith } from '../../support/sold.ts';
import { Folder } from './folder.ts';

const A = checksummed(`0x${'aa'.repeat(20)}`);
const B = checksummed(`0x${'bb'.repeat(20)}`);
const ORDER = orderTextOf(orderFor());

const intentOf = ({ serial, payer, amountAtomic }: Sale): PaymentOperation => ({
  table: PAYMENTS,
  kind: 'intent',
  serial,
  isPlay: true,
  payer: payer.toLowerCase(),
  valueAtomic: amountAtomic,
  order: ORDER,
  sale: '{}',
  answers: [],
});

function endOf(sale: Sale): PaymentOperation {
  const key = reservationKeyOf(networkOf(sale.network), sale.payer, sale.nonce);
  const end = { kind: 'settled', key, validBeforeSeconds: 2_000_000_000, transaction: sale.transaction } as const;
  return { table: PAYMENTS, kind: 'end', serial: sale.serial, end, sale, claims: [], keptUntilMs: 0 };
}

const deliveredOf = (...serials: number[]): SalesOperation => ({ table: SALES, kind: 'delivered', serials });

describe('the sums of a batch', () => {
  let folder: Folder;
  let database: StateDatabase;
  beforeEach(() => {
    folder = new Folder();
    database = new StateDatabase({ path: folder.file('state.db'), sync: 'normal' });
  });
  afterEach(() => {
    database.close();
    folder.remove();
  });

  const apply = (...operations: (PaymentOperation | SalesOperation)[]) => database.apply(operations);
  const sell = (...sales: readonly Sale[]) => {
    expect(apply(...sales.map(intentOf))).toEqual({ kind: 'done', refused: [] });
    return sales.map(endOf);
  };
  const days = (): unknown =>
    (readSales(database.connection, { table: SALES, kind: 'days', from: '' }) as readonly SalesDay[]).map(
      ({ day, operation, saleCount, amountAtomic, undeliveredCount }) =>
        `${day} ${operation} ${saleCount} ${amountAtomic} ${undeliveredCount}`,
    );
  const spent = (): unknown => Object.fromEntries(loadSpent(database.connection));

  it('are those of its sales by payer, and by day and operation', () => {
    const first = Date.UTC(2026, 10, 20, 23, 59, 59, 999);
    const sales = [
      soldWith(1, { payer: A, timeMs: first }),
      soldWith(2, { payer: B, timeMs: first, operation: 'getJob', amountAtomic: 5n }),
      soldWith(3, { payer: A, timeMs: first + 1, amountAtomic: 7n }),
      soldWith(4, { payer: A, timeMs: first, amountAtomic: 100n }),
    ];
    expect(apply(...sell(...sales))).toEqual({ kind: 'done', refused: [] });
    expect(days()).toEqual([
      '2026-11-20 getJob 1 5 1',
      '2026-11-20 searchJobs 2 20100 2',
      '2026-11-21 searchJobs 1 7 1',
    ]);
    expect(spent()).toEqual({ [A.toLowerCase()]: 20_107n, [B.toLowerCase()]: 5n });
  });

  it('add to those of earlier batches, and play money alone to the ledger', () => {
    apply(...sell(soldWith(1, { payer: A })));
    apply(...sell(soldWith(2, { payer: A }), soldWith(3, { payer: A, settlement: 'facilitator' })));
    expect(days()).toHaveLength(2);
    expect(spent()).toEqual({ [A.toLowerCase()]: 40_000n });
  });

  it('have deliveries of the same batch taken off, each once', () => {
    const [first, second] = sell(soldWith(1), soldWith(2)) as [PaymentOperation, PaymentOperation];
    apply(first, deliveredOf(1, 1), second, deliveredOf(1, 9));
    expect(days()).toEqual([`${isoDate(soldWith(1).timeMs)} searchJobs 2 40000 1`]);
    apply(deliveredOf(2), deliveredOf(2));
    expect(days()).toEqual([`${isoDate(soldWith(1).timeMs)} searchJobs 2 40000 0`]);
  });

  it('leave out what the database refuses, and keep the rest', () => {
    const [first, third] = sell(soldWith(1, { payer: A }), soldWith(3, { payer: A })) as PaymentOperation[];
    const result = apply(first!, endOf(soldWith(2, { payer: B })), third!, deliveredOf(1));
    expect(result).toMatchObject({ kind: 'done', refused: [{ index: 1 }] });
    expect(days()).toEqual([`${isoDate(soldWith(1).timeMs)} searchJobs 2 40000 1`]);
    expect(spent()).toEqual({ [A.toLowerCase()]: 40_000n });
  });

  it('are those of before when the whole batch is undone', () => {
    const [end] = sell(soldWith(1)) as [PaymentOperation];
    limitPages(database, 1);
    expect(apply(end, ...Array.from({ length: 400 }, (_, i) => intentOf(soldWith(i + 10))))).toMatchObject({
      kind: 'refused',
    });
    expect([days(), spent()]).toEqual([[], {}]);
    limitPages(database, 100_000);
    apply(end);
    expect(days()).toEqual([`${isoDate(soldWith(1).timeMs)} searchJobs 1 20000 1`]);
  });
});
