/** What every store of the books promises (decisions §4). The test owns the clock. */
import { describe, expect, it } from 'vitest';
import type { Sale, SalesQuery } from '../../src/payment/books.ts';
import type { PaymentOrder } from '../../src/payment/protocol/order.ts';
import { localTransactionOf } from '../../src/payment/settlement/play-ledger.ts';
import type { Backend } from '../../src/storage/backend.ts';
import { orderFor } from '../payment/fixture.ts';
import { ManualTime, settle } from '../support/manual-time.ts';
import { SALE } from '../support/sale.ts';
import { type OpenedBackend, withRemoved } from './opened.ts';

const DAY_MS = 86_400_000;
const WAIT = { timeout: 20_000, interval: 5 };
const ALL: SalesQuery = { sinceMs: 0, isUndeliveredOnly: false, after: undefined, limit: 500 };

/** @param open an empty backend that keeps its sales for 400 days */
export function describeBooks(name: string, open: (time: ManualTime) => Promise<OpenedBackend>): void {
  const using = (test: (opened: OpenedBackend, time: ManualTime) => Promise<void>) =>
    withRemoved(open, test, new ManualTime(Date.UTC(2026, 7, 1, 12)));

  async function sell({ reservations }: Backend, time: ManualTime, operation = 'searchJobs'): Promise<PaymentOrder> {
    const validBeforeSeconds = Math.floor(time.nowMs() / 1000) + 120;
    const order = orderFor({ validAfterSeconds: 0, validBeforeSeconds });
    const reserved = await reservations.reserve(order.key, validBeforeSeconds, []);
    if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
    await reservations.recordIntent(reserved.reservation, order, { ...SALE, operation });
    await reservations.recordSettled(reserved.reservation, localTransactionOf(order));
    return order;
  }

  /** Until so many sales are on record as delivered; a store may commit it in real time. */
  async function recorded(backend: Backend, time: ManualTime, count = 1): Promise<void> {
    time.pass(100);
    const deliveredCount = async (): Promise<number> => {
      await settle();
      return (await backend.books.list(ALL)).filter(({ isDelivered }) => isDelivered).length;
    };
    await expect.poll(deliveredCount, WAIT).toBe(count);
  }

  const all = async ({ books }: Backend): Promise<readonly Sale[]> => books.list(ALL);

  describe(name, () => {
    it('have a sale whole from its settlement on, and nothing of what ended uncharged', () =>
      using(async ({ backend }, time) => {
        const order = await sell(backend, time);
        const other = orderFor({ validAfterSeconds: 0, validBeforeSeconds: Math.floor(time.nowMs() / 1000) + 120 });
        const reserved = await backend.reservations.reserve(other.key, other.authorization.validBeforeSeconds, []);
        if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
        await backend.reservations.recordIntent(reserved.reservation, other, SALE);
        await backend.reservations.recordReleased(reserved.reservation);
        const [sale, ...more] = await all(backend);
        expect(more).toEqual([]);
        expect(sale).toEqual({
          ...SALE,
          serial: expect.any(Number),
          timeMs: time.nowMs(),
          amountAtomic: order.authorization.valueAtomic,
          network: 'eip155:8453',
          payer: order.payer,
          nonce: order.authorization.nonce,
          transaction: localTransactionOf(order),
          settlement: 'local',
          isDelivered: false,
        });
        expect(await backend.books.find(order.key)).toEqual(sale);
        expect(await backend.books.find(other.key)).toBeUndefined();
        expect(backend.books.counts.byOperation.get('searchJobs')).toBe(1);
      }));

    it('learn that an answer went out, once and for ever', () =>
      using(async ({ backend, reopen }, time) => {
        const [first, second] = [await sell(backend, time), await sell(backend, time)];
        const sale = await backend.books.find(first.key);
        backend.books.markDelivered(sale!.serial);
        backend.books.markDelivered(sale!.serial);
        backend.books.markDelivered(987_654_321);
        await recorded(backend, time);
        const undelivered = await backend.books.list({ ...ALL, isUndeliveredOnly: true });
        expect(undelivered.map(({ nonce }) => nonce)).toEqual([second.authorization.nonce]);
        const after = reopen === undefined ? backend : await reopen();
        expect((await after.books.find(first.key))?.isDelivered).toBe(true);
        expect((await after.books.find(second.key))?.isDelivered).toBe(false);
        expect(after.books.counts.undeliveredCount).toBe(1);
      }));

    it('record one delivery after the other, and what waits when they close', () =>
      using(async ({ backend, reopen }, time) => {
        const [first, second, third] = [
          await sell(backend, time),
          await sell(backend, time),
          await sell(backend, time),
        ];
        const deliver = async ({ key }: PaymentOrder): Promise<void> =>
          backend.books.markDelivered((await backend.books.find(key))!.serial);
        await deliver(first);
        await recorded(backend, time);
        await deliver(second);
        await recorded(backend, time, 2);
        if (reopen === undefined) return; // a store in memory ends with its process
        await deliver(third);
        await backend.close();
        expect((await all(await reopen())).map(({ isDelivered }) => isDelivered)).toEqual([true, true, true]);
      }));

    it('count no sale as undelivered whose delivery is on record', () =>
      using(async ({ backend }, time) => {
        const { key } = await sell(backend, time);
        backend.books.markDelivered((await backend.books.find(key))!.serial);
        await recorded(backend, time);
        expect(backend.books.counts.undeliveredCount).toBe(0);
      }));

    it('count a sale as undelivered once its answer has had some seconds to leave', () =>
      using(async ({ backend, reopen }, time) => {
        // In memory a delivery is on record at once, so that nothing has to be waited for.
        if (reopen === undefined) return;
        time.pass(3500);
        await sell(backend, time);
        time.pass(3000);
        // A look takes real time.
        await new Promise((resolve) => setTimeout(resolve, 150));
        expect(backend.books.counts.undeliveredCount).toBe(0);
        const laterCount = async (): Promise<number> => {
          time.pass(1000);
          await settle();
          return backend.books.counts.undeliveredCount;
        };
        await expect.poll(laterCount, WAIT).toBe(1);
      }));

    it('are read in pages, oldest first, from a time on', () =>
      using(async ({ backend }, time) => {
        const keys: string[] = [];
        for (let i = 0; i < 25; i++) {
          keys.push((await sell(backend, time)).authorization.nonce);
          if (i % 3 === 0) time.pass(1000);
        }
        const read: Sale[] = [];
        for (let after: SalesQuery['after']; ; ) {
          const page = await backend.books.list({ ...ALL, after, limit: 4 });
          read.push(...page);
          if (page.length < 4) break;
          after = page.at(-1);
        }
        expect(read.map(({ nonce }) => nonce)).toEqual(keys);
        const { timeMs } = read[10]!;
        const since = await backend.books.list({ ...ALL, sinceMs: timeMs });
        expect(since).toEqual(read.filter((sale) => sale.timeMs >= timeMs));
      }));

    it('add up the sales of each day by operation', () =>
      using(async ({ backend }, time) => {
        await sell(backend, time);
        const late = await sell(backend, time, 'createCallback');
        time.pass(DAY_MS);
        await sell(backend, time);
        await sell(backend, time);
        backend.books.markDelivered((await backend.books.find(late.key))!.serial);
        await recorded(backend, time);
        const amountAtomic = late.authorization.valueAtomic;
        const day = (on: string, operation: string, saleCount: number, undeliveredCount: number) => ({
          day: on,
          settlement: 'local',
          network: 'eip155:8453',
          operation,
          saleCount,
          amountAtomic: amountAtomic * BigInt(saleCount),
          undeliveredCount,
        });
        expect(await backend.books.days('2026-01-01')).toEqual([
          day('2026-08-01', 'createCallback', 1, 0),
          day('2026-08-01', 'searchJobs', 1, 1),
          day('2026-08-02', 'searchJobs', 2, 2),
        ]);
        expect(await backend.books.days('2026-08-02')).toEqual([day('2026-08-02', 'searchJobs', 2, 2)]);
      }));

    it('digest a question the same way for as long as the state lives', () =>
      using(async ({ backend, reopen }) => {
        const digest = backend.books.digestOf('GET /v1/jobs/search?keyword=rust');
        expect(digest).toMatch(/^[0-9a-f]{32}$/);
        expect(backend.books.digestOf('GET /v1/jobs/search?keyword=go')).not.toBe(digest);
        if (reopen === undefined) return;
        const after = await reopen();
        expect(after.books.digestOf('GET /v1/jobs/search?keyword=rust')).toBe(digest);
      }));
  });
}
