/**
 * Is this payment good for this offer? Every comparison that costs next to nothing comes before the one signature recovery
 * (x402-v2 §3 and §4.4, decisions §4). All values come from our own offer; the client's copy is only compared. What passes
 * here is what the token contract would take at this moment, up to balance and used nonces.
 *
 * Cost: `checkPayment` 2 to 4 µs. The recovery between it and `signerFault` is the one expensive step that a stranger can
 * cause; `RecoveryQueue` bounds it.
 */
import { decodeHex, encodeHex } from '../../base/codec.ts';
import { type Recovered, SIGNATURE_BYTES } from '../signature/signature.ts';
import { uint256Of } from './amount.ts';
import { type AuthorizationText, fault, type Payment, type PaymentFault } from './envelope.ts';
import {
  CLOCK_SKEW_SECONDS,
  lowerAddressOf,
  MAX_TIMEOUT_SECONDS,
  RUNWAY_SECONDS,
  USDC_LOWER,
  ZERO_ADDRESS,
} from './network.ts';
import type { Offer } from './requirements.ts';
import { structOf } from './typed-data.ts';

/** Checked fields, normalised: hex in lower case. */
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

const NONCE_FORM = /^0x[0-9a-fA-F]{64}$/;

const mismatch = (message: string): PaymentFault => fault('invalid_payment_requirements', message);

function acceptedFault(payment: Payment, offer: Offer): PaymentFault | undefined {
  const { accepted } = payment;
  const { requirements } = offer;
  if (accepted.amount !== requirements.amount) return mismatch(`The amount of this route is ${requirements.amount}.`);
  if (lowerAddressOf(accepted.asset) !== USDC_LOWER) return mismatch(`The asset must be USDC, ${requirements.asset}.`);
  if (lowerAddressOf(accepted.payTo) !== requirements.payTo.toLowerCase()) {
    return mismatch(`\`accepted.payTo\` must be ${requirements.payTo}.`);
  }
  if (!(accepted.maxTimeoutSeconds > 0 && accepted.maxTimeoutSeconds <= MAX_TIMEOUT_SECONDS)) {
    return mismatch(`\`accepted.maxTimeoutSeconds\` must be ${MAX_TIMEOUT_SECONDS} or less.`);
  }
  const { name, version } = requirements.extra;
  if (accepted.extraName !== undefined && accepted.extraName !== name) {
    return mismatch(`\`accepted.extra.name\` must be ${name}.`);
  }
  if (accepted.extraVersion !== undefined && accepted.extraVersion !== version) {
    return mismatch(`\`accepted.extra.version\` must be ${version}.`);
  }
  if (accepted.assetTransferMethod !== undefined && accepted.assetTransferMethod !== 'eip3009') {
    return mismatch('Only the transfer method eip3009 is accepted.');
  }
  if (accepted.paymentFlow !== undefined && accepted.paymentFlow !== 'authorization') {
    return mismatch('Only the payment flow authorization is accepted.');
  }
  return undefined;
}

/** Unsigned, so it guards against mix-ups, not against attackers: origin and path must be this route's (x402-v2 §3). */
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
const NUMBER_TEXT = 'a decimal number of at most 256 bits, without sign, blanks or leading zeros';

/** Too little time to settle in. To be asked again after a wait. */
export function runwayFault(validBeforeSeconds: number, nowMs: number): PaymentFault | undefined {
  if (validBeforeSeconds * 1000 - nowMs >= RUNWAY_SECONDS * 1000) return undefined;
  return fault(
    'invalid_exact_evm_payload_authorization_valid_before',
    `\`validBefore\` must lie at least ${RUNWAY_SECONDS} s ahead.`,
  );
}

function authorizationOf(text: AuthorizationText, offer: Offer, nowMs: number): Authorization | PaymentFault {
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
  if (!NONCE_FORM.test(text.nonce)) return badForm('nonce', '0x and 64 hex digits');

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
  if (from === ZERO_ADDRESS || from === payTo || from === USDC_LOWER) {
    return fault('invalid_payload', '`payload.authorization.from` cannot be a payer.');
  }
  // The contract demands validAfter < now < validBefore, in whole seconds of the block's time.
  const validAfterSeconds = Number(validAfter);
  if (validAfterSeconds >= Math.floor(nowMs / 1000)) {
    return fault('invalid_exact_evm_payload_authorization_valid_after', '`validAfter` must lie before now.');
  }
  const validBeforeSeconds = Number(validBefore); // rounds only where it is refused as too far away
  const tooShort = runwayFault(validBeforeSeconds, nowMs);
  if (tooShort !== undefined) return tooShort;
  const aheadMs = validBeforeSeconds * 1000 - nowMs;
  const aheadSecondsMax = MAX_TIMEOUT_SECONDS + CLOCK_SKEW_SECONDS;
  if (aheadMs > aheadSecondsMax * 1000) {
    return fault(
      'invalid_exact_evm_payload_authorization_valid_before',
      `\`validBefore\` must lie at most ${aheadSecondsMax} s ahead.`,
    );
  }
  return { from, to, valueAtomic, validAfterSeconds, validBeforeSeconds, nonce: text.nonce.toLowerCase() };
}

/** validAfter < now < validBefore implies validAfter < validBefore, so the order of the two needs no check of its own. */
export function checkPayment(payment: Payment, offer: Offer, nowMs: number): CheckedPayment {
  const unaccepted = acceptedFault(payment, offer);
  if (unaccepted !== undefined) return unaccepted;
  if (payment.resourceUrl !== undefined && !isSameResource(payment.resourceUrl, offer.resource.url)) {
    return fault('resource_mismatch', `The payment was made for another resource than ${offer.resource.url}.`);
  }
  const authorization = authorizationOf(payment.authorization, offer, nowMs);
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

/** EIP-712 struct of a checked authorization: what its payer signs the digest of. */
export function authorizationStruct(authorization: Authorization): Uint8Array {
  return structOf({
    from: authorization.from,
    to: authorization.to,
    value: authorization.valueAtomic,
    validAfter: BigInt(authorization.validAfterSeconds),
    validBefore: BigInt(authorization.validBeforeSeconds),
    nonce: authorization.nonce,
  });
}

/** undefined when the payer signed; otherwise what is wrong. */
export function signerFault(authorization: Authorization, recovered: Recovered): PaymentFault | undefined {
  if (!recovered.ok) {
    return fault('invalid_exact_evm_signature', `The signature is not acceptable (${recovered.reason}).`);
  }
  if (encodeHex(recovered.address) !== authorization.from) {
    return fault('invalid_exact_evm_signature', 'The signature is not the one of `payload.authorization.from`.');
  }
  return undefined;
}
