/** What every store of reservations promises, whatever it is made of. The test owns the clock. */
import { describe, expect, it } from 'vitest';
import type { PaymentOrder } from '../../src/payment/protocol/order.ts';
import type { Reservation, ReservationStatus, Reservations, Reserved } from '../../src/payment/reservations.ts';
import { orderFor } from '../payment/fixture.ts';
import { ManualTime } from '../support/manual-time.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const OTHER_HASH = `0x${'cd'.repeat(32)}`;
const SECOND = 1000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** `validBefore` of 120 s and ten minutes, and then some for a store that keeps longer. */
const STAY_MS = 760 * SECOND;

/** @param open makes an empty store that holds at most `countMax` live entries */
export function describeReservations(name: string, open: (time: ManualTime, countMax: number) => Reservations): void {
  const setUp = (countMax = 1000) => {
    const time = new ManualTime();
    const store = open(time, countMax);
    const order = (validForSeconds = 120): PaymentOrder =>
      orderFor({ validBeforeSeconds: Math.floor(time.nowMs() / 1000) + validForSeconds });
    const reserve = (one: PaymentOrder): Reserved => store.reserve(one.key, one.authorization.validBeforeSeconds);
    const taken = (one: PaymentOrder): Reservation => {
      const reserved = reserve(one);
      if (reserved.kind !== 'reserved') throw new Error(`expected a reservation, got ${reserved.kind}`);
      return reserved.reservation;
    };
    return { time, store, order, reserve, taken };
  };

  describe(name, () => {
    it('gives a key to the first who asks and its standing to everybody after', () => {
      const { store, order, reserve, taken } = setUp();
      const one = order();
      expect(store.statusOf(one.key)).toBeUndefined();
      expect(taken(one).key).toBe(one.key);
      for (let i = 0; i < 3; i++) expect(reserve(one)).toEqual({ kind: 'taken', standing: { kind: 'reserved' } });
      expect(reserve(order()).kind).toBe('reserved');
    });

    const PATHS: readonly [
      string,
      (store: Reservations, held: Reservation, one: PaymentOrder) => Promise<void>,
      ReservationStatus | undefined,
    ][] = [
      ['a release', async (store, held) => store.release(held), undefined],
      ['an intent', (store, held, one) => store.recordIntent(held, one), { kind: 'settling' }],
      [
        'a settlement',
        async (store, held, one) => {
          await store.recordIntent(held, one);
          await store.recordSettled(held, HASH);
        },
        { kind: 'settled', transaction: HASH },
      ],
      [
        'a refused settlement',
        async (store, held, one) => {
          await store.recordIntent(held, one);
          await store.recordReleased(held);
        },
        undefined,
      ],
      [
        'an unknown end',
        async (store, held, one) => {
          await store.recordIntent(held, one);
          await store.recordUnknown(held, '');
        },
        { kind: 'unknown', transaction: '' },
      ],
      [
        'an unknown end whose hash is learnt and then not repeated',
        async (store, held, one) => {
          await store.recordIntent(held, one);
          await store.recordUnknown(held, '');
          await store.recordUnknown(held, OTHER_HASH);
          await store.recordUnknown(held, '');
        },
        { kind: 'unknown', transaction: OTHER_HASH },
      ],
      [
        'an unknown end that turns out settled',
        async (store, held, one) => {
          await store.recordIntent(held, one);
          await store.recordUnknown(held, OTHER_HASH);
          await store.recordSettled(held, HASH);
        },
        { kind: 'settled', transaction: HASH },
      ],
      [
        'an unknown end that turns out refused',
        async (store, held, one) => {
          await store.recordIntent(held, one);
          await store.recordUnknown(held, '');
          await store.recordReleased(held);
        },
        undefined,
      ],
      [
        'an unknown end that is never learnt',
        async (store, held, one) => {
          await store.recordIntent(held, one);
          await store.recordUnknown(held, HASH);
          await store.recordDead(held);
        },
        { kind: 'dead', transaction: HASH },
      ],
    ];
    it.each(PATHS)('says where a key stands after %s', async (_, path, standing) => {
      const { store, order, reserve, taken } = setUp();
      const one = order();
      await path(store, taken(one), one);
      expect(store.statusOf(one.key)).toEqual(standing);
      expect(reserve(one)).toEqual(
        standing === undefined ? expect.objectContaining({ kind: 'reserved' }) : { kind: 'taken', standing },
      );
    });

    it('throws for a step that does not exist, and keeps what it had', async () => {
      const { store, order, taken } = setUp();
      const one = order();
      const held = taken(one);
      await expect((async () => store.recordSettled(held, HASH))()).rejects.toThrow();
      await expect((async () => store.recordDead(held))()).rejects.toThrow();
      await store.recordIntent(held, one);
      expect(() => store.release(held)).toThrow();
      await store.recordSettled(held, HASH);
      await expect((async () => store.recordReleased(held))()).rejects.toThrow();
      expect(store.statusOf(one.key)).toEqual({ kind: 'settled', transaction: HASH });
    });

    it('takes a right that was given back for none, even when somebody else holds the key now', () => {
      const { store, order, taken } = setUp();
      const one = order();
      const first = taken(one);
      store.release(first);
      taken(one);
      expect(() => store.release(first)).toThrow();
      expect(store.statusOf(one.key)).toEqual({ kind: 'reserved' });
    });

    it('refuses when it is full, drops nothing, and has room again after a release', async () => {
      const { store, order, reserve, taken } = setUp(3);
      const [a, b, c] = [order(), order(), order()];
      const held = [taken(a), taken(b), taken(c)] as const;
      await store.recordIntent(held[0], a);
      await store.recordSettled(held[0], HASH);
      for (let i = 0; i < 10; i++) expect(reserve(order())).toEqual({ kind: 'full' });
      expect(reserve(a)).toEqual({ kind: 'taken', standing: { kind: 'settled', transaction: HASH } });
      store.release(held[1]);
      expect(reserve(order()).kind).toBe('reserved');
      expect(reserve(order())).toEqual({ kind: 'full' });
    });

    const settledOne = async (kit: ReturnType<typeof setUp>): Promise<PaymentOrder> => {
      const one = kit.order();
      const held = kit.taken(one);
      await kit.store.recordIntent(held, one);
      await kit.store.recordSettled(held, HASH);
      return one;
    };
    const isUsed = (kit: ReturnType<typeof setUp>, one: PaymentOrder): boolean => {
      kit.reserve(kit.order()); // any later request
      return kit.store.statusOf(one.key)?.kind === 'settled';
    };

    it('keeps what was used until ten minutes after its window, and lets it go some time later', async () => {
      const kit = setUp();
      const one = await settledOne(kit);
      kit.time.pass(719 * SECOND);
      expect(isUsed(kit, one)).toBe(true);
      kit.time.pass(STAY_MS);
      expect(isUsed(kit, one)).toBe(false);
    });

    it('lets go of a thousand as fast as a thousand come', async () => {
      const kit = setUp(1000);
      for (let i = 0; i < 1000; i++) await settledOne(kit);
      expect(kit.reserve(kit.order())).toEqual({ kind: 'full' });
      kit.time.pass(STAY_MS);
      for (let i = 0; i < 1000; i++) expect(kit.reserve(kit.order()).kind).toBe('reserved');
    });

    it.each([-DAY, -HOUR, HOUR, DAY])(
      'keeps what was used when the wall clock steps by %i ms (reliability 71)',
      async (step) => {
        const kit = setUp();
        const one = await settledOne(kit);
        kit.time.stepWall(step);
        for (let i = 0; i < 7; i++) {
          expect(isUsed(kit, one)).toBe(true);
          kit.time.pass(100 * SECOND);
        }
        kit.time.stepWall(-step);
        expect(isUsed(kit, one)).toBe(true);
      },
    );

    it('keeps what was used for as long as a clock that was set back makes it look fresh', async () => {
      const kit = setUp();
      const one = await settledOne(kit);
      kit.time.stepWall(-DAY);
      for (let i = 0; i < 24; i++) {
        kit.time.pass(HOUR);
        expect(isUsed(kit, one)).toBe(true);
      }
      for (let i = 0; i < 3; i++) {
        kit.time.pass(STAY_MS);
        kit.reserve(kit.order());
      }
      expect(isUsed(kit, one)).toBe(false);
    });

    it('never lets go of an authorization whose settlement has no end yet', async () => {
      const kit = setUp();
      const one = kit.order();
      const held = kit.taken(one);
      await kit.store.recordIntent(held, one);
      await kit.store.recordUnknown(held, '');
      kit.time.pass(DAY);
      for (let i = 0; i < 10; i++) kit.reserve(kit.order());
      expect(kit.store.statusOf(one.key)).toEqual({ kind: 'unknown', transaction: '' });
    });
  });
}
