/** GET /v1/ticks of the example: how often its background task has run, for one payment. */
import * as v from 'valibot';
import { type OverloadServices, unlessOverloaded } from '../../src/access/overload.ts';
import { type PaidServices, paid } from '../../src/access/x402.ts';
import { route } from '../../src/http/route.ts';

export interface TickServices extends OverloadServices, PaidServices {
  readonly ticks: { readonly count: number };
}

export const countTicks = route<TickServices>()({
  operation: 'countTicks',
  method: 'GET',
  path: '/v1/ticks',
  summary: 'How often the background task has run',
  access: [unlessOverloaded, paid('0.03')],
  query: v.strictObject({}),
  answer: v.strictObject({ tick_count: v.pipe(v.number(), v.integer()), payer: v.string() }),
  errors: [],
  handle: (_, { ticks }, _request, { payer }) => ({ tick_count: ticks.count, payer }),
});
