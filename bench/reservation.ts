/**
 * Reserving an authorization in memory, among many that are live; bench/state.ts measures what durability adds. The index of
 * used keys grows fourfold at a time: the last time on the way to a million takes 57 ms on Node 26 and 33 on Bun 1.4.5.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import type { Clock } from '../src/base/clock.ts';
import { encodeHex } from '../src/base/codec.ts';
import { systemRandom } from '../src/base/random.ts';
import { BASE } from '../src/payment/protocol/network.ts';
import { type ReservationKey, reservationKeyOf } from '../src/payment/protocol/order.ts';
import { NOW_MS, NOW_SECONDS, orderFor } from '../test/payment/fixture.ts';
import { memoryReservations } from '../test/support/memory-reservations.ts';
import { SALE } from '../test/support/sale.ts';
import { type Context, type Figure, heapBytes, sized, timed, timedAsync } from './harness.ts';

const PAYER = `0x${'ab'.repeat(20)}`;
const VALID_BEFORE_SECONDS = NOW_SECONDS + 120;

/** A clock that stands still: nothing falls due while something else is measured. */
const CLOCK: Clock = { nowMs: () => NOW_MS, monotonicMs: () => NOW_MS };

const newKey = (): ReservationKey => reservationKeyOf(BASE, PAYER, encodeHex(systemRandom.bytes(32)));

export async function measure({ size }: Context): Promise<Figure[]> {
  const liveCount = sized(size, 10_000, 900_000);
  const order = orderFor();
  const before = heapBytes();
  const reservations = memoryReservations(CLOCK);
  for (let i = 0; i < liveCount; i++) {
    const reserved = reservations.reserve(newKey(), VALID_BEFORE_SECONDS, []);
    if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
    await reservations.recordIntent(reserved.reservation, order, SALE);
    await reservations.recordSettled(reserved.reservation, order.signature.slice(0, 66));
  }
  const bytesEach = (heapBytes() - before) / liveCount;
  deepStrictEqual(reservations.count, liveCount);

  const used = newKey();
  const reserved = reservations.reserve(used, VALID_BEFORE_SECONDS, []);
  ok(reserved.kind === 'reserved');
  await reservations.recordIntent(reserved.reservation, order, SALE);
  await reservations.recordSettled(reserved.reservation, order.signature.slice(0, 66));
  deepStrictEqual(reservations.reserve(used, VALID_BEFORE_SECONDS, []).kind, 'taken');
  const keys = Array.from({ length: 4096 }, newKey);
  let turn = 0;
  const note = `${liveCount} live`;
  const figures: Figure[] = [
    await timed(
      'reserved and released',
      size,
      () => {
        const reserved = reservations.reserve(keys[turn++ % keys.length]!, VALID_BEFORE_SECONDS, []);
        if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
        reservations.release(reserved.reservation);
      },
      note,
    ),
    await timedAsync('reserved, intended, released', size, async () => {
      const reserved = reservations.reserve(keys[turn++ % keys.length]!, VALID_BEFORE_SECONDS, []);
      if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
      await reservations.recordIntent(reserved.reservation, order, SALE);
      await reservations.recordReleased(reserved.reservation);
    }),
    await timed('a used one refused', size, () => reservations.reserve(used, VALID_BEFORE_SECONDS, [])),
    { name: 'heap of a settled one', value: bytesEach, unit: 'B', note },
  ];
  deepStrictEqual(reservations.count, liveCount + 1);
  return figures;
}
