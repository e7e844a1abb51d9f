import { describe, expect, it } from 'vitest';
import { MemoryReservations } from '../../../src/storage/memory/reservations.ts';
import { orderFor } from '../../payment/fixture.ts';
import { describeReservations } from '../../suites/reservations.ts';
import { ManualTime } from '../../support/manual-time.ts';

describeReservations('reservations in memory', (time, countMax) => new MemoryReservations(time, countMax));

describe('reservations in memory, in size', () => {
  it('hold nothing of what was released, however often', () => {
    const store = new MemoryReservations(new ManualTime(), 2);
    const { key, authorization } = orderFor();
    for (let i = 0; i < 10_000; i++) {
      const reserved = store.reserve(key, authorization.validBeforeSeconds);
      if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
      store.release(reserved.reservation);
    }
    expect(store.count).toBe(0);
  });

  it('take only their own reservations', () => {
    const store = new MemoryReservations(new ManualTime());
    const { key } = orderFor();
    expect(() => store.release({ key, validBeforeSeconds: 0 })).toThrow();
  });
});
