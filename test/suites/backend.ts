/** What every backend promises as a whole, and what a backend that outlives its process finds again. */
import { describe, expect, it } from 'vitest';
import { facilitatorBodyOf, type PaymentOrder } from '../../src/payment/protocol/order.ts';
import type { Reservation } from '../../src/payment/reservations.ts';
import { localTransactionOf } from '../../src/payment/settlement/play-ledger.ts';
import type { Backend } from '../../src/storage/backend.ts';
import { orderFor } from '../payment/fixture.ts';
import { type ManualTime, settle } from '../support/manual-time.ts';
import { jsonOf, webhookOf } from '../support/opened-inbox.ts';
import { SALE } from '../support/sale.ts';
import { unsettledOf } from '../support/unsettled.ts';
import { type OpenedBackend, withRemoved } from './opened.ts';

/** Of every payer, atomic units: two orders' worth. */
export const OPENING_ATOMIC = 40_000n;

/** @param open an empty backend with play money, {@link OPENING_ATOMIC} for every payer */
export function describeBackend(name: string, open: (time: ManualTime) => Promise<OpenedBackend>): void {
  const using = (test: (opened: OpenedBackend, time: ManualTime) => Promise<void>) => withRemoved(open, test);
  const orderAt = (time: ManualTime): PaymentOrder =>
    orderFor({ validAfterSeconds: 0, validBeforeSeconds: Math.floor(time.nowMs() / 1000) + 120 });

  async function settling({ reservations }: Backend, order: PaymentOrder): Promise<Reservation> {
    const reserved = await reservations.reserve(order.key, order.authorization.validBeforeSeconds, []);
    if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
    await reservations.recordIntent(reserved.reservation, order, SALE);
    return reserved.reservation;
  }

  async function buy(backend: Backend, order: PaymentOrder): Promise<string> {
    const reservation = await settling(backend, order);
    const outcome = await backend.playLedger!.transfer(order);
    if (outcome.kind === 'settled') await backend.reservations.recordSettled(reservation, outcome.transaction);
    else await backend.reservations.recordReleased(reservation);
    return outcome.kind;
  }

  describe(name, () => {
    it('can be written, and stops all timers when it is closed', () =>
      using(async ({ backend }, time) => {
        expect(backend.fault()).toBeUndefined();
        await buy(backend, orderAt(time));
        expect(await backend.callbacks.capacity.tryClaim()).toBe(true);
        await backend.callbacks.create(backend.callbacks.draft());
        backend.drain();
        await backend.close();
        await backend.close();
        expect(time.pendingCount).toBe(0);
      }));

    it('finds again what was used, what is unsettled and what was spent', () =>
      using(async ({ backend, reopen }, time) => {
        if (reopen === undefined) return;
        const [bought, unknown, reserved] = [orderAt(time), orderAt(time), orderAt(time)];
        expect(await buy(backend, bought)).toBe('settled');
        const held = await settling(backend, unknown);
        await backend.reservations.recordUnknown(held, '', true);
        await backend.reservations.reserve(reserved.key, reserved.authorization.validBeforeSeconds, []);

        const again = await reopen();
        const { reservations } = again;
        expect(await reservations.statusOf(bought.key)).toEqual({
          kind: 'settled',
          transaction: localTransactionOf(bought),
        });
        expect(await reservations.statusOf(unknown.key)).toEqual({ kind: 'unknown', transaction: '' });
        expect(await reservations.statusOf(reserved.key)).toBeUndefined();
        expect(reservations.count).toBe(2);
        const unsettled = await unsettledOf(reservations);
        expect(unsettled.map(({ order }) => facilitatorBodyOf(order))).toEqual([facilitatorBodyOf(unknown)]);
        expect(unsettled[0]!.reservation.isRefused).toBe(true);
        expect(await unsettledOf(reservations)).toEqual([]);
        await reservations.recordReleased(unsettled[0]!.reservation);
        expect(await reservations.statusOf(unknown.key)).toBeUndefined();
        expect((await again.playLedger!.transfer(bought)).kind).toBe('refused');
        expect(await buy(again, orderAt(time))).toBe('settled');
        expect(await buy(again, orderAt(time))).toBe('refused');
      }));

    it('knows what was used after a start whose clock was ahead and is set back later (reliability 71, 79)', () =>
      using(async ({ backend, reopen }, time) => {
        if (reopen === undefined) return;
        const bought = orderAt(time);
        expect(await buy(backend, bought)).toBe('settled');
        const AHEAD_MS = 14 * 3_600_000;
        time.stepWall(AHEAD_MS);
        const again = await reopen();
        const reserve = (order: PaymentOrder) =>
          again.reservations.reserve(order.key, order.authorization.validBeforeSeconds, []);
        await reserve(orderAt(time)); // a request at which the store looks for what it may remove
        time.stepWall(-AHEAD_MS);
        time.pass(119_000);
        await expect.poll(() => again.fault()).toBeUndefined();
        expect(await reserve(bought)).toMatchObject({ kind: 'taken', status: { kind: 'settled' } });
        expect((await again.playLedger!.transfer(bought)).kind).toBe('refused');
      }));

    it('finds a callback again with its events, its token and what is left of its life', () =>
      using(async ({ backend, reopen }, time) => {
        if (reopen === undefined) return;
        expect(await backend.callbacks.capacity.tryClaim()).toBe(true);
        const { id, readToken, expiresAtMs } = await backend.callbacks.create(backend.callbacks.draft());
        for (const body of ['short', 'y'.repeat(9_000)]) {
          const admission = await backend.callbacks.admit(id);
          if (admission.kind !== 'admitted') throw new Error(admission.kind);
          expect((await backend.callbacks.receive(admission.callback, webhookOf(body))).kind).toBe('stored');
        }
        time.pass(300_000);
        const { callbacks } = await reopen();
        expect(callbacks.capacity.claimedBytes).toBe(backend.callbacks.capacity.claimedBytes);
        const authorized = await callbacks.authorize(id, readToken);
        if (authorized.kind !== 'allowed') throw new Error(authorized.kind);
        expect(authorized.callback.expiresAtMs).toBe(expiresAtMs);
        const listing = await callbacks.events(authorized.callback);
        const events = listing.kind === 'events' ? await Promise.all(listing.events.map(jsonOf)) : [];
        const bodies = events.map((event) => JSON.parse(event as string).body);
        expect(bodies).toEqual(['short', 'y'.repeat(9_000)]);
        time.pass(300_000);
        await settle();
        expect(await callbacks.authorize(id, readToken)).toEqual({ kind: 'expired' });
      }));
  });
}
