/** GET /admin/v1/sales: the sales in the books, oldest first, by pages (decisions §4). */
import * as v from 'valibot';
import { adminToken } from '../../access/admin-token.ts';
import { STATE_UNAVAILABLE } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import { PAGE_COUNT_MAX } from '../../payment/books.ts';
import { boolean, integer, moment } from '../parameter-rules.ts';
import { envelope, metaAt } from './envelope.ts';
import { SALE_EXAMPLE, saleRecord, saleRecordOf } from './sale-record.ts';
import { cursorText, salesCursor } from './sales-cursor.ts';
import type { AdminModuleServices } from './services.ts';

const LIMIT_DEFAULT = 100;

/** `next_cursor` is null after the last page; the page after a cursor may be empty. */
export const salesAnswer = envelope(
  v.strictObject({ sales: v.array(saleRecord), next_cursor: v.nullable(v.string()) }),
);

export const listSales = route<AdminModuleServices>()({
  operation: 'listSales',
  method: 'GET',
  path: '/admin/v1/sales',
  summary: 'The sales in the books, oldest first',
  access: [adminToken],
  query: v.strictObject({
    since: v.optional(moment),
    undelivered: v.optional(boolean, false),
    limit: v.optional(integer(1, PAGE_COUNT_MAX), LIMIT_DEFAULT),
    cursor: v.optional(salesCursor),
  }),
  answer: salesAnswer,
  errors: [STATE_UNAVAILABLE],
  examples: {
    query: { since: '2026-11-01', limit: LIMIT_DEFAULT },
    answer: { data: { sales: [SALE_EXAMPLE], next_cursor: null }, meta: metaAt(Date.UTC(2026, 10, 22)) },
  },
  async handle(input, { books, clock }) {
    const { limit } = input;
    const sales = await books.list({
      sinceMs: input.since ?? 0,
      isUndeliveredOnly: input.undelivered,
      after: input.cursor,
      limit,
    });
    const last = sales.length < limit ? undefined : sales.at(-1);
    return {
      data: { sales: sales.map(saleRecordOf), next_cursor: last === undefined ? null : cursorText(last) },
      meta: metaAt(clock.nowMs()),
    };
  },
});
