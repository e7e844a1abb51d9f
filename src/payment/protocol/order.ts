/**
 * A payment order: our own offer and the checked fields of the authorization, and none of the client's text. The
 * reservation key, the body for a facilitator (x402-v2 §2.8) and the receipt (§2.6) follow from it.
 */
import type { Brand } from '../../base/brand.ts';
import { encodeHex } from '../../base/codec.ts';
import { sha256Latin1 } from '../../base/digest.ts';
import { KEY_LENGTH } from '../../base/key-queue.ts';
import type { Authorization } from './authorization.ts';
import { type Address, checksummed, type Network, type NetworkId, networkOf, X402_VERSION } from './network.ts';
import type { Reason } from './reasons.ts';
import type { Extensions, Offer, PaymentRequirements, ResourceInfo } from './requirements.ts';

/**
 * Identifies an authorization by (network, asset, from, nonce), whatever its spelling, signature or header: 16 bytes of a
 * SHA-256 as code units 0..255. Finding two authorizations with one key takes 2^64 tries and gains the attacker a 409.
 */
export type ReservationKey = Brand<string, 'ReservationKey'>;

/**
 * @param from `0x` and 40 hex digits, any case
 * @param nonce `0x` and 64 hex digits, any case
 */
export function reservationKeyOf({ id, usdcLower }: Network, from: string, nonce: string): ReservationKey {
  const text = `${id}|${usdcLower}|${from}${nonce}`.toLowerCase(); // the network is in lower case already
  return sha256Latin1(text).slice(0, KEY_LENGTH) as ReservationKey;
}

/** The part of an offer that a payment order carries. */
export interface OfferedTerms {
  readonly requirements: PaymentRequirements;
  readonly resource: ResourceInfo;
  readonly extensions: Extensions | undefined;
}

/** What `/verify` and `/settle` are called with. */
export interface PaymentOrder {
  readonly key: ReservationKey;
  readonly payer: Address;
  readonly authorization: Authorization;
  /** `0x` and lower-case hex. */
  readonly signature: string;
  readonly offer: OfferedTerms;
  /** True when the client asked for a listing of the route: the order then carries our own Bazaar block (x402-v2 §7.3). */
  readonly isListed: boolean;
}

export function paymentOrder(
  offer: Offer,
  authorization: Authorization,
  signature: Uint8Array,
  echoesBazaar: boolean,
): PaymentOrder {
  return {
    key: reservationKeyOf(offer.network, authorization.from, authorization.nonce),
    payer: checksummed(authorization.from),
    authorization,
    signature: encodeHex(signature),
    offer,
    isListed: echoesBazaar && offer.extensions !== undefined,
  };
}

/** Writes the order as text, which a store retains until the settlement has a final outcome. */
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
 * Reads what {@link orderTextOf} wrote; the order gives the same facilitator body, byte for byte. The text is not validated:
 * the store protects it with a checksum.
 * @throws Error when the text is not JSON of that form
 */
export function orderOfText(text: string): PaymentOrder {
  const { authorization, signature, requirements, resource, extensions } = JSON.parse(text) as {
    authorization: Omit<Authorization, 'valueAtomic'> & { valueAtomic: string };
    signature: string;
  } & Omit<OfferedTerms, 'extensions'> & { extensions?: Extensions };
  return {
    key: reservationKeyOf(networkOf(requirements.network), authorization.from, authorization.nonce),
    payer: checksummed(authorization.from),
    authorization: { ...authorization, valueAtomic: BigInt(authorization.valueAtomic) },
    signature,
    offer: { requirements, resource, extensions },
    isListed: extensions !== undefined,
  };
}

/** The JSON body for `/verify` and `/settle`. Equal orders give equal text, so a repeated call repeats the same request. */
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

/** The receipt: the value of `PAYMENT-RESPONSE` for a payment that has settled. */
export function receiptHeader(network: NetworkId, payer: Address, transaction: string): string {
  return btoa(JSON.stringify({ success: true, transaction, network, payer }));
}

/**
 * The value of `PAYMENT-RESPONSE` after a settlement that failed or whose outcome is unknown.
 * @param transaction `''` when no hash is known
 */
export function failureHeader(network: NetworkId, payer: Address, errorReason: Reason, transaction: string): string {
  return btoa(JSON.stringify({ success: false, errorReason, transaction, network, payer }));
}
