import { describe, expect, it } from 'vitest';
import { identifierClaim, type PaymentIdentifier } from '../../../src/payment/protocol/identifier.ts';
import {
  ANSWER_BYTES_CLAIMED,
  KEPT_MS,
  type KeptAnswer,
  RecordInDoubtError,
  type Reservation,
} from '../../../src/payment/reservations.ts';
import type { AnswerRoom } from '../../../src/storage/memory/kept-answers.ts';
import type { ReservationOptions } from '../../../src/storage/memory/reservations.ts';
import { orderFor } from '../../payment/fixture.ts';
import { describeReservations } from '../../suites/reservations.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { memoryReservations, NO_JOURNAL } from '../../support/memory-reservations.ts';
import { SALE } from '../../support/sale.ts';

describeReservations('reservations in memory', (time, countMax) => memoryReservations(time, { countMax }));

describe('reservations in memory, over the records of a journal', () => {
  it('refuse an authorization that may have been used before a state was lost, until its window is over', () => {
    const usedBeforeSeconds = 2_000_000_150;
    const loaded = { ends: [], cases: [], answers: [], usedBeforeSeconds, lastSerial: 0 };
    const store = memoryReservations(new ManualTime(), { loaded });
    const reserved = (validBeforeSeconds: number): string =>
      store.reserve(orderFor({ validBeforeSeconds }).key, validBeforeSeconds, []).kind;
    expect(reserved(usedBeforeSeconds - 30)).toBe('unavailable');
    expect(reserved(usedBeforeSeconds)).toBe('unavailable');
    expect(reserved(usedBeforeSeconds + 1)).toBe('reserved');
  });

  it.each([
    ['was not recorded', new Error('disk full'), undefined],
    ['may be on record', new RecordInDoubtError('power lost'), { kind: 'settling' }],
  ])('let go of an authorization whose intent %s only if nothing can come of it', async (_, failure, status) => {
    const journal = { ...NO_JOURNAL, recordIntent: () => Promise.reject(failure) };
    const store = memoryReservations(new ManualTime(), { journal });
    const order = orderFor();
    const reserved = store.reserve(order.key, order.authorization.validBeforeSeconds, []);
    if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
    await expect(store.recordIntent(reserved.reservation, order, SALE)).rejects.toBe(failure);
    if (status === undefined) store.release(reserved.reservation);
    else expect(() => store.release(reserved.reservation)).toThrow('settling');
    expect(store.statusOf(order.key)).toEqual(status);
  });

  it('refuse two records of one authorization', () => {
    const order = orderFor();
    const cases = [1, 2].map((serial) => ({
      serial,
      order,
      sale: SALE,
      transaction: '',
      isRefused: false,
      isRepeatable: true,
    }));
    const loaded = { ends: [], cases, answers: [], usedBeforeSeconds: 0, lastSerial: 2 };
    expect(() => memoryReservations(new ManualTime(), { loaded })).toThrow('two records');
  });

  it('keep a case of another kind of settlement as unknown and do not hand it over', () => {
    const order = orderFor();
    const cases = [{ serial: 1, order, sale: SALE, transaction: '', isRefused: false, isRepeatable: false }];
    const loaded = { ends: [], cases, answers: [], usedBeforeSeconds: 0, lastSerial: 1 };
    const store = memoryReservations(new ManualTime(), { loaded });
    store.handOver(() => expect.unreachable());
    expect(store.statusOf(order.key)).toEqual({ kind: 'unknown', transaction: '' });
  });
});

describe('reservations in memory, in size', () => {
  it('hold no memory of released reservations', () => {
    const store = memoryReservations(new ManualTime(), { countMax: 2 });
    const { key, authorization } = orderFor();
    for (let i = 0; i < 10_000; i++) {
      const reserved = store.reserve(key, authorization.validBeforeSeconds, []);
      if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
      store.release(reserved.reservation);
    }
    expect(store.count).toBe(0);
  });

  function inRoom(room: AnswerRoom, options: Partial<ReservationOptions> = {}) {
    const time = new ManualTime();
    const store = memoryReservations(time, { room, ...options });
    const claimOf = (n: number) =>
      identifierClaim(`order-000000000${n}` as PaymentIdentifier, 'GET /', orderFor().payer);
    const reserve = (n: number, payment = n) => {
      const order = orderFor({ nonce: `0x${String(payment).repeat(64)}` });
      return { order, reserved: store.reserve(order.key, order.authorization.validBeforeSeconds, [claimOf(n)]) };
    };
    const begin = async (n: number, byteCount: number): Promise<Reservation> => {
      const { order, reserved } = reserve(n);
      if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
      await store.recordIntent(reserved.reservation, order, SALE, [new Uint8Array(byteCount)]);
      return reserved.reservation;
    };
    const sell = async (n: number, byteCount: number): Promise<Omit<KeptAnswer, 'transaction'>> => {
      const reservation = await begin(n, byteCount);
      await store.recordSettled(reservation, `0x${'ab'.repeat(32)}`);
      return { serial: reservation.serial, digest: claimOf(n).digest };
    };
    return { time, store, begin, sell, kindOf: (n: number, payment = n): string => reserve(n, payment).reserved.kind };
  }

  it.each([
    [100, 'reserved'],
    [101, 'no-room'],
  ])('count an answer by its own %d bytes once it is known: another purchase is %s', async (byteCount, kind) => {
    const kit = inRoom({ countMax: 2, bytesMax: ANSWER_BYTES_CLAIMED + 100 });
    await kit.sell(1, byteCount);
    expect(kit.kindOf(2)).toBe(kind);
  });

  it.each([
    [100, 'reserved'],
    [101, 'no-room'],
  ])('count an answer of %d bytes in the place of a shorter draft: another purchase is %s', async (byteCount, kind) => {
    const kit = inRoom({ countMax: 2, bytesMax: ANSWER_BYTES_CLAIMED + 100 });
    await kit.store.replaceKept(await kit.sell(1, 10), new Uint8Array(byteCount));
    expect(kit.kindOf(2)).toBe(kind);
  });

  it('leave the claim of a later purchase as it is when an answer is put in its draft’s place too late', async () => {
    const kit = inRoom({ countMax: 3, bytesMax: ANSWER_BYTES_CLAIMED + 100 });
    const replaced = kit.store.replaceKept(await kit.sell(1, 10), new Uint8Array(100));
    kit.time.pass(KEPT_MS);
    expect(kit.kindOf(1, 2)).toBe('reserved');
    await replaced;
    expect(kit.kindOf(3)).toBe('no-room');
  });

  it('give the room of every answer to other purchases when their ten minutes are over', async () => {
    const kit = inRoom({ countMax: 2, bytesMax: 4 * ANSWER_BYTES_CLAIMED });
    await kit.sell(1, 100);
    await kit.sell(2, 100);
    kit.time.pass(KEPT_MS - 1);
    expect(kit.kindOf(3)).toBe('no-room');
    kit.time.pass(1);
    expect([3, 4, 5].map((n) => kit.kindOf(n))).toEqual(['reserved', 'reserved', 'no-room']);
  });

  it('give the room of a purchase back once, though its release is recorded twice at once', async () => {
    const kit = inRoom({ countMax: 4, bytesMax: 2 * ANSWER_BYTES_CLAIMED });
    const reservation = await kit.begin(1, ANSWER_BYTES_CLAIMED);
    await Promise.all([kit.store.recordReleased(reservation), kit.store.recordReleased(reservation)]);
    expect([2, 3, 4].map((n) => kit.kindOf(n))).toEqual(['reserved', 'reserved', 'no-room']);
  });

  it.each([
    [100, 'reserved'],
    [101, 'no-room'],
  ])('count an answer of an earlier process by its %d bytes: another purchase is %s', (byteCount, kind) => {
    const claim = identifierClaim('order-0000000009' as PaymentIdentifier, 'GET /', orderFor().payer);
    const answers = [{ claim, serial: 1, byteCount, transaction: '', keptUntilMs: undefined }];
    const loaded = { ends: [], cases: [], answers, usedBeforeSeconds: 0, lastSerial: 1 };
    expect(inRoom({ countMax: 2, bytesMax: ANSWER_BYTES_CLAIMED + 100 }, { loaded }).kindOf(2)).toBe(kind);
  });

  it('accept only their own reservations', () => {
    const store = memoryReservations(new ManualTime());
    const { key } = orderFor();
    expect(() =>
      store.release({ key, serial: 1, validBeforeSeconds: 0, isTakenOver: false, isRefused: false }),
    ).toThrow();
  });
});
