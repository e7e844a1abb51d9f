/** Error codes of paid operations, and how documents describe paying (decisions §4; x402-v2 §2.1 to §2.3, §7.1, §7.4). */
import type { AccessDocumentation } from '../http/access.ts';
import { closed } from '../http/documents/json-schema.ts';
import { defineErrors, type HeaderFacts, RETRY_AFTER } from '../http/errors.ts';
import { HEADER_LENGTH_MAX } from '../payment/protocol/envelope.ts';
import { PAYMENT_IDENTIFIER } from '../payment/protocol/identifier.ts';
import { ADDRESS_FORM, type Network, X402_VERSION } from '../payment/protocol/network.ts';
import { DESCRIPTION_LENGTH_MAX } from '../payment/protocol/requirements.ts';

const OFFER: HeaderFacts = {
  description: 'base64 of the x402 v2 PaymentRequired object',
  schema: { type: 'string' },
  isAlwaysSent: true,
};
const RECEIPT: HeaderFacts = {
  description: 'base64 of the x402 v2 SettlementResponse',
  schema: { type: 'string' },
  isAlwaysSent: true,
};
const sometimes = (facts: HeaderFacts): HeaderFacts => ({ ...facts, isAlwaysSent: false });

export const {
  PAYMENT_REQUIRED,
  PAYMENT_INVALID,
  PAYMENT_NOT_SETTLED,
  PAYMENT_ALREADY_USED,
  PAYMENT_IDENTIFIER_CONFLICT,
  SETTLEMENT_PENDING,
  SETTLEMENT_UNAVAILABLE,
} = defineErrors({
  PAYMENT_REQUIRED: { status: 402, headers: { 'PAYMENT-REQUIRED': OFFER } },
  PAYMENT_INVALID: { status: 402, headers: { 'PAYMENT-REQUIRED': OFFER } },
  PAYMENT_NOT_SETTLED: { status: 402, headers: { 'PAYMENT-REQUIRED': OFFER, 'PAYMENT-RESPONSE': sometimes(RECEIPT) } },
  PAYMENT_ALREADY_USED: {
    status: 409,
    headers: { 'PAYMENT-RESPONSE': sometimes(RECEIPT), 'Retry-After': sometimes(RETRY_AFTER['Retry-After']!) },
  },
  PAYMENT_IDENTIFIER_CONFLICT: { status: 409 },
  SETTLEMENT_PENDING: { status: 503, headers: { ...RETRY_AFTER, 'PAYMENT-RESPONSE': RECEIPT } },
  SETTLEMENT_UNAVAILABLE: { status: 503, headers: RETRY_AFTER },
});

const ADDRESS = { type: 'string', pattern: ADDRESS_FORM.source };

const OPEN_OBJECT = { type: 'object', additionalProperties: true };

/** Schemas of the offer in the body of a 402, which repeats the one in the header. */
const offerSchemas = ({ id }: Network) => ({
  ResourceInfo: closed({
    url: { type: 'string', format: 'uri' },
    description: { type: 'string', maxLength: DESCRIPTION_LENGTH_MAX },
    mimeType: { type: 'string' },
    serviceName: { type: 'string' },
  }),
  PaymentRequirements: closed({
    scheme: { const: 'exact' },
    network: { const: id },
    amount: { type: 'string', pattern: '^[1-9][0-9]*$', description: 'Atomic units of the asset' },
    asset: ADDRESS,
    payTo: ADDRESS,
    maxTimeoutSeconds: { type: 'integer', minimum: 1 },
    extra: closed({ name: { type: 'string' }, version: { type: 'string' } }),
  }),
  OfferExtensions: closed({
    bazaar: closed({ info: OPEN_OBJECT, schema: OPEN_OBJECT }),
    [PAYMENT_IDENTIFIER]: closed({ info: OPEN_OBJECT, schema: OPEN_OBJECT }),
  }),
});

const schemaRef = (name: keyof ReturnType<typeof offerSchemas>) => ({ $ref: `#/components/schemas/${name}` });

const guideOf = ({
  name,
}: Network): string => `Paid routes speak x402 version 2. Send the request without a payment: the answer is 402, and its
\`PAYMENT-REQUIRED\` header (base64 JSON) states the price. Sign the transfer authorization that it asks for (scheme
\`exact\`, USDC on ${name}, EIP-3009) and send the same request again with the payment (base64 JSON) in
\`PAYMENT-SIGNATURE\`; the answer carries the receipt in \`PAYMENT-RESPONSE\`. One authorization buys one answer. A refused
question costs nothing. Name the purchase (extension \`payment-identifier\`, 16 to 128 characters that only you know), and
you can fetch a lost answer for ten minutes: the same request with the same identifier and a new authorization of the same
payer gives the same answer and receipt, and charges nothing. After 503 \`SETTLEMENT_PENDING\` send the same payment
again; never sign a second one for it.`;

/** Standard base64, padded or not (decisions §4). */
const PAYMENT_HEADER = {
  name: 'PAYMENT-SIGNATURE',
  in: 'header',
  required: false,
  description:
    'base64 of the x402 v2 PaymentPayload for one entry of the offer. Without it the answer is 402 with the offer in its ' +
    '`PAYMENT-REQUIRED` header.',
  schema: { type: 'string', maxLength: HEADER_LENGTH_MAX, pattern: '^[A-Za-z0-9+/]+={0,2}$' },
};

/** x402 indexers read `x-payment-info` and the 402 with its header (x402-v2 §7.4). */
export const paymentDocumentation = (priceUsdc: string, network: Network): AccessDocumentation => ({
  sentence: `Costs ${priceUsdc} USDC`,
  guide: guideOf(network),
  parameters: [PAYMENT_HEADER],
  operation: {
    'x-payment-info': {
      protocols: ['x402'],
      pricingMode: 'fixed',
      price: priceUsdc,
      currency: 'USDC',
      network: network.id,
    },
  },
  answerHeaders: { 'PAYMENT-RESPONSE': RECEIPT },
  errorMembers: {
    402: {
      x402Version: { const: X402_VERSION },
      resource: schemaRef('ResourceInfo'),
      accepts: { type: 'array', items: schemaRef('PaymentRequirements'), minItems: 1 },
      extensions: schemaRef('OfferExtensions'),
    },
  },
  schemas: offerSchemas(network),
});
