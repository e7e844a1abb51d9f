/** Answers to `/settle` with the codes of x402-v2 §4.9, each with every status under which a facilitator may send it. */
import { describe, expect, it } from 'vitest';
import { settleOutcomeOf } from '../../../src/adapters/facilitator/facilitator-answer.ts';
import { orderFor } from '../../payment/fixture.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const order = orderFor();

const kindOf = (status: number, errorReason: string | undefined, transaction: unknown): string =>
  settleOutcomeOf(
    { kind: 'answer', status, retryAfter: null, json: { success: false, errorReason, transaction } },
    order,
  ).kind;

const INDETERMINATE = [
  'settle_exact_evm_transaction_confirmation_timed_out',
  'settle_exact_node_failure',
  'invalid_exact_evm_failed_to_get_receipt',
  'unexpected_settle_error',
  'unknown_error',
  'duplicate_settlement',
  'invalid_exact_evm_nonce_already_used',
];

describe('a settlement that the facilitator refuses', () => {
  const rows = INDETERMINATE.flatMap((code) =>
    [200, 400, 401, 402, 403, 409, 422, 429, 500, 503].map((status) => [code, status] as const),
  );

  it.each(rows)('with %s and status %i is unknown', (code, status) => {
    for (const transaction of ['', null, undefined, HASH]) expect(kindOf(status, code, transaction)).toBe('unknown');
  });

  it.each([200, 400, 401, 402, 403, 409, 422, 429])(
    'with status %i and a transaction is unknown, whatever the code',
    (status) => {
      for (const code of ['insufficient_funds', 'invalid_exact_evm_signature', 'No such words', undefined]) {
        for (const transaction of [HASH, '0x12', 7, {}]) expect(kindOf(status, code, transaction)).toBe('unknown');
      }
    },
  );

  it('says whether the authorization was used before', () => {
    const used = INDETERMINATE.filter((errorReason) => {
      const answer = { kind: 'answer', status: 200, retryAfter: null, json: { success: false, errorReason } } as const;
      return 'isUsed' in settleOutcomeOf(answer, order);
    });
    expect(used).toEqual(['invalid_exact_evm_nonce_already_used']);
  });

  it('without a hash is pending only in name: unknown', () => {
    for (const status of [200, 400, 500]) {
      expect(kindOf(status, 'settlement_pending', '')).toBe('unknown');
      expect(kindOf(status, 'settlement_pending', HASH)).toBe('pending');
    }
  });

  it.each([200, 400, 402, 422])('with status %i and a revert on the chain is refused', (status) => {
    for (const code of ['invalid_exact_evm_transaction_failed', 'settle_exact_failed_onchain']) {
      expect(kindOf(status, code, HASH)).toBe('refused');
    }
    expect(kindOf(status, 'insufficient_funds', '')).toBe('refused');
  });

  it.each([401, 403])('with status %i and nothing sent is our own trouble', (status) => {
    expect(kindOf(status, 'insufficient_funds', '')).toBe('unavailable');
    expect(kindOf(status, undefined, undefined)).toBe('unavailable');
  });

  it.each([400, 401, 403, 429, 500])('with status %i is unknown when its body says that it succeeded', (status) => {
    for (const transaction of ['', undefined, HASH]) {
      const json = { success: true, transaction, network: order.offer.requirements.network };
      expect(settleOutcomeOf({ kind: 'answer', status, retryAfter: null, json }, order).kind).toBe('unknown');
    }
  });
});
