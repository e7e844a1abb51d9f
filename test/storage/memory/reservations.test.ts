import { describe, expect, it } from 'vitest';
import { identifierClaim, type PaymentIdentifier } from '../../../src/payment/protocol/identifier.ts';
import { ANSWER_BYTES_MAX } from '../../../src/payment/reservations.ts';
import { MemoryReservations } from '../../../src/storage/memory/reservations.ts';
import { orderFor } from '../../payment/fixture.ts';
import { describeReservations } from '../../suites/reservations.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { SALE } from '../../support/sale.ts';

describeReservations('reservations in memory', (time, countMax) => new MemoryReservations(time, countMax));

describe('reservations in memory, over the records of a journal', () => {
  it('refuse an authorization that may have been used before a state was lost, until its window is over', () => {
    const usedBeforeSeconds = 2_000_000_150;
    const loaded = { ends: [], cases: [], answers: [], usedBeforeSeconds, lastSerial: 0 };
    const store = new MemoryReservations(new ManualTime(), 100, undefined, loaded);
    const reserved = (validBeforeSeconds: number): string =>
      store.reserve(orderFor({ validBeforeSeconds }).key, validBeforeSeconds).kind;
    expect(reserved(usedBeforeSeconds - 30)).toBe('unavailable');
    expect(reserved(usedBeforeSeconds)).toBe('unavailable');
    expect(reserved(usedBeforeSeconds + 1)).toBe('reserved');
  });

  it('refuse two records of one authorization', () => {
    const order = orderFor();
    const cases = [1, 2].map((serial) => ({ serial, order, sale: SALE, transaction: '', isRepeatable: true }));
    const loaded = { ends: [], cases, answers: [], usedBeforeSeconds: 0, lastSerial: 2 };
    expect(() => new MemoryReservations(new ManualTime(), 100, undefined, loaded)).toThrow('two records');
  });

  it('keep a case of another kind of settlement as unknown and do not hand it over', () => {
    const order = orderFor();
    const cases = [{ serial: 1, order, sale: SALE, transaction: '', isRepeatable: false }];
    const loaded = { ends: [], cases, answers: [], usedBeforeSeconds: 0, lastSerial: 1 };
    const store = new MemoryReservations(new ManualTime(), 100, undefined, loaded);
    store.handOver(() => expect.unreachable());
    expect(store.statusOf(order.key)).toEqual({ kind: 'unknown', transaction: '' });
  });
});

describe('reservations in memory, in size', () => {
  it('hold no memory of released reservations', () => {
    const store = new MemoryReservations(new ManualTime(), 2);
    const { key, authorization } = orderFor();
    for (let i = 0; i < 10_000; i++) {
      const reserved = store.reserve(key, authorization.validBeforeSeconds);
      if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
      store.release(reserved.reservation);
    }
    expect(store.count).toBe(0);
  });

  it.each([
    [100, 'reserved'],
    [101, 'no-room'],
  ])('count an answer of %d bytes in the place of a shorter draft: another purchase is %s', async (byteCount, kind) => {
    const room = { countMax: 2, bytesMax: ANSWER_BYTES_MAX + 100 };
    const store = new MemoryReservations(new ManualTime(), 10, undefined, undefined, undefined, room);
    const reserve = (n: number) => {
      const order = orderFor({ nonce: `0x${String(n).repeat(64)}` });
      const claim = identifierClaim(`order-000000000${n}` as PaymentIdentifier, 'GET /', order.payer);
      return { order, reserved: store.reserve(order.key, order.authorization.validBeforeSeconds, claim) };
    };
    const { order, reserved } = reserve(1);
    if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
    await store.recordIntent(reserved.reservation, order, SALE, new Uint8Array(10));
    await store.recordSettled(reserved.reservation, `0x${'ab'.repeat(32)}`);
    await store.replaceKept(reserved.reservation, new Uint8Array(byteCount));
    expect(reserve(2).reserved.kind).toBe(kind);
  });

  it('accept only their own reservations', () => {
    const store = new MemoryReservations(new ManualTime());
    const { key } = orderFor();
    expect(() => store.release({ key, serial: 1, validBeforeSeconds: 0 })).toThrow();
  });
});
