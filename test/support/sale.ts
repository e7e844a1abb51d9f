/** What the books keep of a request that pays in a test. */
import type { SaleFacts } from '../../src/payment/books.ts';

export const SALE: SaleFacts = {
  operation: 'searchJobs',
  requestId: 'req_00000000-0000-4000-8000-000000000000',
  question: '00'.repeat(16),
  parameters: null,
};

/** Milliseconds that state folders of tests keep their sales. */
export const SALES_KEPT_MS = 400 * 86_400_000;
