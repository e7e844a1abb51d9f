/** The header with a client's payment (x402-v2 §6). An empty header counts as no payment, so its request gets an offer. */
import type { RequestView } from '../http/request-view.ts';

/** The value of `PAYMENT-SIGNATURE`; undefined for a request without a payment. */
export function paymentHeader(request: RequestView): string | undefined {
  const header = request.header('payment-signature');
  return header === null || header === '' ? undefined : header;
}
