/**
 * Reservations in the memory of one process. `reserve` is indivisible because it awaits nothing. A journal, where there is one,
 * records what must outlive the process.
 *
 * Open reservations are few: objects in a map. Used authorizations are many: records that the garbage collector does
 * not scan. The store retains a used authorization for {@link RETAINED_MS} of monotonic time from its outcome, so it
 * removes them in the order of their outcomes. Before a removal the wall clock must agree that `validBefore` and the
 * retention are over: if an operator set the clock back, the authorization may look valid again, and the store retains
 * it for the same time again. An open reservation has no time limit: one that stays open is a bug elsewhere, and
 * removing it would turn that bug into a double sale.
 * Cost: O(1) a call, at most {@link REMOVALS_MAX} removals; no scan and no timer.
 */
import type { Clock } from '../../base/clock.ts';
import { RecordInDoubtError } from '../../base/outage.ts';
import type { Sale, SaleFacts, SettlementKind } from '../../payment/books.ts';
import type { IdentifierClaim } from '../../payment/protocol/identifier.ts';
import { WINDOW_SECONDS_MAX } from '../../payment/protocol/network.ts';
import type { PaymentOrder, ReservationKey } from '../../payment/protocol/order.ts';
import {
  KEPT_MS,
  type KeptAnswer,
  type Known,
  RETENTION_SECONDS,
  type Reservation,
  type ReservationStatus,
  type Reservations,
  type Reserved,
  type UnsettledCase,
} from '../../payment/reservations.ts';
import { type AnswerRoom, answersFor, checkedAnswer, KeptAnswers, type KeptEntry } from './kept-answers.ts';
import type { LoadedReservations, ReservationJournal } from './reservation-journal.ts';
import { checkTransaction, type UsedAuthorization, UsedAuthorizations } from './used-authorizations.ts';

/** The most open and used authorizations: about 85 MB when all are settled, enough for 1,300 new ones a second. */
export const RESERVATION_COUNT_MAX = 1_000_000;

/** Milliseconds until even the latest permitted `validBefore` is over. */
const WINDOW_MS = WINDOW_SECONDS_MAX * 1000;
/** The same plus the retention. */
const RETAINED_MS = WINDOW_MS + RETENTION_SECONDS * 1000;

/**
 * Records that one `reserve` checks for removal: more than it adds, so that the store shrinks, but few, so that it
 * never stalls.
 */
const REMOVALS_MAX = 4;

const NO_CASES: readonly UnsettledCase[] = [];
const NO_ENTRIES: readonly KeptEntry[] = [];
const NO_ANSWERS: readonly Uint8Array[] = [];

/** `ended` = settled or dead: the authorization is used. */
type State = 'reserved' | 'settling' | 'unknown' | 'ended' | 'free';

interface Intent {
  readonly order: PaymentOrder;
  readonly sale: SaleFacts;
}

/** A reservation until its outcome is known. */
class OpenReservation implements Reservation {
  readonly key: ReservationKey;
  readonly validBeforeSeconds: number;
  /** Its number in the journal. */
  readonly serial: number;
  /** Always false: the folder has one owner, so any earlier holder ended with its process. */
  readonly isTakenOver = false;
  state: State = 'reserved';
  transaction = '';
  isRefused = false;
  /** The facts of its sale; known from the intent on. */
  intent: Intent | undefined;
  /** Its identifiers. */
  answers = NO_ENTRIES;

  constructor(key: ReservationKey, validBeforeSeconds: number, serial: number) {
    this.key = key;
    this.validBeforeSeconds = validBeforeSeconds;
    this.serial = serial;
  }

  end(kind: UsedAuthorization['kind'], transaction: string): UsedAuthorization {
    return { kind, key: this.key, validBeforeSeconds: this.validBeforeSeconds, transaction };
  }
}

function statusOfOpen({ state, transaction }: OpenReservation): ReservationStatus {
  switch (state) {
    case 'reserved':
    case 'settling':
      return { kind: state };
    case 'unknown':
      return { kind: state, transaction };
    case 'ended':
    case 'free':
      throw new Error(`a reservation that is ${state} is not open`);
    default:
      return state satisfies never;
  }
}

export interface ReservationOptions {
  /** The most open and used authorizations. */
  readonly countMax: number;
  /** For answers that are kept. */
  readonly room: AnswerRoom;
  readonly journal: ReservationJournal;
  /** The reservations of earlier processes. */
  readonly loaded: LoadedReservations;
  /** What the books say of new sales. */
  readonly settlement: SettlementKind;
}

/**
 * A reservation changes its state only when the journal has recorded the change, so an authorization is free only once its
 * release is on record. The exception is settling, which begins before the intent is recorded.
 */
export class MemoryReservations implements Reservations {
  readonly #clock: Clock;
  readonly #countMax: number;
  readonly #journal: ReservationJournal;
  readonly #settlement: SettlementKind;
  readonly #usedBeforeSeconds: number;
  #serial: number;
  readonly #open = new Map<ReservationKey, OpenReservation>();
  readonly #used = new UsedAuthorizations();
  readonly #answers: KeptAnswers;
  #unsettled: readonly UnsettledCase[];

  /** @throws Error when the loaded reservations contain one key twice */
  constructor(clock: Clock, { countMax, room, journal, loaded, settlement }: ReservationOptions) {
    this.#clock = clock;
    this.#countMax = countMax;
    this.#journal = journal;
    this.#settlement = settlement;
    this.#answers = new KeptAnswers(room);
    this.#usedBeforeSeconds = loaded.usedBeforeSeconds;
    this.#serial = loaded.lastSerial;
    for (const end of loaded.ends) {
      this.#refuseSecond(end.key);
      this.#used.add(end, end.serial, this.#dueMsOf(end.validBeforeSeconds));
    }
    const answers = this.#restoreAnswers(loaded.answers);
    this.#unsettled = loaded.cases.flatMap(({ serial, order, sale, transaction, isRefused, isRepeatable }) => {
      const reservation = new OpenReservation(order.key, order.authorization.validBeforeSeconds, serial);
      reservation.state = 'unknown';
      reservation.transaction = transaction;
      reservation.isRefused = isRefused;
      reservation.intent = { order, sale };
      reservation.answers = answers.get(serial) ?? NO_ENTRIES;
      this.#refuseSecond(order.key);
      this.#open.set(order.key, reservation);
      return isRepeatable ? [{ reservation, order }] : [];
    });
  }

  fault(): string | undefined {
    return this.#journal.fault();
  }

  get count(): number {
    return this.#open.size + this.#used.count;
  }

  find(key: ReservationKey, claims: readonly IdentifierClaim[]): Known | undefined {
    const status = this.statusOf(key);
    if (status !== undefined) return { kind: 'taken', status };
    for (const [place, claim] of claims.entries()) {
      const due = this.#answers.removeIfDue(claim, this.#clock.monotonicMs());
      if (due !== undefined) this.#journal.forgetAnswers(due.serial);
      const known = this.#answers.find(claim, place);
      if (known !== undefined) return known;
    }
    return undefined;
  }

  reserve(key: ReservationKey, validBeforeSeconds: number, claims: readonly IdentifierClaim[]): Reserved {
    this.#removeDue();
    const known = this.find(key, claims);
    if (known !== undefined) return known;
    const fault = this.#journal.fault();
    if (fault !== undefined) return { kind: 'unavailable', detail: fault };
    if (validBeforeSeconds <= this.#usedBeforeSeconds) {
      return {
        kind: 'unavailable',
        detail: 'the state was lost, and this authorization may have been used before that',
      };
    }
    if (this.count >= this.#countMax) return { kind: 'full' };
    if (claims.length > 0 && !this.#answers.hasRoom(claims.length)) return { kind: 'no-room' };
    const reservation = new OpenReservation(key, validBeforeSeconds, ++this.#serial);
    if (claims.length > 0) reservation.answers = claims.map((claim) => this.#answers.claim(claim, reservation.serial));
    this.#open.set(key, reservation);
    return { kind: 'reserved', reservation };
  }

  statusOf(key: ReservationKey): ReservationStatus | undefined {
    const open = this.#open.get(key);
    return open === undefined ? this.#used.find(key) : statusOfOpen(open);
  }

  release(reservation: Reservation): void {
    this.#close(this.#openOf(reservation, 'reserved'), 'free');
  }

  async recordIntent(
    reservation: Reservation,
    order: PaymentOrder,
    sale: SaleFacts,
    sealed = NO_ANSWERS,
  ): Promise<void> {
    const open = this.#openOf(reservation, 'reserved');
    const answers = answersFor(open.answers, sealed);
    open.state = 'settling';
    open.intent = { order, sale };
    for (const { claim, sealed } of answers) this.#answers.resize(claim, sealed.length);
    try {
      await this.#journal.recordIntent(open.serial, order, sale, answers);
    } catch (failure) {
      if (!(failure instanceof RecordInDoubtError)) open.state = 'reserved';
      throw failure;
    }
  }

  async recordSettled(reservation: Reservation, transaction: string): Promise<void> {
    const open = this.#openOf(reservation, 'settling', 'unknown');
    return this.#recordEnd(open, open.end('settled', transaction));
  }

  async recordUnknown(reservation: Reservation, transaction: string, isRefused = false): Promise<void> {
    const open = this.#openOf(reservation, 'settling', 'unknown');
    const known = transaction === '' ? open.transaction : transaction;
    const isNew = known !== open.transaction || (isRefused && !open.isRefused);
    // After a restart, settling counts as unknown, so only a new hash or a first refusal needs a record.
    if (isNew) await this.#journal.recordUnknown(open.serial, known, isRefused || open.isRefused);
    open.state = 'unknown';
    open.transaction = known;
    open.isRefused ||= isRefused;
  }

  async recordReleased(reservation: Reservation): Promise<void> {
    const open = this.#openOf(reservation, 'settling', 'unknown');
    await this.#journal.recordReleased(open.serial);
    this.#close(open, 'free');
  }

  async recordDead(reservation: Reservation): Promise<void> {
    const open = this.#openOf(reservation, 'unknown');
    return this.#recordEnd(open, open.end('dead', open.transaction));
  }

  readKept({ serial, digest }: KeptAnswer): Promise<Uint8Array | undefined> {
    return this.#journal.readAnswer(serial, digest);
  }

  async replaceKept(kept: Omit<KeptAnswer, 'transaction'>, sealed: Uint8Array): Promise<void> {
    const { length } = checkedAnswer(sealed);
    await this.#journal.replaceAnswer(kept.serial, kept.digest, sealed);
    this.#answers.resizeSettled(kept, length);
  }

  /** No other process holds reservations of this folder. */
  isHeld(): boolean {
    return true;
  }

  handOver(receive: (unsettled: UnsettledCase) => void): void {
    const cases = this.#unsettled;
    this.#unsettled = NO_CASES;
    for (const unsettled of cases) receive(unsettled);
  }

  async #recordEnd(open: OpenReservation, end: UsedAuthorization): Promise<void> {
    checkTransaction(end.transaction);
    const sale = end.kind === 'settled' ? this.#saleOf(open, end) : undefined;
    await this.#journal.recordEnd(open.serial, end, sale, open.answers);
    if (open.state === 'ended') return;
    const nowMs = this.#clock.monotonicMs();
    for (const answer of open.answers) this.#answers.end(answer, sale?.transaction ?? '', nowMs);
    open.answers = NO_ENTRIES;
    this.#used.add(end, open.serial, nowMs + RETAINED_MS);
    this.#close(open, 'ended');
  }

  /** The entry of the books for a payment that has just settled. */
  #saleOf({ serial, intent }: OpenReservation, { transaction }: UsedAuthorization): Sale {
    if (intent === undefined) throw new Error('a settlement without an intent');
    const { order, sale } = intent;
    const { authorization, offer, payer } = order;
    return {
      ...sale,
      serial,
      timeMs: this.#clock.nowMs(),
      amountAtomic: authorization.valueAtomic,
      network: offer.requirements.network,
      payer,
      nonce: authorization.nonce,
      transaction,
      settlement: this.#settlement,
      isDelivered: false,
    };
  }

  #close(open: OpenReservation, state: 'ended' | 'free'): void {
    if (this.#open.get(open.key) === open) this.#open.delete(open.key);
    for (const answer of open.answers) this.#answers.free(answer);
    open.state = state;
  }

  /**
   * The monotonic time of removal for a used authorization of an earlier process, from the wall clock, at most
   * RETAINED_MS from now. A machine's clock may be ahead at start and be set back a moment later, so the store retains
   * each for at least WINDOW_MS: by then the window of every earlier sale is over, whatever any clock says.
   */
  #dueMsOf(validBeforeSeconds: number): number {
    const leftMs = (validBeforeSeconds + RETENTION_SECONDS) * 1000 - this.#clock.nowMs();
    return this.#clock.monotonicMs() + Math.min(Math.max(leftMs, WINDOW_MS), RETAINED_MS);
  }

  #refuseSecond(key: ReservationKey): void {
    if (this.statusOf(key) !== undefined) throw new Error('two records of one authorization');
  }

  /** @throws Error when the reservation is not of this store or in none of the states */
  #openOf(reservation: Reservation, ...states: readonly State[]): OpenReservation {
    if (!(reservation instanceof OpenReservation)) throw new Error('not a reservation of this store');
    if (!states.includes(reservation.state)) {
      throw new Error(`a reservation that is ${reservation.state}, not ${states.join(' or ')}`);
    }
    return reservation;
  }

  /** @returns the answers of payments without an outcome, by serial */
  #restoreAnswers(loaded: LoadedReservations['answers']): ReadonlyMap<number, readonly KeptEntry[]> {
    const open = new Map<number, KeptEntry[]>();
    const ended: { entry: KeptEntry; transaction: string; leftMs: number }[] = [];
    for (const { claim, serial, byteCount, transaction, keptUntilMs } of loaded) {
      const entry = this.#answers.restore(claim, serial, byteCount);
      if (keptUntilMs === undefined) {
        open.set(serial, [...(open.get(serial) ?? []), entry]);
        continue;
      }
      const leftMs = keptUntilMs - this.#clock.nowMs();
      // One that looks over may not be: the clock may be ahead, and would be set back a moment later.
      const isSure = leftMs > 0 && leftMs <= KEPT_MS;
      ended.push({ entry, transaction, leftMs: isSure ? leftMs : KEPT_MS });
    }
    ended.sort((one, other) => one.leftMs - other.leftMs);
    const nowMs = this.#clock.monotonicMs();
    for (const { entry, transaction, leftMs } of ended) this.#answers.end(entry, transaction, nowMs, leftMs);
    return open;
  }

  #removeDue(): void {
    const monotonicMs = this.#clock.monotonicMs();
    for (let i = 0; i < REMOVALS_MAX; i++) {
      const due = this.#answers.removeDue(monotonicMs);
      if (due === undefined) break;
      this.#journal.forgetAnswers(due.serial);
    }
    for (let i = 0; i < REMOVALS_MAX; i++) {
      const due = this.#used.removeDue(monotonicMs);
      if (due === undefined) return;
      if (this.#clock.nowMs() > (due.validBeforeSeconds + RETENTION_SECONDS) * 1000) this.#journal.forget(due.serial);
      else this.#used.add(due, due.serial, monotonicMs + RETAINED_MS);
    }
  }
}
