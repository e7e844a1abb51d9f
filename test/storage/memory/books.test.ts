import { describe, expect, it } from 'vitest';
import type { Sale } from '../../../src/payment/books.ts';
import { networkOf } from '../../../src/payment/protocol/network.ts';
import { reservationKeyOf } from '../../../src/payment/protocol/order.ts';
import { MemoryBooks } from '../../../src/storage/memory/books.ts';
import { Chance } from '../../support/chance.ts';
import { enter, soldWith } from '../../support/sold.ts';

const COUNT_MAX = 3;
const ALL = { sinceMs: 0, isUndeliveredOnly: false, after: undefined, limit: 100 };

/** Books of three sales at most that have had the sales 1 to `count`. */
function booksAfter(count: number): MemoryBooks {
  const books = new MemoryBooks(new Chance(1), COUNT_MAX);
  for (let serial = 1; serial <= count; serial++) enter(books, soldWith(serial));
  return books;
}

const find = (books: MemoryBooks, { network, payer, nonce }: Sale): Sale | undefined =>
  books.find(reservationKeyOf(networkOf(network), payer, nonce));

const serialsOf = async (books: MemoryBooks): Promise<readonly number[]> =>
  (await books.list(ALL)).map(({ serial }) => serial);

describe('books in memory', () => {
  it.each([
    { sold: 0, kept: [], because: 'nothing was sold' },
    { sold: 3, kept: [1, 2, 3], because: 'there is room for three' },
    { sold: 4, kept: [2, 3, 4], because: 'the oldest one is forgotten' },
    { sold: 8, kept: [6, 7, 8], because: 'the room was used twice over' },
  ])('hold the sales $kept after $sold, because $because', async ({ sold, kept }) => {
    const books = booksAfter(sold);
    expect(await serialsOf(books)).toEqual(kept);
    for (let serial = 1; serial <= sold; serial++) {
      const sale = soldWith(serial);
      expect(find(books, sale)).toEqual(kept.includes(serial) ? sale : undefined);
    }
    expect(books.counts.undeliveredCount).toBe(kept.length);
  });

  it('mark a sale as delivered once, and none that they forgot', async () => {
    const books = booksAfter(4);
    for (const serial of [1, 2, 2, 9]) books.markDelivered(serial);
    expect(books.counts.undeliveredCount).toBe(2);
    expect(find(books, soldWith(2))).toEqual(soldWith(2, { isDelivered: true }));
    expect(find(books, soldWith(3))).toEqual(soldWith(3));
  });

  it('count a forgotten sale as undelivered only while it was not delivered', () => {
    const books = booksAfter(3);
    books.markDelivered(1);
    enter(books, soldWith(4));
    expect(books.counts.undeliveredCount).toBe(3);
    enter(books, soldWith(5));
    expect(books.counts.undeliveredCount).toBe(3);
  });

  it('find sales whose numbers are not in the order of their settlements', async () => {
    const books = new MemoryBooks(new Chance(1), COUNT_MAX);
    for (const serial of [7, 2, 9, 4]) enter(books, soldWith(serial));
    expect(await serialsOf(books)).toEqual([2, 4, 9]);
    books.markDelivered(7);
    expect(books.counts.undeliveredCount).toBe(3);
  });
});
