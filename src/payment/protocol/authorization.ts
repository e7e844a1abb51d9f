/**
 * Checks a payment against the offer it answers (x402-v2 §3 and §4.4, decisions §4). All cheap comparisons come before the
 * signature recovery. Only the values of our own offer count; the client's copy is merely compared with them. A payment that
 * passes is one that the token contract would accept at this moment, balance and used nonces aside.
 *
 * Cost: `checkPayment` is cheap (`bench/verification.ts`). The recovery between it and `signerFault` is the one expensive step
 * that an unpaid request can cause; `RecoveryQueue` bounds it.
 */
import { decodeHex, encodeHex } from '../../base/codec.ts';
import { type Recovered, SIGNATURE_BYTES } from '../signature/signature.ts';
import { uint256Of } from './amount.ts';
import { type AuthorizationText, fault, mismatch, type PaymentFault, type PaymentPayload } from './envelope.ts';
import {
  BYTES32_FORM,
  lowerAddressOf,
  MAX_TIMEOUT_SECONDS,
  type Network,
  RUNWAY_SECONDS,
  WINDOW_SECONDS_MAX,
  ZERO_ADDRESS,
} from './network.ts';
import type { Offer } from './requirements.ts';
import { structOf } from './typed-data.ts';

/** The checked fields of an EIP-3009 authorization, hex in lower case. */
export interface Authorization {
  readonly from: string;
  readonly to: string;
  readonly valueAtomic: bigint;
  readonly validAfterSeconds: number;
  readonly validBeforeSeconds: number;
  /** `0x` and 64 hex digits. */
  readonly nonce: string;
}

export type CheckedPayment =
  | { readonly ok: true; readonly authorization: Authorization; readonly signature: Uint8Array }
  | PaymentFault;

function acceptedFault(payment: PaymentPayload, offer: Offer): PaymentFault | undefined {
  const { accepted } = payment;
  const { requirements } = offer;
  if (accepted.amount !== requirements.amount)
    return mismatch(`\`accepted.amount\` must be ${requirements.amount}, the price of this route.`);
  if (lowerAddressOf(accepted.asset) !== offer.network.usdcLower)
    return mismatch(`\`accepted.asset\` must be USDC, ${requirements.asset}.`);
  if (lowerAddressOf(accepted.payTo) !== requirements.payTo.toLowerCase()) {
    return mismatch(`\`accepted.payTo\` must be ${requirements.payTo}.`);
  }
  if (!(accepted.maxTimeoutSeconds > 0 && accepted.maxTimeoutSeconds <= MAX_TIMEOUT_SECONDS)) {
    return mismatch(`\`accepted.maxTimeoutSeconds\` must be above 0 and at most ${MAX_TIMEOUT_SECONDS}.`);
  }
  const { name, version } = requirements.extra;
  if (accepted.extraName !== undefined && accepted.extraName !== name) {
    return mismatch(`\`accepted.extra.name\` must be ${name}.`);
  }
  if (accepted.extraVersion !== undefined && accepted.extraVersion !== version) {
    return mismatch(`\`accepted.extra.version\` must be ${version}.`);
  }
  if (accepted.assetTransferMethod !== undefined && accepted.assetTransferMethod !== 'eip3009') {
    return mismatch('This server accepts the transfer method eip3009 only.');
  }
  if (accepted.paymentFlow !== undefined && accepted.paymentFlow !== 'authorization') {
    return mismatch('This server accepts the payment flow authorization only.');
  }
  return undefined;
}

/**
 * True when origin and path are those of the route (x402-v2 §3). The payer does not sign the URL, so the check guards against
 * mistakes and not against attackers.
 */
function isSameResource(url: string, canonical: string): boolean {
  const end = url.search(/[?#]/);
  if ((end < 0 ? url : url.slice(0, end)) === canonical) return true;
  if (!URL.canParse(url)) return false;
  const theirs = new URL(url);
  const ours = new URL(canonical);
  return theirs.origin === ours.origin && theirs.pathname === ours.pathname;
}

const badForm = (field: string, form: string): PaymentFault =>
  fault('invalid_payload', `\`payload.authorization.${field}\` must be ${form}.`);

const ADDRESS_TEXT = '0x and 40 hex digits';
const NUMBER_TEXT = 'a decimal number of at most 256 bits without sign, blanks or leading zeros';

/**
 * The fault of an authorization that leaves too little time to settle. Callers check again after every wait.
 * @param answerSeconds what the answer may take before the payment settles (decisions §4)
 */
export function runwayFault(validBeforeSeconds: number, nowMs: number, answerSeconds = 0): PaymentFault | undefined {
  const secondsMin = RUNWAY_SECONDS + answerSeconds;
  if (validBeforeSeconds * 1000 - nowMs >= secondsMin * 1000) return undefined;
  return fault(
    'invalid_exact_evm_payload_authorization_valid_before',
    `\`validBefore\` must be at least ${secondsMin} s from now.`,
  );
}

function authorizationOf(
  text: AuthorizationText,
  offer: Offer,
  nowMs: number,
  answerSeconds: number,
): Authorization | PaymentFault {
  const from = lowerAddressOf(text.from);
  if (from === undefined) return badForm('from', ADDRESS_TEXT);
  const to = lowerAddressOf(text.to);
  if (to === undefined) return badForm('to', ADDRESS_TEXT);
  const valueAtomic = uint256Of(text.value);
  if (valueAtomic === undefined) return badForm('value', NUMBER_TEXT);
  const validAfter = uint256Of(text.validAfter);
  if (validAfter === undefined) return badForm('validAfter', NUMBER_TEXT);
  const validBefore = uint256Of(text.validBefore);
  if (validBefore === undefined) return badForm('validBefore', NUMBER_TEXT);
  if (!BYTES32_FORM.test(text.nonce)) return badForm('nonce', '0x and 64 hex digits');

  const payTo = offer.requirements.payTo.toLowerCase();
  if (to !== payTo) {
    return fault('invalid_exact_evm_recipient_mismatch', `The authorization must pay ${offer.requirements.payTo}.`);
  }
  if (valueAtomic !== offer.amountAtomic) {
    return fault(
      'invalid_exact_evm_payload_authorization_value_mismatch',
      `The authorization must be for exactly ${offer.requirements.amount}.`,
    );
  }
  if (from === ZERO_ADDRESS || from === payTo || from === offer.network.usdcLower) {
    return fault(
      'invalid_payload',
      '`payload.authorization.from` must be a payer: not the zero address, the recipient or the token.',
    );
  }
  // The contract requires validAfter < now < validBefore, in whole seconds of block time.
  const validAfterSeconds = Number(validAfter);
  if (validAfterSeconds >= Math.floor(nowMs / 1000)) {
    return fault('invalid_exact_evm_payload_authorization_valid_after', '`validAfter` must be before now.');
  }
  const validBeforeSeconds = Number(validBefore); // inexact only for values that are refused below as too far ahead
  const tooShort = runwayFault(validBeforeSeconds, nowMs, answerSeconds);
  if (tooShort !== undefined) return tooShort;
  const aheadMs = validBeforeSeconds * 1000 - nowMs;
  if (aheadMs > WINDOW_SECONDS_MAX * 1000) {
    return fault(
      'invalid_exact_evm_payload_authorization_valid_before',
      `\`validBefore\` must be at most ${WINDOW_SECONDS_MAX} s from now.`,
    );
  }
  return { from, to, valueAtomic, validAfterSeconds, validBeforeSeconds, nonce: text.nonce.toLowerCase() };
}

/** Whether the payment answers an offer of this route, whatever terms and host the offer had. */
export const namesPathOf = ({ resource }: Offer, { resourceUrl = '' }: PaymentPayload): boolean =>
  URL.parse(resourceUrl)?.pathname === new URL(resource.url).pathname;

/**
 * Checks everything about a payment but its signer. Both `validAfter` and `validBefore` are compared with now, so they need
 * not be compared with each other.
 */
export function checkPayment(payment: PaymentPayload, offer: Offer, nowMs: number, answerSeconds = 0): CheckedPayment {
  const unaccepted = acceptedFault(payment, offer);
  if (unaccepted !== undefined) return unaccepted;
  if (payment.resourceUrl !== undefined && !isSameResource(payment.resourceUrl, offer.resource.url)) {
    return fault('resource_mismatch', `\`resource.url\` names another resource than ${offer.resource.url}.`);
  }
  const authorization = authorizationOf(payment.authorization, offer, nowMs, answerSeconds);
  if ('ok' in authorization) return authorization;
  const signature = decodeHex(payment.signature);
  if (signature === undefined || signature.length < SIGNATURE_BYTES) {
    return fault(
      'invalid_exact_evm_signature_format',
      `\`payload.signature\` must be ${SIGNATURE_BYTES} bytes of hex.`,
    );
  }
  return { ok: true, authorization, signature };
}

/** The EIP-712 struct of a checked authorization; its payer signs the digest of it. */
export function authorizationStruct(authorization: Authorization, network: Network): Uint8Array {
  const message = {
    from: authorization.from,
    to: authorization.to,
    value: authorization.valueAtomic,
    validAfter: BigInt(authorization.validAfterSeconds),
    validBefore: BigInt(authorization.validBeforeSeconds),
    nonce: authorization.nonce,
  };
  return structOf(message, network);
}

/** The fault of a signature that is not the payer's; undefined when the payer signed. */
export function signerFault(authorization: Authorization, recovered: Recovered): PaymentFault | undefined {
  if (!recovered.ok) {
    return fault('invalid_exact_evm_signature', `The signature is invalid (${recovered.reason}).`);
  }
  if (encodeHex(recovered.address) !== authorization.from) {
    return fault('invalid_exact_evm_signature', 'The signature was not made by `payload.authorization.from`.');
  }
  return undefined;
}
