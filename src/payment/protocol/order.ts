/**
 * A payment on its way to settlement: our own offer and the fields that were parsed and checked, nothing of the client's
 * text. From it follow the reservation key, the body for a facilitator (x402-v2 §2.8) and the receipt (§2.6).
 */
import type { Brand } from '../../base/brand.ts';
import { encodeHex } from '../../base/codec.ts';
import { sha256Latin1 } from '../../base/digest.ts';
import { KEY_LENGTH } from '../../base/key-queue.ts';
import type { Authorization } from './authorization.ts';
import { type Address, checksummed, NETWORK, USDC_LOWER, X402_VERSION } from './network.ts';
import type { Reason } from './reasons.ts';
import type { Extensions, Offer, PaymentRequirements, ResourceInfo } from './requirements.ts';

/**
 * Names (network, asset, from, nonce), whatever spelling, signature or header it came in: 16 bytes of a SHA-256 as code
 * units 0..255. Who wants two authorizations with one key needs 2^64 tries, and gains a 409.
 */
export type ReservationKey = Brand<string, 'ReservationKey'>;

const PREFIX = `${NETWORK}|${USDC_LOWER}|`;

/** @param from 0x and 40 hex digits; @param nonce 0x and 64 hex digits; any case */
export function reservationKeyOf(from: string, nonce: string): ReservationKey {
  return sha256Latin1(PREFIX + from.toLowerCase() + nonce.toLowerCase()).slice(0, KEY_LENGTH) as ReservationKey;
}

/** What of an offer travels with a payment. */
export interface OfferedTerms {
  readonly requirements: PaymentRequirements;
  readonly resource: ResourceInfo;
  readonly extensions: Extensions | undefined;
}

export interface PaymentOrder {
  readonly key: ReservationKey;
  readonly payer: Address;
  readonly authorization: Authorization;
  /** `0x` and lower-case hex. */
  readonly signature: string;
  readonly offer: OfferedTerms;
  /** The client asked for the route to be listed, so our own Bazaar block travels with the payment (x402-v2 §7.3). */
  readonly isListed: boolean;
}

export function paymentOrder(
  offer: Offer,
  authorization: Authorization,
  signature: Uint8Array,
  echoesBazaar: boolean,
): PaymentOrder {
  return {
    key: reservationKeyOf(authorization.from, authorization.nonce),
    payer: checksummed(authorization.from),
    authorization,
    signature: encodeHex(signature),
    offer,
    isListed: echoesBazaar && offer.extensions !== undefined,
  };
}

/** The order as text, for a store to keep until its settlement has ended. */
export function orderTextOf(order: PaymentOrder): string {
  const { authorization, offer, isListed } = order;
  return JSON.stringify({
    authorization: { ...authorization, valueAtomic: String(authorization.valueAtomic) },
    signature: order.signature,
    requirements: offer.requirements,
    resource: offer.resource,
    ...(isListed ? { extensions: offer.extensions } : {}),
  });
}

/**
 * The order that {@link orderTextOf} wrote: it gives the same body for a facilitator, to the byte.
 * @throws Error when it is another text; who kept it vouches for it with a checksum
 */
export function orderOfText(text: string): PaymentOrder {
  const { authorization, signature, requirements, resource, extensions } = JSON.parse(text) as {
    authorization: Omit<Authorization, 'valueAtomic'> & { valueAtomic: string };
    signature: string;
  } & Omit<OfferedTerms, 'extensions'> & { extensions?: Extensions };
  return {
    key: reservationKeyOf(authorization.from, authorization.nonce),
    payer: checksummed(authorization.from),
    authorization: { ...authorization, valueAtomic: BigInt(authorization.valueAtomic) },
    signature,
    offer: { requirements, resource, extensions },
    isListed: extensions !== undefined,
  };
}

/** JSON text for `/verify` and `/settle`; the same order always gives the same text, so a repeat is a repeat. */
export function facilitatorBodyOf(order: PaymentOrder): string {
  const { authorization, offer } = order;
  return JSON.stringify({
    x402Version: X402_VERSION,
    paymentPayload: {
      x402Version: X402_VERSION,
      resource: offer.resource,
      accepted: offer.requirements,
      payload: {
        signature: order.signature,
        authorization: {
          from: order.payer,
          to: offer.requirements.payTo,
          value: String(authorization.valueAtomic),
          validAfter: String(authorization.validAfterSeconds),
          validBefore: String(authorization.validBeforeSeconds),
          nonce: authorization.nonce,
        },
      },
      ...(order.isListed ? { extensions: offer.extensions } : {}),
    },
    paymentRequirements: offer.requirements,
  });
}

/** Value of `PAYMENT-RESPONSE` for a payment that settled. */
export function receiptHeader(payer: Address, transaction: string): string {
  return btoa(JSON.stringify({ success: true, transaction, network: NETWORK, payer }));
}

/** Value of `PAYMENT-RESPONSE` after a settlement that failed or whose end is not known; `''` = no transaction known. */
export function failureHeader(payer: Address, errorReason: Reason, transaction: string): string {
  return btoa(JSON.stringify({ success: false, errorReason, transaction, network: NETWORK, payer }));
}
