/**
 * The `payment-identifier` extension (x402-v2 §6.6): a client that names its purchase can ask for a lost answer with a new
 * authorization, and is not charged again. Offers advertise it; no client has to use it.
 */
import type { Brand } from '../../base/brand.ts';
import { sha256Latin1 } from '../../base/digest.ts';
import type { Address } from './network.ts';

/** The client's own name for a purchase. It is a secret that opens the kept answer, so it is never stored or logged. */
export type PaymentIdentifier = Brand<string, 'PaymentIdentifier'>;

export const PAYMENT_IDENTIFIER = 'payment-identifier';

const LENGTH_MIN = 16;
const LENGTH_MAX = 128;
const FORM = new RegExp(`^[a-zA-Z0-9_-]{${LENGTH_MIN},${LENGTH_MAX}}$`);

/** The extension as offers declare it. */
export const IDENTIFIER_DECLARATION = Object.freeze({
  info: { required: false },
  schema: {
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: LENGTH_MIN, maxLength: LENGTH_MAX, pattern: '^[a-zA-Z0-9_-]+$' },
    },
    required: ['required'],
  },
});

/** Message for a client whose identifier has another form. */
export const IDENTIFIER_RULE = `an identifier has ${LENGTH_MIN} to ${LENGTH_MAX} characters of a-z, A-Z, 0-9, _ and -`;

export const parsePaymentIdentifier = (text: unknown): PaymentIdentifier | undefined =>
  typeof text === 'string' && FORM.test(text) ? (text as PaymentIdentifier) : undefined;

/** What a store knows of an identifier: enough to recognise it, too little to recover it or to open its answer. */
export interface IdentifierClaim {
  /** SHA-256 of the identifier, 32 code units 0..255. */
  readonly digest: string;
  /** SHA-256 of question and payer, 32 code units 0..255: equal for the same purchase. */
  readonly fingerprint: string;
}

export const identifierDigest = (id: PaymentIdentifier): string => sha256Latin1(id);

/** @param question what is asked for under the identifier, as text */
export const identifierClaim = (id: PaymentIdentifier, question: string, payer: Address): IdentifierClaim => ({
  digest: identifierDigest(id),
  fingerprint: sha256Latin1(`${payer}\n${question}`),
});
