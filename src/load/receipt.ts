/** Checks receipts of paid answers as a customer would (x402-v2 §2.6). */
import { decodeBase64, decodeUtf8Latin1 } from '../base/codec.ts';
import { objectOf, parseJson } from '../base/json-value.ts';
import { type Answer, headerOf } from './connection.ts';

const TRANSACTION = /^0x[0-9a-f]{64}$/;

export type ReceiptFault = 'NO_RECEIPT' | 'UNREADABLE_RECEIPT' | 'RECEIPT_WITHOUT_SUCCESS' | 'RECEIPT_OF_ANOTHER';

/** The fault in the receipt of an answer that `payer` paid for on `network`, or undefined. */
export function receiptFaultOf({ head }: Answer, payer: string, network: string): ReceiptFault | undefined {
  const header = headerOf(head, 'payment-response');
  if (header === undefined) return 'NO_RECEIPT';
  const value = parseJson(decodeUtf8Latin1(decodeBase64(header) ?? '') ?? '');
  if (value === undefined) return 'UNREADABLE_RECEIPT';
  const receipt = objectOf(value);
  if (receipt?.success !== true || !TRANSACTION.test(String(receipt.transaction))) return 'RECEIPT_WITHOUT_SUCCESS';
  const isOurs = receipt.network === network && String(receipt.payer).toLowerCase() === payer.toLowerCase();
  return isOurs ? undefined : 'RECEIPT_OF_ANOTHER';
}
