/** The books' facts about a paid request of a test. */
import type { SaleFacts } from '../../src/payment/books.ts';

export const SALE: SaleFacts = {
  operation: 'searchJobs',
  requestId: 'req_00000000-0000-4000-8000-000000000000',
  question: '00'.repeat(16),
  parameters: null,
};

/** How long tests' state folders keep their sales, milliseconds. */
export const SALES_KEPT_MS = 400 * 86_400_000;
