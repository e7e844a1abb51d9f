/**
 * The protocol's codes for a faulty payment (x402-v2 §4.4, §4.9): the `error` of an offer and the `errorReason` of a
 * settlement response. Facilitators use open vocabularies and put free text into the same fields, so we pass on only codes
 * that are on the list and replace any other by one of our own.
 */
export const HEADER_REQUIRED = 'PAYMENT-SIGNATURE header is required';
export const V1_NOT_SUPPORTED = 'x402 v1 is not supported; send PAYMENT-SIGNATURE';

const REASONS = [
  'invalid_payload',
  'invalid_x402_version',
  'invalid_scheme',
  'unsupported_scheme',
  'unsupported_payload_type',
  'invalid_network',
  'invalid_payment_requirements',
  'resource_mismatch',
  'insufficient_funds',
  'invalid_transaction_state',
  'invalid_exact_evm_signature',
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_payload_signature_address',
  'invalid_exact_evm_signature_format',
  'invalid_exact_evm_recipient_mismatch',
  'invalid_exact_evm_payload_recipient_mismatch',
  'invalid_exact_evm_payload_authorization_valid_before',
  'invalid_exact_evm_payload_authorization_valid_after',
  'invalid_exact_evm_payload_authorization_value_mismatch',
  'invalid_exact_evm_nonce_already_used',
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_insufficient_funds',
  'invalid_exact_evm_transaction_failed',
  'invalid_exact_evm_transaction_simulation_failed',
  'invalid_exact_evm_transfer_event_mismatch',
  'invalid_exact_evm_verification_failed',
  'eip6492_factory_not_allowed',
  'smart_wallet_deployment_failed',
  'kyt_risk_detected',
  'self_send_not_allowed',
  'settle_exact_failed_onchain',
  'settlement_pending',
] as const;

export type Reason = (typeof REASONS)[number];

/** The values of an offer's `error`. */
export type ChallengeError = typeof HEADER_REQUIRED | typeof V1_NOT_SUPPORTED | Reason;

/** Length of the longest `error`, for the check of an offer's size at start. */
export const CHALLENGE_ERROR_LENGTH_MAX = Math.max(
  ...[HEADER_REQUIRED, V1_NOT_SUPPORTED, ...REASONS].map((text) => text.length),
);

const KNOWN: ReadonlySet<string> = new Set(REASONS);

/** The facilitator's code when it is on the list, else `otherwise`. */
export function reasonOf(code: string | undefined, otherwise: Reason): Reason {
  return code !== undefined && KNOWN.has(code) ? (code as Reason) : otherwise;
}

/** The code for an authorization that was used before. */
export const NONCE_USED: Reason = 'invalid_exact_evm_nonce_already_used';

/** Settlement codes that leave open whether money moved (x402-v2 §4.9). */
const INDETERMINATE: ReadonlySet<string> = new Set([
  'settlement_pending',
  'settle_exact_evm_transaction_confirmation_timed_out',
  'settle_exact_node_failure',
  'invalid_exact_evm_failed_to_get_receipt',
  'unexpected_settle_error',
  'unknown_error',
  'duplicate_settlement',
  // The nonce may have been used by our own earlier attempt, or by a third party that submitted the authorization first.
  NONCE_USED,
]);

/** Refusals by the chain itself: the transaction that they name certainly moved no money. */
const REVERTED: ReadonlySet<string> = new Set(['invalid_exact_evm_transaction_failed', 'settle_exact_failed_onchain']);

/** True when a refused settlement with this code and hash may still have moved money. */
export function isIndeterminate(code: string | undefined, hasTransaction: boolean): boolean {
  if (code === undefined) return hasTransaction;
  return INDETERMINATE.has(code) || (hasTransaction && !REVERTED.has(code));
}

/**
 * Refusals of a repeat that prove nothing about an earlier attempt. They concern one transaction only, or a state that an
 * earlier transfer may itself have caused: a balance it used up, or a window that has closed since. A facilitator that checks
 * the balance before the nonce refuses with them even after the money has moved.
 */
const SILENT_ON_EARLIER: ReadonlySet<string> = new Set([
  ...REVERTED,
  'invalid_exact_evm_transaction_simulation_failed',
  'invalid_transaction_state',
  'insufficient_funds',
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_insufficient_funds',
  'invalid_exact_evm_payload_authorization_valid_before',
]);

/** True when the refusal of a repeat leaves open whether an earlier attempt moved money. */
export function isSilentOnEarlier(code: string | undefined): boolean {
  return code === undefined || SILENT_ON_EARLIER.has(code);
}
