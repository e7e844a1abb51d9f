/** The indeterminate list of x402-v2 §4.9, whole: what must never become a 402. */
import { describe, expect, it } from 'vitest';
import { isIndeterminate } from '../../../src/payment/protocol/reasons.ts';

describe('a settlement that was refused', () => {
  it.each([
    'settlement_pending',
    'settle_exact_evm_transaction_confirmation_timed_out',
    'settle_exact_node_failure',
    'invalid_exact_evm_failed_to_get_receipt',
    'unexpected_settle_error',
    'unknown_error',
    'duplicate_settlement',
    'invalid_exact_evm_nonce_already_used',
  ])('with %s may have moved money, with a transaction or without', (code) => {
    expect([isIndeterminate(code, false), isIndeterminate(code, true)]).toEqual([true, true]);
  });

  it.each(['invalid_exact_evm_transaction_failed', 'settle_exact_failed_onchain'])(
    'by the chain (%s) has moved none, whatever transaction it names',
    (code) => {
      expect([isIndeterminate(code, false), isIndeterminate(code, true)]).toEqual([false, false]);
    },
  );

  it.each(['insufficient_funds', 'invalid_exact_evm_signature', 'kyt_risk_detected', 'some_new_code', undefined])(
    'with %s may have moved money only when a transaction is named',
    (code) => {
      expect([isIndeterminate(code, false), isIndeterminate(code, true)]).toEqual([false, true]);
    },
  );
});
