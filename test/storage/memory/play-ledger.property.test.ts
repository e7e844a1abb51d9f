/** What the ledger in memory shows beside the port: balances and totals, also through its settlement. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PaymentOrder } from '../../../src/payment/protocol/order.ts';
import { LocalSettlement } from '../../../src/payment/settlement/play-ledger.ts';
import { NOW_MS, orderFor, payer } from '../../payment/fixture.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { playLedger } from '../../support/play-ledger.ts';

const clock = new ManualTime(NOW_MS);
const from = (index: number): { from: string } => ({ from: payer(index).address.toLowerCase() });

describe('the play ledger in memory', () => {
  it('shows the balance of a payer, whatever the case of its address', async () => {
    const ledger = playLedger(50_000n, clock);
    expect(ledger.balanceOf(payer(0).address)).toBe(50_000n);
    const order = orderFor(from(0));
    for (let i = 0; i < 2; i++) {
      ledger.transfer(order);
      expect(ledger.balanceOf(payer(0).address)).toBe(30_000n);
    }
  });

  it('brings a balance to zero and not below (case 83)', () => {
    const ledger = playLedger(20_000n, clock);
    for (let i = 0; i < 50; i++) ledger.transfer(orderFor(from(0)));
    expect(ledger.balanceOf(payer(0).address)).toBe(0n);
  });

  it('refuses payments when it is full, and loses none', async () => {
    const settlement = new LocalSettlement(playLedger(1_000_000n, clock, 2));
    const first = orderFor(from(0));
    await settlement.settle(first);
    expect(settlement.readiness()).toEqual({ kind: 'ready' });
    await settlement.settle(orderFor(from(0)));
    expect(settlement.readiness()).toEqual({ kind: 'busy' });
    expect(await settlement.settle(orderFor(from(0)))).toMatchObject({ kind: 'unavailable' });
    expect(await settlement.settle(first)).toMatchObject({ kind: 'refused' });
  });

  it('conserves its total and consumes each nonce once, for any debits in any order (case 111)', async () => {
    const payers = Array.from({ length: 4 }, (_, index) => from(index));
    const known: PaymentOrder[] = Array.from({ length: 60 }, (_, i) => orderFor(payers[i % 4]));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(59), { maxLength: 200 }), fc.bigInt(0n, 400_000n), async (picks, opening) => {
        const ledger = playLedger(opening, clock);
        const outcomes = await Promise.all(picks.map(async (pick) => ledger.transfer(known[pick] as PaymentOrder)));
        const settled = outcomes.flatMap((one) => (one.kind === 'settled' ? [one.transaction] : []));
        expect(new Set(settled).size).toBe(settled.length);
        const balances = payers.map(({ from: address }) => ledger.balanceOf(address));
        const spent = balances.reduce((sum, balance) => sum + opening - balance, 0n);
        expect(spent).toBe(20_000n * BigInt(settled.length));
        for (const balance of balances) expect(balance).toBeGreaterThanOrEqual(0n);
      }),
      { numRuns: 100 },
    );
  });

  it('conserves its total over 10,000 debits at once', async () => {
    const ledger = playLedger(20_000n * 100n, clock);
    const orders = Array.from({ length: 10_000 }, (_, i) =>
      orderFor({ from: `0x${String(1000 + (i % 80)).padStart(40, '1')}` }),
    );
    const outcomes = await Promise.all(orders.map(async (order) => ledger.transfer(order)));
    expect(outcomes.filter(({ kind }) => kind === 'settled')).toHaveLength(80 * 100);
    expect(new Set(orders.map(({ payer }) => ledger.balanceOf(payer)))).toEqual(new Set([0n]));
  });
});
