/** What every store of reservations promises, whether it answers now or later. The test owns the clock. */
import { describe, expect, it } from 'vitest';
import type { MaybePromise } from '../../src/base/maybe-promise.ts';
import type { PaymentOrder } from '../../src/payment/protocol/order.ts';
import type { Reservation, ReservationStatus, Reservations, Reserved } from '../../src/payment/reservations.ts';
import { orderFor } from '../payment/fixture.ts';
import { Chance } from '../support/chance.ts';
import { ManualTime, settle } from '../support/manual-time.ts';
import { SALE } from '../support/sale.ts';
import { unsettledOf } from '../support/unsettled.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const OTHER_HASH = `0x${'cd'.repeat(32)}`;
const SECOND = 1000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** `validBefore` of 120 s and ten minutes, and then some for a store that keeps longer. */
const RETAINED_MS = 760 * SECOND;

/**
 * @param open makes an empty store that holds at most `countMax` live authorizations
 * @param isBounded false: it holds as many as its disk
 */
export function describeReservations(
  name: string,
  open: (time: ManualTime, countMax: number) => MaybePromise<Reservations>,
  isBounded = true,
): void {
  const setUp = async (countMax = 1000) => {
    const time = new ManualTime();
    const store = await open(time, countMax);
    const order = (validForSeconds = 120): PaymentOrder =>
      orderFor({ validBeforeSeconds: Math.floor(time.nowMs() / 1000) + validForSeconds });
    const reserve = async (one: PaymentOrder): Promise<Reserved> =>
      store.reserve(one.key, one.authorization.validBeforeSeconds, []);
    const taken = async (one: PaymentOrder): Promise<Reservation> => {
      const reserved = await reserve(one);
      if (reserved.kind !== 'reserved') throw new Error(`expected a reservation, got ${reserved.kind}`);
      return reserved.reservation;
    };
    return { time, store, order, reserve, taken };
  };

  describe(name, () => {
    it('gives a key to the first caller and its status to every later one', async () => {
      const { store, order, reserve, taken } = await setUp();
      const one = order();
      expect(await store.statusOf(one.key)).toBeUndefined();
      expect((await taken(one)).key).toBe(one.key);
      for (let i = 0; i < 3; i++) expect(await reserve(one)).toEqual({ kind: 'taken', status: { kind: 'reserved' } });
      expect((await reserve(order())).kind).toBe('reserved');
      expect(store.count).toBe(2);
    });

    it('gives a key to exactly one of many concurrent callers, whatever turns lie between them', async () => {
      const { store, order } = await setUp();
      const random = new Chance(7);
      const reserveLater = async (one: PaymentOrder): Promise<Reserved> => {
        for (let turns = random.below(6); turns > 0; turns--) await Promise.resolve();
        if (random.below(4) === 0) await settle();
        return store.reserve(one.key, one.authorization.validBeforeSeconds, []);
      };
      for (let round = 0; round < 20; round++) {
        const [one, other] = [order(), order()];
        const reserved = await Promise.all(
          Array.from({ length: 40 }, (_, i) => reserveLater(i % 2 === 0 ? one : other)),
        );
        for (const [parity, { key }] of [one, other].entries()) {
          const ofKey = reserved.filter((_, i) => i % 2 === parity);
          const winners = ofKey.flatMap((each) => (each.kind === 'reserved' ? [each.reservation] : []));
          expect(winners.map((winner) => winner.key)).toEqual([key]);
          const losers = ofKey.filter((each) => each.kind !== 'reserved');
          expect(losers).toEqual(Array(19).fill({ kind: 'taken', status: { kind: 'reserved' } }));
          await store.release(winners[0]!);
        }
      }
      expect(store.count).toBe(0);
    });

    it('gives a key that is settling or has ended to none of many concurrent callers', async () => {
      const { store, order, taken, reserve } = await setUp();
      const one = order();
      const held = await taken(one);
      const recording = store.recordIntent(held, one, SALE);
      const during = await Promise.all(Array.from({ length: 10 }, () => reserve(one)));
      await recording;
      await store.recordSettled(held, HASH);
      const after = await Promise.all(Array.from({ length: 10 }, () => reserve(one)));
      expect([...during, ...after].filter(({ kind }) => kind !== 'taken')).toEqual([]);
    });

    const PATHS: readonly [
      string,
      (store: Reservations, held: Reservation, one: PaymentOrder) => Promise<void>,
      ReservationStatus | undefined,
    ][] = [
      ['a release', async (store, held) => store.release(held), undefined],
      ['an intent', (store, held, one) => store.recordIntent(held, one, SALE), { kind: 'settling' }],
      [
        'a settlement',
        async (store, held, one) => {
          await store.recordIntent(held, one, SALE);
          await store.recordSettled(held, HASH);
        },
        { kind: 'settled', transaction: HASH },
      ],
      [
        'a refused settlement',
        async (store, held, one) => {
          await store.recordIntent(held, one, SALE);
          await store.recordReleased(held);
        },
        undefined,
      ],
      [
        'an unknown end',
        async (store, held, one) => {
          await store.recordIntent(held, one, SALE);
          expect(await store.isHeld(held)).toBe(true);
          await store.recordUnknown(held, '');
          expect(held.isRefused).toBe(false);
          await store.recordUnknown(held, '', true);
          expect(held.isRefused).toBe(true);
        },
        { kind: 'unknown', transaction: '' },
      ],
      [
        'an unknown end whose hash is learnt and then not repeated',
        async (store, held, one) => {
          await store.recordIntent(held, one, SALE);
          await store.recordUnknown(held, '');
          await store.recordUnknown(held, OTHER_HASH);
          await store.recordUnknown(held, '');
        },
        { kind: 'unknown', transaction: OTHER_HASH },
      ],
      [
        'an unknown end that turns out settled',
        async (store, held, one) => {
          await store.recordIntent(held, one, SALE);
          await store.recordUnknown(held, OTHER_HASH);
          await store.recordSettled(held, HASH);
        },
        { kind: 'settled', transaction: HASH },
      ],
      [
        'an unknown end that turns out refused',
        async (store, held, one) => {
          await store.recordIntent(held, one, SALE);
          await store.recordUnknown(held, '');
          await store.recordReleased(held);
        },
        undefined,
      ],
      [
        'an unknown end that is never learnt',
        async (store, held, one) => {
          await store.recordIntent(held, one, SALE);
          await store.recordUnknown(held, HASH);
          await store.recordDead(held);
        },
        { kind: 'dead', transaction: HASH },
      ],
    ];
    it.each(PATHS)('says the status of a key after %s', async (_, path, status) => {
      const { store, order, reserve, taken } = await setUp();
      const one = order();
      await path(store, await taken(one), one);
      expect(await store.statusOf(one.key)).toEqual(status);
      expect(await reserve(one)).toEqual(
        status === undefined ? expect.objectContaining({ kind: 'reserved' }) : { kind: 'taken', status },
      );
    });

    it('throws for a step that does not exist, and keeps what it had', async () => {
      const { store, order, taken } = await setUp();
      const one = order();
      const held = await taken(one);
      await expect((async () => store.recordSettled(held, HASH))()).rejects.toThrow();
      await expect((async () => store.recordDead(held))()).rejects.toThrow();
      await store.recordIntent(held, one, SALE);
      await expect((async () => store.release(held))()).rejects.toThrow();
      await store.recordSettled(held, HASH);
      await expect((async () => store.recordReleased(held))()).rejects.toThrow();
      expect(await store.statusOf(one.key)).toEqual({ kind: 'settled', transaction: HASH });
    });

    it('refuses a reservation that was released, even when another caller holds the key now', async () => {
      const { store, order, taken } = await setUp();
      const one = order();
      const first = await taken(one);
      await store.release(first);
      await taken(one);
      await expect((async () => store.release(first))()).rejects.toThrow();
      expect(await store.statusOf(one.key)).toEqual({ kind: 'reserved' });
    });

    it('refuses a copy of a reservation', async () => {
      const { store, order, taken } = await setUp();
      const one = order();
      const held = await taken(one);
      await expect((async () => store.release({ ...held }))()).rejects.toThrow();
      expect(await store.statusOf(one.key)).toEqual({ kind: 'reserved' });
    });

    it('has no unsettled cases when it is new', async () => {
      const { store } = await setUp();
      expect(await unsettledOf(store)).toEqual([]);
    });

    it.runIf(isBounded)('refuses when it is full, drops nothing, and has room again after a release', async () => {
      const { store, order, reserve, taken } = await setUp(3);
      const [a, b, c] = [order(), order(), order()];
      const held = [await taken(a), await taken(b), await taken(c)] as const;
      await store.recordIntent(held[0], a, SALE);
      await store.recordSettled(held[0], HASH);
      for (let i = 0; i < 10; i++) expect(await reserve(order())).toEqual({ kind: 'full' });
      expect(await reserve(a)).toEqual({ kind: 'taken', status: { kind: 'settled', transaction: HASH } });
      await store.release(held[1]);
      expect((await reserve(order())).kind).toBe('reserved');
      expect(await reserve(order())).toEqual({ kind: 'full' });
    });

    const settledOne = async (kit: Awaited<ReturnType<typeof setUp>>): Promise<PaymentOrder> => {
      const one = kit.order();
      const held = await kit.taken(one);
      await kit.store.recordIntent(held, one, SALE);
      await kit.store.recordSettled(held, HASH);
      return one;
    };
    const isUsed = async (kit: Awaited<ReturnType<typeof setUp>>, one: PaymentOrder): Promise<boolean> => {
      await kit.reserve(kit.order()); // any later request
      return (await kit.store.statusOf(one.key))?.kind === 'settled';
    };

    it('keeps what was used until ten minutes after its window, and lets it go some time later', async () => {
      const kit = await setUp();
      const one = await settledOne(kit);
      kit.time.pass(719 * SECOND);
      expect(await isUsed(kit, one)).toBe(true);
      kit.time.pass(RETAINED_MS);
      expect(await isUsed(kit, one)).toBe(false);
    });

    it.runIf(isBounded)('lets go of a thousand as fast as a thousand come', async () => {
      const kit = await setUp(1000);
      for (let i = 0; i < 1000; i++) await settledOne(kit);
      expect(await kit.reserve(kit.order())).toEqual({ kind: 'full' });
      kit.time.pass(RETAINED_MS);
      for (let i = 0; i < 1000; i++) expect((await kit.reserve(kit.order())).kind).toBe('reserved');
    });

    it.each([-DAY, -HOUR, HOUR, DAY])(
      'keeps what was used when the wall clock steps by %i ms (reliability 71)',
      async (step) => {
        const kit = await setUp();
        const one = await settledOne(kit);
        kit.time.stepWall(step);
        for (let i = 0; i < 7; i++) {
          expect(await isUsed(kit, one)).toBe(true);
          kit.time.pass(100 * SECOND);
        }
        kit.time.stepWall(-step);
        expect(await isUsed(kit, one)).toBe(true);
      },
    );

    it('keeps what was used for as long as a clock that was set back makes it look fresh', async () => {
      const kit = await setUp();
      const one = await settledOne(kit);
      kit.time.stepWall(-DAY);
      for (let i = 0; i < 24; i++) {
        kit.time.pass(HOUR);
        expect(await isUsed(kit, one)).toBe(true);
      }
      for (let i = 0; i < 3; i++) {
        kit.time.pass(RETAINED_MS);
        await kit.reserve(kit.order());
      }
      expect(await isUsed(kit, one)).toBe(false);
    });

    it('never lets go of an authorization whose settlement has no end yet', async () => {
      const kit = await setUp();
      const one = kit.order();
      const held = await kit.taken(one);
      await kit.store.recordIntent(held, one, SALE);
      await kit.store.recordUnknown(held, '');
      kit.time.pass(DAY);
      for (let i = 0; i < 10; i++) await kit.reserve(kit.order());
      expect(await kit.store.statusOf(one.key)).toEqual({ kind: 'unknown', transaction: '' });
    });
  });
}
