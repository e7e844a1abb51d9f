/** The payments module: lets a client look up the status of an authorization. */
import { bind } from '../../http/operation.ts';
import { defineModule } from '../module.ts';
import { paymentStatus } from './status.ts';

const ROUTES = [paymentStatus];

export const payments = defineModule({
  tag: 'payments',
  summary: 'The status of a payment, free',
  settings: {},
  routes: ROUTES,
  open: ({ paymentStatusOf }) => ({ operations: bind('payments', ROUTES, { statusOf: paymentStatusOf }) }),
});
