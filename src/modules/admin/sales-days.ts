/** GET /admin/v1/sales/days: sums of the books by UTC day, settlement, network and operation, oldest first (decisions §4). */
import * as v from 'valibot';
import { adminToken } from '../../access/admin-token.ts';
import { isoDate } from '../../base/iso-time.ts';
import { STATE_UNAVAILABLE } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import { moment } from '../parameter-rules.ts';
import { envelope, metaAt } from './envelope.ts';
import { dayRecord, dayRecordOf } from './sale-record.ts';
import type { AdminModuleServices } from './services.ts';

export const listSalesDays = route<AdminModuleServices>()({
  operation: 'listSalesDays',
  method: 'GET',
  path: '/admin/v1/sales/days',
  summary: 'Sales by day, settlement, network and operation, oldest first',
  access: [adminToken],
  query: v.strictObject({ since: v.optional(moment) }),
  answer: envelope(v.strictObject({ days: v.array(dayRecord) })),
  errors: [STATE_UNAVAILABLE],
  examples: {
    query: { since: '2026-11-01' },
    answer: {
      data: {
        days: [
          {
            day: '2026-11-21',
            settlement: 'facilitator',
            network: 'eip155:8453',
            operation: 'searchJobs',
            sales: 12,
            amount_atomic: '240000',
            undelivered: 1,
          },
        ],
      },
      meta: metaAt(Date.UTC(2026, 10, 22)),
    },
  },
  async handle(input, { books, clock }) {
    const days = await books.days(isoDate(input.since ?? 0));
    return { data: { days: days.map(dayRecordOf) }, meta: metaAt(clock.nowMs()) };
  },
});
