import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/base/durations.ts';
import type { PaymentOrder } from '../../../src/payment/protocol/order.ts';
import type { Reservation } from '../../../src/payment/reservations.ts';
import { type CaseReport, Reconciler } from '../../../src/payment/settlement/reconciler.ts';
import type { Settlement, SettleOutcome } from '../../../src/payment/settlement/settlement.ts';
import type { MemoryReservations } from '../../../src/storage/memory/reservations.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';
import { memoryReservations } from '../../support/memory-reservations.ts';
import { SALE } from '../../support/sale.ts';
import { orderFor } from '../fixture.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const UNKNOWN: SettleOutcome = { kind: 'unknown', transaction: '', detail: 'lost' };
const refusedAs = (reason: string): SettleOutcome => ({ kind: 'refused', reason, transaction: '', detail: reason });
const REFUSED = refusedAs('invalid_exact_evm_signature');
const SETTLED: SettleOutcome = { kind: 'settled', transaction: HASH };
const AWAY: SettleOutcome = { kind: 'unavailable', detail: 'refused connection' };
/** Reports that a test does not look at. */
const UNHEARD = { onCaseReport() {}, onBug() {} };

/** A settlement that gives its answers in order and then repeats the last one. */
class Script implements Settlement {
  readonly takesContractSignatures = true;
  readonly asked: PaymentOrder[] = [];
  readonly #answers: readonly SettleOutcome[];
  constructor(...answers: SettleOutcome[]) {
    this.#answers = answers;
  }
  readiness() {
    return { kind: 'ready' } as const;
  }
  async verify() {
    return { kind: 'valid' } as const;
  }
  async settle(order: PaymentOrder): Promise<SettleOutcome> {
    this.asked.push(order);
    return this.#answers[Math.min(this.asked.length, this.#answers.length) - 1] as SettleOutcome;
  }
}

async function unknownCase(settlement: Settlement, store?: MemoryReservations) {
  const time = new ManualTime();
  time.pass(DAY_MS); // the process, and so its monotonic clock, is older than any window
  const reservations = store ?? memoryReservations(time);
  const reports: CaseReport[] = [];
  const bugs: Error[] = [];
  const reconciler = new Reconciler({
    settlement,
    reservations,
    clock: time,
    timers: time,
    onCaseReport: (report) => reports.push(report),
    onBug: (bug) => bugs.push(bug),
  });
  const add = async (windowSeconds = 120): Promise<{ order: PaymentOrder; reservation: Reservation }> => {
    const order = orderFor({ validBeforeSeconds: Math.floor(time.nowMs() / 1000) + windowSeconds });
    const reserved = reservations.reserve(order.key, order.authorization.validBeforeSeconds, []);
    if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
    await reservations.recordIntent(reserved.reservation, order, SALE);
    await reservations.recordUnknown(reserved.reservation, '');
    reconciler.watch(reserved.reservation, order);
    return { order, reservation: reserved.reservation };
  };
  /** Passes seconds one by one and lets all timers and promises of each run. */
  const seconds = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      time.pass(1000);
      await settle();
    }
  };
  return { time, reservations, reconciler, reports, bugs, add, seconds };
}

describe('reconciling an unknown settlement', () => {
  it('repeats the same order until it settled, and then the receipt stands', async () => {
    const script = new Script(UNKNOWN, AWAY, SETTLED);
    const kit = await unknownCase(script);
    const { order } = await kit.add();
    await kit.seconds(1 + 2 + 4);
    expect(script.asked).toEqual([order, order, order]);
    expect(kit.reservations.statusOf(order.key)).toEqual({ kind: 'settled', transaction: HASH });
    expect(kit.reports).toEqual([{ kind: 'settled', transaction: HASH, order }]);
    expect(kit.reconciler.openCount).toBe(0);
    await kit.seconds(300);
    expect(script.asked).toHaveLength(3);
    expect(kit.time.pendingCount).toBe(0);
  });

  it('reports a bug that keeps the order from being sent once for each case', async () => {
    const bug = new Error('a bug');
    const kit = await unknownCase(new Script({ kind: 'unavailable', detail: bug.message, bug }));
    await kit.add();
    await kit.seconds(60);
    expect([kit.bugs, kit.reports]).toEqual([[bug], []]);
    expect(kit.reconciler.openCount).toBe(1);
  });

  it('frees the authorization when it was refused for certain inside its window', async () => {
    const kit = await unknownCase(new Script(UNKNOWN, REFUSED));
    const { order } = await kit.add();
    await kit.seconds(3);
    expect(kit.reservations.statusOf(order.key)).toBeUndefined();
    expect(kit.reports).toMatchObject([{ kind: 'released' }]);
  });

  const failed = (transaction: string): SettleOutcome => ({
    kind: 'refused',
    reason: 'invalid_exact_evm_transaction_failed',
    transaction,
    detail: 'reverted',
  });

  it('frees the authorization when the transaction that was seen has reverted', async () => {
    const kit = await unknownCase(new Script({ ...UNKNOWN, transaction: HASH }, failed(HASH)));
    const { order } = await kit.add();
    await kit.seconds(3);
    expect(kit.reservations.statusOf(order.key)).toBeUndefined();
  });

  it.each([
    ['another transaction failed', { ...UNKNOWN, transaction: HASH }, failed(`0x${'cd'.repeat(32)}`)],
    ['a failure names no transaction', { ...UNKNOWN, transaction: HASH }, failed('')],
    [
      'funds are insufficient while a transaction is in flight',
      { ...UNKNOWN, transaction: HASH },
      refusedAs('insufficient_funds'),
    ],
    ['funds are insufficient, which the first attempt may have moved', UNKNOWN, refusedAs('insufficient_funds')],
    [
      'the balance is too small, which the first attempt may have taken',
      UNKNOWN,
      refusedAs('invalid_exact_evm_insufficient_balance'),
    ],
    [
      'its window is over by another clock, which the first attempt may have met',
      UNKNOWN,
      refusedAs('invalid_exact_evm_payload_authorization_valid_before'),
    ],
    ['a transaction failed that may be a second one', UNKNOWN, failed('')],
  ])('keeps it used when %s, and asks again only when nothing can be charged any more', async (_, first, then) => {
    const script = new Script(first, then);
    const kit = await unknownCase(script);
    const { order } = await kit.add();
    await kit.seconds(120 + 59);
    expect(script.asked).toHaveLength(2);
    expect(kit.reservations.statusOf(order.key)).toMatchObject({ kind: 'unknown' });
    await kit.seconds(2);
    expect(script.asked).toHaveLength(3);
    expect(kit.reservations.statusOf(order.key)).toMatchObject({ kind: 'dead' });
  });

  it.each([120, 150])(
    'learns after a window of %i s that it had settled, though a repeat was refused inside it',
    async (window) => {
      const script = new Script(refusedAs('insufficient_funds'), SETTLED);
      const kit = await unknownCase(script);
      const { order } = await kit.add(window);
      await kit.seconds(window + 59);
      expect(script.asked).toHaveLength(1);
      await kit.seconds(2);
      expect(kit.reservations.statusOf(order.key)).toEqual({ kind: 'settled', transaction: HASH });
    },
  );

  it.each([
    ['inside its window', 10, 120 + 60],
    ['long after it', 10_000, 10_000 + 60],
  ])(
    'asks once more, after a minute at least, when a case whose refusal is on record is taken over %s',
    async (_, atSeconds, askedSeconds) => {
      const script = new Script(refusedAs('insufficient_funds'));
      const first = await unknownCase(script);
      const { order, reservation } = await first.add();
      await first.seconds(2);
      first.reconciler.stop();
      expect(reservation.isRefused).toBe(true);
      await first.time.pass((atSeconds - 2) * 1000);
      const next = new Script(SETTLED);
      const { reservations, time } = first;
      new Reconciler({ settlement: next, reservations, clock: time, timers: time, ...UNHEARD }).watch(
        reservation,
        order,
      );
      await first.seconds(askedSeconds - atSeconds - 1);
      expect(next.asked).toHaveLength(0);
      await first.seconds(2);
      expect(reservations.statusOf(order.key)).toEqual({ kind: 'settled', transaction: HASH });
    },
  );

  it('asks once more only when nothing can be charged any more, though the refusal cannot be recorded', async () => {
    const store = memoryReservations(new ManualTime());
    const record = store.recordUnknown.bind(store);
    store.recordUnknown = (reservation, transaction, isRefused) =>
      isRefused === true ? Promise.reject(new Error('disk full')) : record(reservation, transaction);
    const script = new Script(refusedAs('insufficient_funds'), SETTLED);
    const kit = await unknownCase(script, store);
    const { order } = await kit.add();
    await kit.seconds(120 + 59);
    expect(script.asked).toHaveLength(1);
    await kit.seconds(2);
    expect(store.statusOf(order.key)).toEqual({ kind: 'settled', transaction: HASH });
  });

  it('asks no more than once when the first refusal comes between the end of the window and a minute later', async () => {
    const script = new Script(...Array.from({ length: 7 }, () => UNKNOWN), REFUSED);
    const kit = await unknownCase(script);
    const { order } = await kit.add();
    await kit.seconds(120 + 61);
    expect(script.asked).toHaveLength(9);
    expect(kit.reservations.statusOf(order.key)).toMatchObject({ kind: 'dead' });
  });

  it.each([
    ['for certain', failed(HASH)],
    ['for lack of funds', refusedAs('insufficient_funds')],
  ])(
    'keeps it used when it was refused %s after a take-over, and asks again only when nothing can be charged any more',
    async (_, refused) => {
      const script = new Script({ ...UNKNOWN, transaction: HASH }, refused, REFUSED);
      const kit = await unknownCase(script);
      const { order, reservation } = await kit.add();
      Object.assign(reservation, { isTakenOver: true });
      await kit.seconds(120 + 59);
      expect(script.asked).toHaveLength(2);
      expect(kit.reservations.statusOf(order.key)).toEqual({ kind: 'unknown', transaction: HASH });
      await kit.seconds(2);
      expect(script.asked).toHaveLength(3);
      expect(kit.reservations.statusOf(order.key)).toEqual({ kind: 'dead', transaction: HASH });
    },
  );

  it('reports of a dead case that its authorization was used, which the last refusal no longer says', async () => {
    const used: SettleOutcome = { kind: 'unknown', transaction: '', detail: 'settle: used', isUsed: true };
    const kit = await unknownCase(new Script(used, ...Array.from({ length: 7 }, () => UNKNOWN), refusedAs('expired')));
    await kit.add();
    await kit.seconds(240);
    expect(kit.reports).toMatchObject([{ kind: 'dead', detail: 'settle: used, then expired' }]);
  });

  it.each([
    ['is never answered', UNKNOWN],
    ['cannot be asked', AWAY],
    ['is refused once the window is over, which proves nothing', REFUSED],
  ])('ends as dead and stays used when it %s', async (_, answer) => {
    const script = new Script(...Array.from({ length: 8 }, () => UNKNOWN), answer);
    const kit = await unknownCase(script);
    const { order } = await kit.add();
    await kit.seconds(120);
    expect(kit.reservations.statusOf(order.key)).toEqual({ kind: 'unknown', transaction: '' });
    await kit.seconds(120);
    expect(kit.reservations.statusOf(order.key)).toEqual({ kind: 'dead', transaction: '' });
    expect(kit.reports.at(-1)).toMatchObject({ kind: 'dead' });
    expect(script.asked.length).toBeLessThan(15);
    expect(kit.time.pendingCount).toBe(0);
  });

  it.each([
    ['no answer', UNKNOWN, 'unknown'],
    ['no connection', AWAY, 'unknown'],
    ['a refusal', REFUSED, 'dead'],
    ['a receipt', SETTLED, 'settled'],
  ])('ends a case at a shutdown by an answer alone: %s', async (_, answer, kind) => {
    const script = new Script(...Array.from({ length: 7 }, () => UNKNOWN), answer);
    const kit = await unknownCase(script);
    const { order } = await kit.add();
    await kit.seconds(150);
    kit.reconciler.drain();
    await kit.seconds(90);
    expect(kit.reservations.statusOf(order.key)).toMatchObject({ kind });
  });

  it('keeps it used when it is refused at the moment at which its window ends', async () => {
    const kit = await unknownCase(new Script(REFUSED));
    const { order } = await kit.add();
    kit.time.stepWall(119_000);
    await kit.seconds(1);
    expect(kit.reservations.statusOf(order.key)).toEqual({ kind: 'unknown', transaction: '' });
  });

  it.each([
    ['ahead', 3_600_000, 120 + 60],
    ['back', -3_600_000, 150 + 60],
  ])('gives a case up by the monotonic clock when the wall clock was put an hour %s', async (_, byMs, overSeconds) => {
    const kit = await unknownCase(new Script(UNKNOWN));
    const { order } = await kit.add();
    await kit.seconds(2);
    kit.time.stepWall(byMs);
    await kit.seconds(overSeconds - 3);
    expect(kit.reservations.statusOf(order.key)).toMatchObject({ kind: 'unknown' });
    await kit.seconds(31);
    expect(kit.reservations.statusOf(order.key)).toMatchObject({ kind: 'dead' });
  });

  it('keeps it used when it is refused after its window, though the wall clock was put back', async () => {
    const kit = await unknownCase(new Script(...Array.from({ length: 7 }, () => UNKNOWN), REFUSED));
    const { order } = await kit.add();
    await kit.seconds(100);
    kit.time.stepWall(-3_600_000);
    await kit.seconds(60);
    expect(kit.reservations.statusOf(order.key)).toMatchObject({ kind: 'unknown' });
  });

  it.each([
    ['that is unanswered', UNKNOWN],
    ['that was refused', refusedAs('insufficient_funds')],
  ])('asks about no case %s while the clock is known to be wrong, until no window can be open', async (_, answer) => {
    const store = memoryReservations(new ManualTime());
    const script = new Script(answer, SETTLED);
    const first = await unknownCase(script, store);
    const { order, reservation } = await first.add();
    await first.seconds(2);
    first.reconciler.stop();
    const { time } = first;
    time.stepWall(3_600_000);
    store.fault = () => 'the clock of this machine is 3600.0 s ahead of the database’s';
    new Reconciler({ settlement: script, reservations: store, clock: time, timers: time, ...UNHEARD }).watch(
      reservation,
      order,
    );
    await first.seconds(150 + 59);
    expect(script.asked).toHaveLength(1);
    await first.seconds(31);
    expect(script.asked).toHaveLength(2);
    expect(store.statusOf(order.key)).toEqual({ kind: 'settled', transaction: HASH });
  });

  it.each([
    ['an hour ahead', 3_600_000],
    ['right', 0],
  ])(
    'ends no case of an earlier process as dead while a window can be open, with a clock that is %s',
    async (_, byMs) => {
      const first = await unknownCase(new Script(UNKNOWN));
      const { order, reservation } = await first.add();
      first.reconciler.stop();
      const { reservations, time } = first;
      time.stepWall(byMs);
      const ports = { settlement: new Script(UNKNOWN), reservations, clock: time, timers: time, ...UNHEARD };
      new Reconciler(ports).takeOver({ reservation, order });
      await first.seconds(150 + 59);
      expect(reservations.statusOf(order.key)).toMatchObject({ kind: 'unknown' });
      await first.seconds(31);
      expect(reservations.statusOf(order.key)).toMatchObject({ kind: 'dead' });
    },
  );

  it('frees no case of an earlier process for a refusal when no window can be open, though the clock is hours behind', async () => {
    const first = await unknownCase(new Script(UNKNOWN));
    const { order, reservation } = await first.add();
    first.reconciler.stop();
    const { reservations, time } = first;
    time.stepWall(-3_600_000);
    const settlement = new Script(...Array.from({ length: 10 }, () => UNKNOWN), REFUSED);
    const ports = { settlement, reservations, clock: time, timers: time, ...UNHEARD };
    new Reconciler(ports).takeOver({ reservation, order });
    await first.seconds(150 + 90);
    expect(settlement.asked).toHaveLength(11);
    expect(reservations.statusOf(order.key)).toEqual({ kind: 'dead', transaction: '' });
  });

  it('asks about a case again soon after a short fault of the store', async () => {
    const store = memoryReservations(new ManualTime());
    const kit = await unknownCase(new Script(SETTLED), store);
    store.fault = () => 'the disk is full';
    const { order } = await kit.add();
    await kit.seconds(4);
    expect(store.statusOf(order.key)).toMatchObject({ kind: 'unknown' });
    store.fault = () => undefined;
    await kit.seconds(4);
    expect(store.statusOf(order.key)).toMatchObject({ kind: 'settled' });
  });

  it('does not give up a case at once whose window was over before the first call', async () => {
    const kit = await unknownCase(new Script(AWAY, AWAY, SETTLED));
    kit.time.stepWall(3_600_000);
    const { order } = await kit.add();
    kit.time.stepWall(3_600_000);
    await kit.seconds(1 + 2);
    expect(kit.reservations.statusOf(order.key)).toEqual({ kind: 'unknown', transaction: '' });
    await kit.seconds(4);
    expect(kit.reservations.statusOf(order.key)).toEqual({ kind: 'settled', transaction: HASH });
  });

  it('accepts a success however late it comes', async () => {
    const kit = await unknownCase(new Script(...Array.from({ length: 7 }, () => UNKNOWN), SETTLED));
    const { order } = await kit.add();
    await kit.seconds(240);
    expect(kit.reservations.statusOf(order.key)).toEqual({ kind: 'settled', transaction: HASH });
  });

  it('keeps a hash that it learns on the way', async () => {
    const kit = await unknownCase(new Script({ ...UNKNOWN, transaction: HASH }, UNKNOWN));
    const { order } = await kit.add();
    await kit.seconds(10);
    expect(kit.reservations.statusOf(order.key)).toEqual({ kind: 'unknown', transaction: HASH });
  });

  it('keeps it used when its transaction is on record since before a restart, and a repeat is refused', async () => {
    const kit = await unknownCase(new Script(REFUSED));
    const { order, reservation } = await kit.add();
    await kit.reservations.recordUnknown(reservation, HASH);
    await kit.seconds(100);
    expect(kit.reservations.statusOf(order.key)).toEqual({ kind: 'unknown', transaction: HASH });
  });

  it('keeps it used when it learnt a hash that could not be recorded, and then of none', async () => {
    const store = memoryReservations(new ManualTime());
    const record = store.recordUnknown.bind(store);
    store.recordUnknown = async (reservation, transaction) => {
      if (transaction !== '') throw new Error('disk full');
      await record(reservation, transaction);
    };
    const kit = await unknownCase(new Script({ ...UNKNOWN, transaction: HASH }, UNKNOWN, REFUSED), store);
    const { order } = await kit.add();
    await kit.seconds(100);
    expect(store.statusOf(order.key)).toEqual({ kind: 'unknown', transaction: '' });
  });

  it('ends as dead though it could not be recorded as unknown before', async () => {
    const store = memoryReservations(new ManualTime());
    const record = store.recordUnknown.bind(store);
    store.recordUnknown = async () => {};
    const kit = await unknownCase(new Script(AWAY), store);
    const { order } = await kit.add();
    store.recordUnknown = record;
    await kit.seconds(240);
    expect(store.statusOf(order.key)).toEqual({ kind: 'dead', transaction: '' });
  });

  it('asks for at most eight at a time and forgets none', async () => {
    let atOnce = 0;
    let most = 0;
    const settlement = new Script(SETTLED);
    const answers: (() => void)[] = [];
    settlement.settle = async () => {
      most = Math.max(most, ++atOnce);
      await new Promise<void>((resolve) => answers.push(resolve));
      atOnce--;
      return SETTLED;
    };
    const kit = await unknownCase(settlement);
    const orders = [];
    for (let i = 0; i < 30; i++) orders.push((await kit.add()).order);
    await kit.seconds(1);
    while (answers.length > 0) {
      answers.shift()?.();
      await settle();
    }
    expect(most).toBe(8);
    for (const { key } of orders) expect(kit.reservations.statusOf(key)?.kind).toBe('settled');
  });

  it('tries a record again that could not be made, without settling again', async () => {
    const time = new ManualTime();
    const store = memoryReservations(time);
    let failures = 2;
    const record = store.recordSettled.bind(store);
    store.recordSettled = async (reservation, transaction) => {
      if (failures-- > 0) throw new Error('disk full');
      await record(reservation, transaction);
    };
    const script = new Script(SETTLED);
    const kit = await unknownCase(script, store);
    const { order } = await kit.add();
    await kit.seconds(10);
    expect(kit.reports.map(({ kind }) => kind)).toEqual(['unrecorded', 'unrecorded', 'settled']);
    expect(script.asked).toHaveLength(1);
    expect(store.statusOf(order.key)).toEqual({ kind: 'settled', transaction: HASH });
  });

  it('asks no more about a case that another process has taken over', async () => {
    const store = memoryReservations(new ManualTime());
    const script = new Script(UNKNOWN);
    const kit = await unknownCase(script, store);
    await kit.add();
    await kit.seconds(1);
    store.isHeld = () => false;
    await kit.seconds(300);
    expect(script.asked).toHaveLength(1);
    expect(kit.reconciler.openCount).toBe(0);
    expect(kit.reports).toEqual([]);
  });

  it('records no end of a case that another process has taken over, unless it settled', async () => {
    const store = memoryReservations(new ManualTime());
    store.isHeld = () => false;
    const kit = await unknownCase(new Script(UNKNOWN), store);
    const [refused, settled] = [await kit.add(), await kit.add()];
    kit.reconciler.watch(refused.reservation, refused.order, { kind: 'released', detail: 'refused' });
    kit.reconciler.watch(settled.reservation, settled.order, SETTLED);
    await kit.seconds(2);
    expect(kit.reports.map(({ kind }) => kind)).toEqual(['settled']);
    expect(store.statusOf(refused.order.key)).toEqual({ kind: 'unknown', transaction: '' });
  });

  it('makes no further calls after it was stopped', async () => {
    const script = new Script(UNKNOWN);
    const kit = await unknownCase(script);
    await kit.add();
    await kit.seconds(1);
    kit.reconciler.stop();
    expect(kit.time.pendingCount).toBe(0);
    await kit.seconds(300);
    expect(script.asked).toHaveLength(1);
  });

  it('repeats nothing whose call was in flight when it was stopped', async () => {
    const script = new Script(UNKNOWN);
    const answers: (() => void)[] = [];
    const settleNow = script.settle.bind(script);
    script.settle = async (order) => {
      await new Promise<void>((resolve) => answers.push(resolve));
      return settleNow(order);
    };
    const kit = await unknownCase(script);
    for (let i = 0; i < 12; i++) await kit.add();
    await kit.seconds(1);
    kit.reconciler.stop();
    for (const answer of answers.splice(0)) answer();
    await kit.seconds(300);
    expect(answers).toEqual([]);
    expect(kit.time.pendingCount).toBe(0);
  });
});
