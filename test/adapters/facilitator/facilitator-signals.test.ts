import { describe, expect, it } from 'vitest';
import { FacilitatorSignals, type RepeatedTransaction } from '../../../src/adapters/facilitator/facilitator-signals.ts';
import { Exposition } from '../../../src/base/prometheus.ts';
import type { PaymentOrder } from '../../../src/payment/protocol/order.ts';
import { freshNonce, orderFor } from '../../payment/fixture.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const NOW_MS = Date.UTC(2026, 7, 1, 12, 0, 0);

function setUp() {
  const repeated: RepeatedTransaction[] = [];
  const signals = new FacilitatorSignals({ onRepeatedTransaction: (one) => repeated.push(one) });
  const page = (): string => {
    const written = new Exposition();
    signals.writeMetrics(written);
    return written.text;
  };
  return { signals, repeated, page };
}

const dated = (ms: number, more: Record<string, string> = {}): Headers =>
  new Headers({ date: new Date(ms).toUTCString(), ...more });

describe('the clock skew (reliability 72)', () => {
  it('is not shown before the facilitator has told its time', () => {
    const { signals, page } = setUp();
    signals.noteDate(new Headers(), NOW_MS, 10);
    signals.noteDate(new Headers({ date: 'soon' }), NOW_MS, 10);
    expect(signals.skewSeconds()).toBeUndefined();
    expect(page()).not.toMatch(/^paygrade_clock_skew_seconds/m);
  });

  it.each([
    [30_000, 'ahead'],
    [0, 'right'],
    [-30_000, 'behind'],
  ])('of a clock that is %i ms %s is within a second', (skewMs) => {
    const { signals, page } = setUp();
    for (let call = 0; call < 200; call++) {
      const theirsMs = NOW_MS + call * 137;
      // A Date has whole seconds, and was written in the middle of the call.
      signals.noteDate(dated(theirsMs), theirsMs + skewMs + 50, 100);
    }
    expect(Math.abs((signals.skewSeconds() as number) - skewMs / 1000)).toBeLessThanOrEqual(0.6);
    expect(page()).toMatch(/^paygrade_clock_skew_seconds -?\d/m);
  });

  it('does not follow a few wrong answers, slow calls or cached answers, and follows a step soon', () => {
    const { signals } = setUp();
    for (let call = 0; call < 31; call++) signals.noteDate(dated(NOW_MS), NOW_MS + 500, 0);
    for (let call = 0; call < 100; call++) {
      signals.noteDate(dated(0), NOW_MS, 2001);
      signals.noteDate(dated(0, { age: '9' }), NOW_MS, 0);
      if (call < 15) signals.noteDate(dated(0), NOW_MS, 0);
    }
    expect(signals.skewSeconds()).toBe(0);
    for (let call = 0; call < 31; call++) signals.noteDate(dated(NOW_MS), NOW_MS + 7500, 0);
    expect(signals.skewSeconds()).toBe(7);
  });
});

describe('a transaction hash for two authorizations (reliability 88)', () => {
  it('is counted and reported; the same authorization repeated is not', () => {
    const { signals, repeated, page } = setUp();
    const [first, second] = [orderFor(), orderFor({ nonce: freshNonce() })];
    expect(first.key).not.toBe(second.key);
    const settled = { kind: 'settled', transaction: HASH } as const;
    for (let i = 0; i < 3; i++) signals.noteSettled(first, settled);
    signals.noteSettled(second, { kind: 'settled', transaction: `0x${'cd'.repeat(32)}` });
    expect(repeated).toEqual([]);
    expect(page()).toContain('paygrade_settlement_repeated_transactions_total 0\n');
    signals.noteSettled(second, settled);
    expect(repeated).toEqual([{ transaction: HASH, order: second }]);
    expect(page()).toContain('paygrade_settlement_repeated_transactions_total 1\n');
  });
});

describe('a verdict against our own check (reliability 102)', () => {
  const order = orderFor();
  const contract: PaymentOrder = { ...order, signature: `0x${'ab'.repeat(66)}` };
  const counts = (page: string): (string | undefined)[] =>
    ['signature', 'window'].map(
      (about) =>
        new RegExp(`^paygrade_verification_divergences_total\\{about="${about}"\\} (\\d+)$`, 'm').exec(page)?.[1],
    );

  it.each([
    ['verify', 'invalid_exact_evm_signature', '1', '0'],
    ['verify', 'invalid_exact_evm_payload_signature', '1', '0'],
    ['verify', 'invalid_exact_evm_payload_signature_address', '1', '0'],
    ['verify', 'invalid_exact_evm_payload_authorization_valid_after', '0', '1'],
    ['verify', 'invalid_exact_evm_payload_authorization_valid_before', '0', '1'],
    ['verify', 'insufficient_funds', '0', '0'],
    ['verify', undefined, '0', '0'],
    ['settle', 'invalid_exact_evm_signature', '1', '0'],
    ['settle', 'invalid_exact_evm_payload_authorization_valid_before', '0', '0'],
    ['settle', 'insufficient_funds', '0', '0'],
  ] as const)(
    'at %s with %s counts %s about the signature and %s about the window',
    (step, reason, signature, window) => {
      const { signals, page } = setUp();
      expect(counts(page())).toEqual(['0', '0']);
      if (step === 'verify') signals.noteVerified(order, { kind: 'invalid', reason, detail: '' });
      else signals.noteSettled(order, { kind: 'refused', reason, transaction: '', detail: '' });
      expect(counts(page())).toEqual([signature, window]);
    },
  );

  it('is none about a signature that only the chain can check, and none when all is well', () => {
    const { signals, page } = setUp();
    signals.noteVerified(contract, { kind: 'invalid', reason: 'invalid_exact_evm_signature', detail: '' });
    signals.noteVerified(order, { kind: 'valid' });
    signals.noteSettled(order, { kind: 'settled', transaction: HASH });
    expect(counts(page())).toEqual(['0', '0']);
  });
});
