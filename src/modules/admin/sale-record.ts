/** A sale and a day of sales as the operator's routes and `paygrade sales` write them (decisions §4). */
import * as v from 'valibot';
import { isoTime } from '../../base/iso-time.ts';
import { type Sale, type SalesDay, SETTLEMENT_KINDS } from '../../payment/books.ts';
import { ADDRESS_FORM } from '../../payment/protocol/network.ts';
import { count, dateTime } from '../answer-values.ts';

const amountAtomic = v.pipe(v.string(), v.regex(/^(?:0|[1-9][0-9]*)$/));
const address = v.pipe(v.string(), v.regex(ADDRESS_FORM));
const hash = v.pipe(v.string(), v.regex(/^0x[0-9a-f]{64}$/));
const settlement = v.picklist(SETTLEMENT_KINDS);

/** `question` is a keyed digest; `parameters` is null unless the operator keeps them. */
export const saleRecord = v.strictObject({
  time: dateTime,
  operation: v.string(),
  amount_atomic: amountAtomic,
  network: v.string(),
  payer: address,
  nonce: hash,
  transaction: hash,
  request_id: v.string(),
  delivered: v.boolean(),
  settlement,
  question: v.string(),
  parameters: v.nullable(v.string()),
});

export type SaleRecord = Readonly<v.InferOutput<typeof saleRecord>>;

export const saleRecordOf = (sale: Sale): SaleRecord => ({
  time: isoTime(sale.timeMs),
  operation: sale.operation,
  amount_atomic: String(sale.amountAtomic),
  network: sale.network,
  payer: sale.payer,
  nonce: sale.nonce,
  transaction: sale.transaction,
  request_id: sale.requestId,
  delivered: sale.isDelivered,
  settlement: sale.settlement,
  question: sale.question,
  parameters: sale.parameters,
});

/** The sales of one operation by one settlement on one network on one UTC day. */
export const dayRecord = v.strictObject({
  day: v.pipe(v.string(), v.isoDate()),
  settlement,
  network: v.string(),
  operation: v.string(),
  sales: count,
  amount_atomic: amountAtomic,
  undelivered: count,
});

export const dayRecordOf = (day: SalesDay): v.InferInput<typeof dayRecord> => ({
  day: day.day,
  settlement: day.settlement,
  network: day.network,
  operation: day.operation,
  sales: day.saleCount,
  amount_atomic: String(day.amountAtomic),
  undelivered: day.undeliveredCount,
});

/** An invented sale, for examples. */
export const SALE_EXAMPLE: SaleRecord = {
  time: '2026-11-21T12:00:00.000Z',
  operation: 'searchJobs',
  amount_atomic: '20000',
  network: 'eip155:8453',
  payer: `0x${'5a'.repeat(20)}`,
  nonce: `0x${'3c'.repeat(32)}`,
  transaction: `0x${'9e'.repeat(32)}`,
  request_id: 'req_7c9e6679-7425-40de-944b-e07fc1f90ae7',
  delivered: true,
  settlement: 'facilitator',
  question: '5f'.repeat(16),
  parameters: null,
};
