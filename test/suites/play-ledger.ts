/** What every play ledger promises, whether it answers now or later (x402-v2 §4.3). The test owns the clock. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PaymentOrder } from '../../src/payment/protocol/order.ts';
import { localTransactionOf, type PlayLedger } from '../../src/payment/settlement/play-ledger.ts';
import type { SettleOutcome } from '../../src/payment/settlement/settlement.ts';
import { NOW_MS, NOW_SECONDS, orderFor, payer } from '../payment/fixture.ts';
import { ManualTime } from '../support/manual-time.ts';
import { partOf } from '../support/whole.ts';
import { type Opened, withOpened } from './opened.ts';

/** Of every order here, atomic units. */
const PRICE = 20_000n;

const from = (index: number): { from: string } => ({ from: payer(index).address.toLowerCase() });

const reasonOf = (outcome: SettleOutcome): string | undefined =>
  outcome.kind === 'refused' ? outcome.reason : undefined;

/** @param open makes an empty ledger that gives every payer `openingAtomic` */
export function describePlayLedger(
  name: string,
  open: (time: ManualTime, openingAtomic: bigint) => Promise<Opened<PlayLedger>>,
): void {
  const using = (openingAtomic: bigint, test: (ledger: PlayLedger) => Promise<void>): Promise<void> =>
    withOpened(open(new ManualTime(NOW_MS), openingAtomic), test);

  describe(name, () => {
    it('moves an amount once, and names the transfer', () =>
      using(50_000n, async (ledger) => {
        const order = orderFor(from(0));
        expect(await ledger.transfer(order)).toEqual({ kind: 'settled', transaction: localTransactionOf(order) });
        expect(localTransactionOf(order)).toMatch(/^0x[0-9a-f]{64}$/);
        expect(localTransactionOf(orderFor(from(0)))).not.toBe(localTransactionOf(order));
        expect(reasonOf(await ledger.transfer(order))).toBe('invalid_exact_evm_nonce_already_used');
        expect(ledger.isFull()).toBe(false);
      }));

    it('refuses what the balance does not cover, to the last unit, for this payer alone', () =>
      using(2n * PRICE, async (ledger) => {
        const kinds: string[] = [];
        for (let i = 0; i < 3; i++) kinds.push((await ledger.transfer(orderFor(from(0)))).kind);
        expect(kinds).toEqual(['settled', 'settled', 'refused']);
        expect((await ledger.transfer(orderFor(from(1)))).kind).toBe('settled');
      }));

    it('gives one answer for fifty at once from a wallet that can afford one (case 83)', () =>
      using(PRICE, async (ledger) => {
        const outcomes = await Promise.all(Array.from({ length: 50 }, async () => ledger.transfer(orderFor(from(0)))));
        expect(outcomes.filter(({ kind }) => kind === 'settled')).toHaveLength(1);
        expect(outcomes.filter((one) => reasonOf(one) === 'insufficient_funds')).toHaveLength(49);
      }));

    it('moves one of fifty at once of the same authorization', () =>
      using(100n * PRICE, async (ledger) => {
        const order = orderFor(from(0));
        const outcomes = await Promise.all(Array.from({ length: 50 }, async () => ledger.transfer(order)));
        expect(outcomes.filter(({ kind }) => kind === 'settled')).toHaveLength(1);
        expect(outcomes.filter((one) => reasonOf(one) === 'invalid_exact_evm_nonce_already_used')).toHaveLength(49);
      }));

    it.each([
      [NOW_SECONDS - 1, NOW_SECONDS + 1, undefined],
      [NOW_SECONDS, NOW_SECONDS + 1, 'invalid_exact_evm_payload_authorization_valid_after'],
      [0, NOW_SECONDS, 'invalid_exact_evm_payload_authorization_valid_before'],
    ])('keeps the contract’s window from %i to %i', (validAfterSeconds, validBeforeSeconds, reason) =>
      using(PRICE, async (ledger) => {
        expect(reasonOf(await ledger.transfer(orderFor({ validAfterSeconds, validBeforeSeconds })))).toBe(reason);
      }),
    );

    it('settles each nonce once and no payer beyond his balance, for any transfers in any order (case 111)', async () => {
      const known: PaymentOrder[] = Array.from({ length: 60 }, (_, i) => orderFor(from(i % 4)));
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(59), { maxLength: 200 }), fc.bigInt(0n, 400_000n), (picks, opening) =>
          using(opening, async (ledger) => {
            const outcomes = await Promise.all(picks.map(async (pick) => ledger.transfer(known[pick]!)));
            const settled = picks.filter((_, i) => outcomes[i]!.kind === 'settled');
            expect(new Set(settled).size).toBe(settled.length);
            for (let one = 0; one < 4; one++) {
              const asked = new Set(picks.filter((pick) => pick % 4 === one)).size;
              const affordable = Number(opening / PRICE);
              expect(settled.filter((pick) => pick % 4 === one)).toHaveLength(Math.min(asked, affordable));
            }
          }),
        ),
        { numRuns: partOf(25) },
      );
    });
  });
}
