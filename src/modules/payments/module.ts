/** The payments module: lets a client look up what happened to an authorization. */
import { bind } from '../../http/operation.ts';
import { defineModule } from '../module.ts';
import { paymentStatus } from './status.ts';

export const payments = defineModule({
  tag: 'payments',
  summary: 'The status of a payment, free',
  settings: {},
  open: ({ paymentStatusOf }) => ({ operations: bind('payments', [paymentStatus], { statusOf: paymentStatusOf }) }),
});
