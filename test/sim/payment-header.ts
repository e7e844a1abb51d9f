/** Offers as clients read them, and the header by which they pay. */
import { encodeHex } from '../../src/base/codec.ts';
import type { Authorization } from '../../src/payment/protocol/authorization.ts';
import { PAY_TO } from './server.ts';

/** What is read of an offer. */
export interface Offer {
  readonly resource: unknown;
  readonly accepts: readonly { readonly amount: string }[];
}

/** The JSON of a header in base64. */
export const decoded = (header: string | null): Record<string, unknown> =>
  JSON.parse(Buffer.from(header ?? '', 'base64').toString('utf8')) as Record<string, unknown>;

/** `payment-signature` for the first way to pay of an offer. */
export function paymentHeaderOf(
  offer: Offer,
  { from, validAfterSeconds, validBeforeSeconds, nonce }: Authorization,
  signature: Uint8Array,
  identifier?: string,
): string {
  const [accepted] = offer.accepts;
  const payment = {
    x402Version: 2,
    payload: {
      signature: encodeHex(signature),
      authorization: {
        from,
        to: PAY_TO,
        value: accepted?.amount,
        validAfter: String(validAfterSeconds),
        validBefore: String(validBeforeSeconds),
        nonce,
      },
    },
    resource: offer.resource,
    accepted,
    ...(identifier === undefined
      ? {}
      : { extensions: { 'payment-identifier': { info: { required: false, id: identifier } } } }),
  };
  return Buffer.from(JSON.stringify(payment)).toString('base64');
}
