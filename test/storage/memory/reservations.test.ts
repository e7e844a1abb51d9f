import { describe, expect, it } from 'vitest';
import { RecordInDoubtError } from '../../../src/base/outage.ts';
import { identifierClaim, type PaymentIdentifier } from '../../../src/payment/protocol/identifier.ts';
import { WINDOW_SECONDS_MAX } from '../../../src/payment/protocol/network.ts';
import {
  ANSWER_BYTES_CLAIMED,
  KEPT_MS,
  type KeptAnswer,
  RETENTION_SECONDS,
  type Reservation,
  type UnsettledCase,
} from '../../../src/payment/reservations.ts';
import type { AnswerRoom } from '../../../src/storage/memory/kept-answers.ts';
import type { ReservationJournal } from '../../../src/storage/memory/reservation-journal.ts';
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

  it('let go of what an earlier process left in its time, although the clock was a year behind at start', () => {
    const YEAR_MS = 365 * 86_400_000;
    const time = new ManualTime();
    const [sold, next] = [orderFor(), orderFor({ nonce: `0x${'2'.repeat(64)}` })];
    const claim = identifierClaim('order-0000000001' as PaymentIdentifier, 'GET /', sold.payer);
    const endMs = time.nowMs() + YEAR_MS + 60_000;
    const transaction = `0x${'ab'.repeat(32)}`;
    const end = { kind: 'settled', key: sold.key, validBeforeSeconds: endMs / 1000, transaction, serial: 1 } as const;
    const answers = [{ claim, serial: 1, byteCount: 1, transaction, keptUntilMs: endMs }];
    const loaded = { ends: [end], cases: [], answers, usedBeforeSeconds: 0, lastSerial: 1 };
    const store = memoryReservations(time, { loaded });
    time.stepWall(YEAR_MS);
    expect(store.find(next.key, [claim])?.kind).toBe('kept');
    time.pass(KEPT_MS);
    expect(store.find(next.key, [claim])).toBeUndefined();
    expect(store.statusOf(sold.key)?.kind).toBe('settled');
    time.pass((WINDOW_SECONDS_MAX + RETENTION_SECONDS) * 1000);
    store.reserve(next.key, next.authorization.validBeforeSeconds, []);
    expect([store.statusOf(sold.key), store.count]).toEqual([undefined, 1]);
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

describe('reservations in memory, and their journal', () => {
  const [HASH, OTHER_HASH] = ['ab', 'cd'].map((byte) => `0x${byte.repeat(32)}`) as [string, string];
  const claimOf = (n: number) => identifierClaim(`order-000000000${n}` as PaymentIdentifier, 'GET /', orderFor().payer);
  const CLAIMS = [claimOf(1), claimOf(2)];

  /** What it writes, and whether it can. */
  function journalKit(options: Partial<ReservationOptions> = {}) {
    const written: unknown[] = [];
    const disk = { isFull: false };
    const write = async (...line: unknown[]): Promise<void> => {
      if (disk.isFull) throw new Error('disk full');
      written.push(line);
    };
    const journal: ReservationJournal = {
      ...NO_JOURNAL,
      fault: () => (disk.isFull ? 'disk full' : undefined),
      recordUnknown: (_, transaction, isRefused) => write('unknown', transaction, isRefused),
      recordEnd: (_, { kind, transaction }, sale, answers) => write(kind, transaction, sale?.operation, answers.length),
      recordReleased: () => write('released'),
      replaceAnswer: () => write('replaced'),
      forgetAnswers: (serial) => written.push(['forgotten', serial]),
    };
    const time = new ManualTime();
    const store = memoryReservations(time, { journal, ...options });
    const begun = async (nonce = '1'): Promise<Reservation> => {
      const order = orderFor({ nonce: `0x${nonce.repeat(64)}` });
      const reserved = store.reserve(order.key, order.authorization.validBeforeSeconds, nonce === '1' ? CLAIMS : []);
      if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
      const sealed = nonce === '1' ? CLAIMS.map(() => new Uint8Array(1)) : [];
      await store.recordIntent(reserved.reservation, order, SALE, sealed);
      return reserved.reservation;
    };
    return { written, disk, time, store, begun };
  }

  it('write of an unknown end what is new: a restart knows the rest', async () => {
    const { store, written, begun } = journalKit();
    const held = await begun();
    expect(store.isHeld()).toBe(true);
    await store.recordUnknown(held, '');
    expect(written).toEqual([]);
    await store.recordUnknown(held, '', true);
    expect(written).toEqual([['unknown', '', true]]);
    await store.recordUnknown(held, '', true);
    for (const transaction of [HASH, HASH, '']) await store.recordUnknown(held, transaction);
    expect(held.isRefused).toBe(true);
    await store.recordSettled(held, OTHER_HASH);
    expect(written).toEqual([
      ['unknown', '', true],
      ['unknown', HASH, true],
      ['settled', OTHER_HASH, SALE.operation, 2],
    ]);
  });

  it('keep what they had when it cannot be written', async () => {
    const { store, written, disk, begun } = journalKit();
    const held = await begun();
    await store.recordUnknown(held, HASH);
    disk.isFull = true;
    const writes = [
      store.recordUnknown(held, OTHER_HASH, true),
      store.recordReleased(held),
      store.recordSettled(held, OTHER_HASH),
      store.recordDead(held),
      store.replaceKept({ serial: 1, digest: CLAIMS[0]!.digest }, new Uint8Array(1)),
    ];
    for (const { status } of await Promise.allSettled(writes)) expect(status).toBe('rejected');
    expect(store.statusOf(held.key)).toEqual({ kind: 'unknown', transaction: HASH });
    expect(held.isRefused).toBe(false);
    await expect(begun('2')).rejects.toThrow('unavailable');
    disk.isFull = false;
    await expect(store.recordSettled(held, HASH.toUpperCase())).rejects.toThrow('32 bytes of lower-case hex');
    await Promise.all([store.recordSettled(held, HASH), store.recordSettled(held, HASH)]);
    expect(store.count).toBe(1);
    expect(written.slice(0, 2)).toEqual([
      ['unknown', HASH, false],
      ['settled', HASH, SALE.operation, 2],
    ]);
  });

  it('keep an authorization that is reserved anew when its release before is recorded a second time', async () => {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const writes = [Promise.resolve(), late];
    const journal: ReservationJournal = { ...NO_JOURNAL, recordReleased: () => writes.shift()! };
    const { store, begun } = journalKit({ journal });
    const held = await begun('2');
    const releases = [store.recordReleased(held), store.recordReleased(held)] as const;
    await releases[0];
    const { key } = await begun('2');
    resolve();
    await releases[1];
    expect(store.statusOf(key)).toEqual({ kind: 'settling' });
  });

  it('take a case of an earlier process up with its answers, its hash and its refusal', async () => {
    const [order, sold] = [orderFor(), orderFor({ nonce: `0x${'2'.repeat(64)}` })];
    const answers = CLAIMS.map((claim) => ({
      ...{ claim, serial: 1, byteCount: 1, transaction: '', keptUntilMs: undefined },
    }));
    const { validBeforeSeconds } = sold.authorization;
    const end = { kind: 'settled', key: sold.key, validBeforeSeconds, transaction: OTHER_HASH, serial: 2 } as const;
    const one = { serial: 1, order, sale: SALE, transaction: HASH, isRefused: true, isRepeatable: true };
    const loaded = { ends: [end], cases: [one], answers, usedBeforeSeconds: 0, lastSerial: 2 };
    const { store, written } = journalKit({ loaded });
    expect(store.statusOf(sold.key)).toEqual({ kind: 'settled', transaction: OTHER_HASH });
    expect(store.statusOf(order.key)).toEqual({ kind: 'unknown', transaction: HASH });
    const unsettled: UnsettledCase[] = [];
    for (let hand = 1; hand <= 2; hand++) store.handOver((found) => unsettled.push(found));
    const { reservation } = unsettled[0]!;
    expect(unsettled.length).toBe(1);
    expect(reservation).toMatchObject({ isRefused: true, isTakenOver: false });
    expect(CLAIMS.map((claim) => store.find(orderFor({ nonce: `0x${'3'.repeat(64)}` }).key, [claim])?.kind)).toEqual([
      'under-way',
      'under-way',
    ]);
    await store.recordSettled(reservation, HASH);
    expect(written).toEqual([['settled', HASH, SALE.operation, 2]]);
    for (const twice of [{ cases: [{ ...one, order: sold }] }, { ends: [end, end] }]) {
      expect(() => journalKit({ loaded: { ...loaded, ...twice } })).toThrow('two records');
    }
  });

  it('let answers go with their time, when they are looked for or another purchase comes', async () => {
    const { store, written, time, begun } = journalKit();
    await store.recordSettled(await begun(), HASH);
    await store.recordSettled(await begun('2'), OTHER_HASH);
    time.pass(KEPT_MS);
    written.length = 0;
    const { key } = orderFor({ nonce: `0x${'3'.repeat(64)}` });
    expect(store.find(key, CLAIMS.slice(0, 1))).toBeUndefined();
    expect(written).toEqual([['forgotten', 1]]);
    await begun('4');
    expect(written).toEqual([
      ['forgotten', 1],
      ['forgotten', 1],
    ]);
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
