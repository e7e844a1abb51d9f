import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PaymentOrder } from '../../../src/payment/protocol/order.ts';
import { LocalLedger, localTransactionOf } from '../../../src/payment/settlement/ledger.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { NOW_MS, NOW_SECONDS, orderFor, payer } from '../fixture.ts';

const clock = new ManualTime(NOW_MS);
const from = (index: number): { from: string } => ({ from: payer(index).address.toLowerCase() });

describe('the play ledger', () => {
  it('moves the amount once and says how it is called', async () => {
    const ledger = new LocalLedger(50_000n, clock);
    const order = orderFor(from(0));
    const outcome = await ledger.settle(order);
    expect(outcome).toEqual({ kind: 'settled', transaction: localTransactionOf(order) });
    expect(localTransactionOf(order)).toMatch(/^0x[0-9a-f]{64}$/);
    expect(localTransactionOf(orderFor(from(0)))).not.toBe(localTransactionOf(order));
    expect(ledger.balanceOf(payer(0).address)).toBe(30_000n);
    expect(await ledger.settle(order)).toMatchObject({
      kind: 'refused',
      reason: 'invalid_exact_evm_nonce_already_used',
    });
    expect(ledger.balanceOf(payer(0).address)).toBe(30_000n);
  });

  it('gives one answer for fifty from a wallet that can afford one (reliability 83)', async () => {
    const ledger = new LocalLedger(20_000n, clock);
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => ledger.settle(orderFor(from(0)))));
    expect(outcomes.filter(({ kind }) => kind === 'settled')).toHaveLength(1);
    expect(outcomes.filter((one) => one.kind === 'refused' && one.reason === 'insufficient_funds')).toHaveLength(49);
    expect(ledger.balanceOf(payer(0).address)).toBe(0n);
  });

  it.each([
    [NOW_SECONDS - 1, NOW_SECONDS + 1, undefined],
    [NOW_SECONDS, NOW_SECONDS + 1, 'invalid_exact_evm_payload_authorization_valid_after'],
    [0, NOW_SECONDS, 'invalid_exact_evm_payload_authorization_valid_before'],
  ])('keeps the contract’s window from %i to %i', async (validAfterSeconds, validBeforeSeconds, reason) => {
    const outcome = await new LocalLedger(20_000n, clock).settle(orderFor({ validAfterSeconds, validBeforeSeconds }));
    expect(outcome.kind === 'refused' ? outcome.reason : undefined).toBe(reason);
  });

  it('stops taking payments when it is full, and loses none', async () => {
    const ledger = new LocalLedger(1_000_000n, clock, 2);
    const first = orderFor(from(0));
    await ledger.settle(first);
    expect(ledger.readiness()).toEqual({ kind: 'ready' });
    await ledger.settle(orderFor(from(0)));
    expect(ledger.readiness()).toEqual({ kind: 'busy' });
    expect(await ledger.settle(orderFor(from(0)))).toMatchObject({ kind: 'unavailable' });
    expect(await ledger.settle(first)).toMatchObject({ kind: 'refused' });
  });

  it('conserves its total and spends each nonce once, for any debits in any order (reliability 111)', async () => {
    const payers = Array.from({ length: 4 }, (_, index) => from(index));
    const known: PaymentOrder[] = Array.from({ length: 60 }, (_, i) => orderFor(payers[i % 4]));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(59), { maxLength: 200 }), fc.bigInt(0n, 400_000n), async (picks, opening) => {
        const ledger = new LocalLedger(opening, clock);
        const outcomes = await Promise.all(picks.map((pick) => ledger.settle(known[pick] as PaymentOrder)));
        const settled = outcomes.flatMap((one) => (one.kind === 'settled' ? [one.transaction] : []));
        const totals = ledger.totals();
        expect(new Set(settled).size).toBe(settled.length);
        expect(totals.transferCount).toBe(settled.length);
        expect(totals.earnedAtomic).toBe(20_000n * BigInt(settled.length));
        expect(totals.heldByPayersAtomic + totals.earnedAtomic).toBe(totals.givenOutAtomic);
        for (const { from: address } of payers) expect(ledger.balanceOf(address)).toBeGreaterThanOrEqual(0n);
      }),
      { numRuns: 100 },
    );
  });

  it('conserves its total over 10,000 debits at once', async () => {
    const ledger = new LocalLedger(20_000n * 100n, clock);
    const orders = Array.from({ length: 10_000 }, (_, i) =>
      orderFor({ from: `0x${String(1000 + (i % 80)).padStart(40, '1')}` }),
    );
    await Promise.all(orders.map((order) => ledger.settle(order)));
    const totals = ledger.totals();
    expect(totals.transferCount).toBe(80 * 100);
    expect(totals.heldByPayersAtomic + totals.earnedAtomic).toBe(totals.givenOutAtomic);
  });
});
