/**
 * Protocol words for what is wrong with a payment (x402-v2 §4.4, §4.9): the `error` of an offer and the `errorReason` of a
 * settlement response. Facilitators use open vocabularies and put free text in the same fields, so a word from outside is
 * passed on only when it is on the list; everything else is shown as one word of our own choice.
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

/** What an offer's `error` may say. */
export type ChallengeError = typeof HEADER_REQUIRED | typeof V1_NOT_SUPPORTED | Reason;

/** Length of the longest `error`, so that an offer's size can be checked at start for all of them. */
export const CHALLENGE_ERROR_LENGTH_MAX = Math.max(
  ...[HEADER_REQUIRED, V1_NOT_SUPPORTED, ...REASONS].map((text) => text.length),
);

const KNOWN: ReadonlySet<string> = new Set(REASONS);

/** A facilitator's code when it is a known word, otherwise `otherwise`. */
export function reasonOf(code: string | undefined, otherwise: Reason): Reason {
  return code !== undefined && KNOWN.has(code) ? (code as Reason) : otherwise;
}

/** Settlement codes that leave open whether money moved (x402-v2 §4.9). */
const INDETERMINATE: ReadonlySet<string> = new Set([
  'settlement_pending',
  'settle_exact_evm_transaction_confirmation_timed_out',
  'settle_exact_node_failure',
  'invalid_exact_evm_failed_to_get_receipt',
  'unexpected_settle_error',
  'unknown_error',
  'duplicate_settlement',
  // Perhaps our own earlier attempt, or somebody who submitted the authorization before us.
  'invalid_exact_evm_nonce_already_used',
]);

/** Refusals that come from the chain itself, so the transaction they carry is known to have moved nothing. */
const REVERTED: ReadonlySet<string> = new Set(['invalid_exact_evm_transaction_failed', 'settle_exact_failed_onchain']);

/** True when a refused settlement with this code and hash may still have moved money. */
export function isIndeterminate(code: string | undefined, hasTransaction: boolean): boolean {
  if (code === undefined) return hasTransaction;
  return INDETERMINATE.has(code) || (hasTransaction && !REVERTED.has(code));
}

/**
 * Refusals of a repeat that say nothing about an earlier attempt: they speak of one transaction that was tried, or of what
 * an earlier transfer itself may have brought about (it took the balance) or outlived (its window). Facilitators that look
 * at the balance before the nonce answer so over a payment that has moved.
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

export function isSilentOnEarlier(code: string | undefined): boolean {
  return code === undefined || SILENT_ON_EARLIER.has(code);
}
