/** What every store promises of payment identifiers and their kept answers (decisions §4). The test owns the clock. */
import { describe, expect, it } from 'vitest';
import { identifierClaim, type PaymentIdentifier } from '../../src/payment/protocol/identifier.ts';
import type { PaymentOrder } from '../../src/payment/protocol/order.ts';
import {
  ANSWER_BYTES_MAX,
  KEPT_MS,
  type KeptAnswer,
  type Reservation,
  type Reserved,
} from '../../src/payment/reservations.ts';
import type { Backend } from '../../src/storage/backend.ts';
import { orderFor } from '../payment/fixture.ts';
import type { ManualTime } from '../support/manual-time.ts';
import { SALE } from '../support/sale.ts';
import { unsettledOf } from '../support/unsettled.ts';
import { type OpenedBackend, withRemoved } from './opened.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const SEALED = Uint8Array.of(1, 2, 3);

/** One identifier, or several. */
type Names = number | readonly number[];

/** Each has its own answer. */
const sealedFor = (n: Names): Uint8Array[] => [n].flat().map((_, i) => (i === 0 ? SEALED : Uint8Array.of(i)));

/** @param open an empty backend */
export function describeIdentifiers(name: string, open: (time: ManualTime) => Promise<OpenedBackend>): void {
  const idOf = (n: number): PaymentIdentifier => `pay_${String(n).padStart(20, '0')}` as PaymentIdentifier;

  const using = (test: (kit: Kit, time: ManualTime) => Promise<void>) =>
    withRemoved(open, (opened, time) => test(new Kit(opened, time), time));

  class Kit {
    backend: Backend;
    readonly #opened: OpenedBackend;
    readonly #time: ManualTime;

    constructor(opened: OpenedBackend, time: ManualTime) {
      this.backend = opened.backend;
      this.#opened = opened;
      this.#time = time;
    }

    order(): PaymentOrder {
      return orderFor({ validAfterSeconds: 0, validBeforeSeconds: Math.floor(this.#time.nowMs() / 1000) + 120 });
    }

    async reserve(order: PaymentOrder, n: Names = 1, question = 'GET /ask'): Promise<Reserved> {
      const claims = [n].flat().map((one) => identifierClaim(idOf(one), question, order.payer));
      return this.backend.reservations.reserve(order.key, order.authorization.validBeforeSeconds, claims);
    }

    async taken(order: PaymentOrder, n: Names = 1): Promise<Reservation> {
      const reserved = await this.reserve(order, n);
      if (reserved.kind !== 'reserved') throw new Error(`expected a reservation, got ${reserved.kind}`);
      return reserved.reservation;
    }

    async settling(n: Names = 1): Promise<Reservation> {
      const order = this.order();
      const held = await this.taken(order, n);
      await this.backend.reservations.recordIntent(held, order, SALE, sealedFor(n));
      return held;
    }

    async settled(n: Names = 1): Promise<Reservation> {
      const held = await this.settling(n);
      await this.backend.reservations.recordSettled(held, HASH);
      return held;
    }

    async dead(n: Names = 1, hash = ''): Promise<void> {
      const held = await this.settling(n);
      await this.backend.reservations.recordUnknown(held, hash);
      await this.backend.reservations.recordDead(held);
    }

    /** The answer that is kept for an identifier. */
    async kept(n: Names): Promise<{ readonly kept: KeptAnswer; readonly sealed: Uint8Array | undefined }> {
      const known = await this.reserve(this.order(), n);
      if (known.kind !== 'kept') throw new Error(`expected a kept answer, got ${known.kind}`);
      return { kept: known.kept, sealed: await this.backend.reservations.readKept(known.kept) };
    }

    /** What further purchases are told under each of two identifiers, and under both. */
    async told(): Promise<readonly string[]> {
      const told: string[] = [];
      for (const n of [1, 2, [2, 1], [3, 2]]) {
        const reserved = await this.reserve(this.order(), n);
        if (reserved.kind === 'reserved') await this.backend.reservations.release(reserved.reservation);
        told.push(reserved.kind);
      }
      return told;
    }

    async pass(ms: number): Promise<void> {
      this.#time.pass(ms);
      await this.#opened.renewed?.();
    }

    /** @returns false where nothing outlives the process */
    async restart(): Promise<boolean> {
      if (this.#opened.reopen === undefined) return false;
      this.backend = await this.#opened.reopen();
      return true;
    }
  }

  describe(name, () => {
    it('reserve nothing more under an identifier while its purchase is under way', () =>
      using(async (kit) => {
        const held = await kit.taken(kit.order());
        expect(await kit.reserve(kit.order())).toEqual({ kind: 'under-way' });
        await kit.backend.reservations.recordIntent(held, kit.order(), SALE, [SEALED]);
        expect(await kit.reserve(kit.order())).toEqual({ kind: 'under-way' });
        await kit.backend.reservations.recordUnknown(held, HASH);
        expect(await kit.reserve(kit.order())).toEqual({ kind: 'under-way' });
        expect((await kit.reserve(kit.order(), 2)).kind).toBe('reserved');
      }));

    it('give the kept answer for ten minutes from the settlement, and then the identifier', () =>
      using(async (kit, time) => {
        const held = await kit.settled();
        const again = await kit.reserve(kit.order());
        expect(again).toMatchObject({ kind: 'kept', kept: { serial: held.serial, transaction: HASH } });
        if (again.kind !== 'kept') return;
        expect(await kit.backend.reservations.readKept(again.kept)).toEqual(SEALED);
        time.pass(KEPT_MS - 1);
        expect((await kit.reserve(kit.order())).kind).toBe('kept');
        time.pass(1);
        expect((await kit.reserve(kit.order())).kind).toBe('reserved');
      }));

    it('are free when their time is over, however many others are', () =>
      using(async (kit) => {
        for (let n = 1; n <= 20; n++) await kit.settled(n);
        await kit.pass(KEPT_MS);
        expect((await kit.reserve(kit.order(), 20)).kind).toBe('reserved');
        expect((await kit.reserve(kit.order(), 20)).kind).toBe('under-way');
      }));

    it('say first that an authorization is used, then what its identifier says', () =>
      using(async (kit) => {
        const order = kit.order();
        const held = await kit.taken(order);
        expect((await kit.reserve(order)).kind).toBe('taken');
        await kit.backend.reservations.recordIntent(held, order, SALE, [SEALED]);
        await kit.backend.reservations.recordSettled(held, HASH);
        expect(await kit.reserve(order)).toEqual({ kind: 'taken', status: { kind: 'settled', transaction: HASH } });
        expect((await kit.backend.reservations.find(order.key, []))?.kind).toBe('taken');
      }));

    it('refuse another question and another payer under an identifier', () =>
      using(async (kit) => {
        await kit.taken(kit.order(), 1);
        await kit.settling(2);
        await kit.settled(3);
        for (const n of [1, 2, 3]) {
          expect(await kit.reserve(kit.order(), n, 'GET /other')).toEqual({ kind: 'conflict', place: 0 });
          const other = { ...kit.order(), payer: `0x${'12'.repeat(20)}` as PaymentOrder['payer'] };
          expect(await kit.reserve(other, n)).toEqual({ kind: 'conflict', place: 0 });
        }
      }));

    it('free an identifier whose purchase ends uncharged', () =>
      using(async (kit) => {
        const { reservations } = kit.backend;
        await reservations.release(await kit.taken(kit.order()));
        await reservations.recordReleased(await kit.settling());
        expect((await kit.reserve(kit.order())).kind).toBe('reserved');
      }));

    it.each(['', HASH])(
      'reserve nothing for ten minutes under an identifier whose purchase ended as dead with hash “%s”, because the money may have moved',
      (hash) =>
        using(async (kit, time) => {
          await kit.dead(1, hash);
          expect(await kit.reserve(kit.order())).toEqual({ kind: 'under-way' });
          expect((await kit.reserve(kit.order(), 1, 'GET /other')).kind).toBe('conflict');
          await kit.pass(KEPT_MS - 1);
          expect(await kit.reserve(kit.order())).toEqual({ kind: 'under-way' });
          time.pass(1);
          expect((await kit.reserve(kit.order())).kind).toBe('reserved');
        }),
    );

    it('put an answer in the place of its draft', () =>
      using(async (kit) => {
        await kit.settled();
        await kit.backend.reservations.replaceKept((await kit.kept(1)).kept, Uint8Array.of(9));
        expect((await kit.kept(1)).sealed).toEqual(Uint8Array.of(9));
      }));

    it('reserve nothing under either of two identifiers of a purchase, until it ends uncharged or long enough after it is dead', () =>
      using(async (kit) => {
        const { reservations } = kit.backend;
        const order = kit.order();
        const underWay = ['under-way', 'under-way', 'under-way', 'under-way'];
        const free = ['reserved', 'reserved', 'reserved', 'reserved'];
        const first = await kit.taken(order, [1, 2]);
        expect(await kit.told()).toEqual(underWay);
        await reservations.release(first);
        expect(await kit.told()).toEqual(free);
        const refused = await kit.settling([1, 2]);
        expect(await kit.told()).toEqual(underWay);
        await reservations.recordReleased(refused);
        expect(await kit.told()).toEqual(free);
        await kit.dead([1, 2]);
        expect(await kit.told()).toEqual(underWay);
        await kit.pass(KEPT_MS);
        expect(await kit.told()).toEqual(free);
      }));

    it('keep an answer for each of two identifiers, and put another in the place of one', () =>
      using(async (kit) => {
        const { serial } = await kit.settled([1, 2]);
        expect(await kit.told()).toEqual(['kept', 'kept', 'kept', 'kept']);
        expect(await kit.kept(1)).toMatchObject({ kept: { serial, transaction: HASH }, sealed: SEALED });
        expect(await kit.kept([3, 2])).toMatchObject({ kept: { serial, transaction: HASH }, sealed: Uint8Array.of(1) });
        await kit.backend.reservations.replaceKept((await kit.kept(1)).kept, Uint8Array.of(9));
        expect([(await kit.kept(1)).sealed, (await kit.kept(2)).sealed]).toEqual([Uint8Array.of(9), Uint8Array.of(1)]);
        await kit.pass(KEPT_MS);
        expect(await kit.told()).toEqual(['reserved', 'reserved', 'reserved', 'reserved']);
      }));

    it('are taken all or none, and the first that is not free decides', () =>
      using(async (kit) => {
        await kit.settled(1);
        await kit.settling(2);
        expect((await kit.reserve(kit.order(), [3, 2])).kind).toBe('under-way');
        expect((await kit.reserve(kit.order(), [3, 1])).kind).toBe('kept');
        expect((await kit.reserve(kit.order(), [1, 2])).kind).toBe('kept');
        expect((await kit.reserve(kit.order(), [2, 1])).kind).toBe('under-way');
        expect(await kit.reserve(kit.order(), [3, 1], 'GET /other')).toEqual({ kind: 'conflict', place: 1 });
        expect((await kit.reserve(kit.order(), 3)).kind).toBe('reserved');
      }));

    it('go to one of several purchases that race for one of their identifiers', () =>
      using(async (kit) => {
        const raced = await Promise.all([1, 2, 3, 4].map((n) => kit.reserve(kit.order(), [n, 9])));
        const kinds = raced.map(({ kind }) => kind);
        expect(kinds.toSorted()).toEqual(['reserved', 'under-way', 'under-way', 'under-way']);
        const lost = kinds.indexOf('under-way') + 1;
        expect((await kit.reserve(kit.order(), lost)).kind).toBe('reserved');
      }));

    it('take no answer without an identifier, and the longest, but none that is longer', () =>
      using(async (kit) => {
        const order = kit.order();
        const { reservations } = kit.backend;
        const plain = await reservations.reserve(order.key, order.authorization.validBeforeSeconds, []);
        if (plain.kind !== 'reserved') throw new Error(plain.kind);
        await expect(reservations.recordIntent(plain.reservation, order, SALE, [SEALED])).rejects.toThrow('belong');
        const other = kit.order();
        const named = await kit.taken(other);
        await expect(reservations.recordIntent(named, other, SALE)).rejects.toThrow('belong');
        await expect(
          reservations.recordIntent(named, other, SALE, [new Uint8Array(ANSWER_BYTES_MAX + 1)]),
        ).rejects.toThrow('too long');
        const longest = new Uint8Array(ANSWER_BYTES_MAX).fill(7);
        await reservations.recordIntent(named, other, SALE, [longest]);
        await reservations.recordSettled(named, HASH);
        expect(Buffer.from((await kit.kept(1)).sealed ?? []).equals(longest)).toBe(true);
      }));

    it('know after a kill what was under way, what was kept and for how long', () =>
      using(async (kit, time) => {
        await kit.settled([1, 11]);
        await kit.settling([2, 12]);
        await kit.taken(kit.order(), [3, 13]);
        await kit.backend.reservations.recordReleased(await kit.settling(4));
        await kit.dead([5, 15], HASH);
        await kit.pass(KEPT_MS - 1000); // a renewal under way would bring the killed process back to life
        if (!(await kit.restart())) return;
        const kept = await kit.reserve(kit.order(), 1);
        if (kept.kind !== 'kept') throw new Error(kept.kind);
        expect(kept.kept.transaction).toBe(HASH);
        expect(await kit.backend.reservations.readKept(kept.kept)).toEqual(SEALED);
        expect((await kit.kept(11)).sealed).toEqual(Uint8Array.of(1));
        expect(await kit.reserve(kit.order(), 2)).toEqual({ kind: 'under-way' });
        expect(await kit.reserve(kit.order(), 12)).toEqual({ kind: 'under-way' });
        expect((await kit.reserve(kit.order(), [3, 13])).kind).toBe('reserved');
        expect((await kit.reserve(kit.order(), 4)).kind).toBe('reserved');
        expect(await kit.reserve(kit.order(), 5)).toEqual({ kind: 'under-way' });
        expect(await kit.reserve(kit.order(), 15)).toEqual({ kind: 'under-way' });
        const [unsettled] = await unsettledOf(kit.backend.reservations);
        await kit.backend.reservations.recordSettled(unsettled!.reservation, HASH);
        expect((await kit.reserve(kit.order(), 2)).kind).toBe('kept');
        expect((await kit.kept(12)).sealed).toEqual(Uint8Array.of(1));
        time.pass(1000);
        expect((await kit.reserve(kit.order(), [1, 11])).kind).toBe('reserved');
        expect((await kit.reserve(kit.order(), [5, 15])).kind).toBe('reserved');
      }));
  });
}
