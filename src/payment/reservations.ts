/**
 * Who may still be bought an answer: the port for reservations of authorizations, and the store that decides from memory.
 * What must outlive the process goes through a journal (a port of its own); without one, records last as long as the
 * process.
 *
 *   free -> reserved -> settling -> settled | unknown -> settled | dead
 *              |            |                   |
 *              +--- free ---+------- free ------+
 *
 * Invariants: one key is reserved by one request at a time; nothing that is reserved, settling, unknown, settled or dead is
 * dropped before its window is over, whatever the load (a full store refuses); a key becomes free again only where it is
 * certain that no money moved.
 */
import type { Clock } from '../base/clock.ts';
import { CLOCK_SKEW_SECONDS, MAX_TIMEOUT_SECONDS } from './protocol/network.ts';
import type { PaymentOrder, ReservationKey } from './protocol/order.ts';
import { checkTransaction, type UsedAuthorization, UsedAuthorizations } from './used-authorizations.ts';

/** What a key that is not free is doing. */
export type ReservationStatus =
  | { readonly kind: 'reserved' }
  | { readonly kind: 'settling' }
  /** `transaction` is '' when no hash is known. */
  | { readonly kind: 'unknown'; readonly transaction: string }
  | { readonly kind: 'settled'; readonly transaction: string }
  /** Its end was never learnt and its window is over; it stays used. */
  | { readonly kind: 'dead'; readonly transaction: string };

/** A right to go on with one authorization. The object itself is the right: a copy is none. */
export interface Reservation {
  readonly key: ReservationKey;
  readonly validBeforeSeconds: number;
}

export type Reserved =
  | { readonly kind: 'reserved'; readonly reservation: Reservation }
  | { readonly kind: 'taken'; readonly standing: ReservationStatus }
  /** No room for another live authorization. */
  | { readonly kind: 'full' }
  /** Nothing can be recorded at the moment, or it cannot be told whether this authorization is fresh. */
  | { readonly kind: 'unavailable'; readonly detail: string };

/** A record that was not confirmed and may be there nevertheless. Any other rejection means: it is certainly not there. */
export class RecordInDoubtError extends Error {
  override readonly name = 'RecordInDoubtError';
}

/**
 * Recording methods resolve once the record will survive whatever the store promises to survive; they reject when it could
 * not be made, and then the key stands where it stood before, except that an intent in doubt stays settling. A transition
 * that the diagram does not have is a bug and throws.
 */
export interface Reservations {
  /** Why nothing can be recorded at the moment, for the log; undefined = it can. Asked before every offer. */
  fault(): string | undefined;
  /** One indivisible step: looks the key up and takes it, or says what it is doing. */
  reserve(key: ReservationKey, validBeforeSeconds: number): Reserved;
  statusOf(key: ReservationKey): ReservationStatus | undefined;
  /** reserved -> free. Nothing was recorded about it, so there is nothing to wait for. */
  release(reservation: Reservation): void;
  /** reserved -> settling: the intent. Must resolve before settlement is asked for anything. */
  recordIntent(reservation: Reservation, order: PaymentOrder): Promise<void>;
  /** settling or unknown -> settled. */
  recordSettled(reservation: Reservation, transaction: string): Promise<void>;
  /** settling or unknown -> unknown; a known hash is never forgotten. */
  recordUnknown(reservation: Reservation, transaction: string): Promise<void>;
  /** settling or unknown -> free: it is certain that no money moved. */
  recordReleased(reservation: Reservation): Promise<void>;
  /** unknown -> dead. */
  recordDead(reservation: Reservation): Promise<void>;
}

/**
 * Where the store writes what must outlive the process. Records are numbered by `serial`, which is never used twice; those
 * of one serial take effect in the order of the calls. Promises as in {@link Reservations}.
 */
export interface ReservationJournal {
  fault(): string | undefined;
  recordIntent(serial: number, order: PaymentOrder): Promise<void>;
  recordUnknown(serial: number, transaction: string): Promise<void>;
  /** From now on only the key is needed, and what is said about it. */
  recordEnd(serial: number, end: UsedAuthorization): Promise<void>;
  recordReleased(serial: number): Promise<void>;
  /** The stay of a settled or dead one is over: its record may go, whenever that is convenient. */
  forget(serial: number): void;
}

/** A settlement that had begun before a restart and whose end is not on record. */
export interface RecordedCase {
  readonly serial: number;
  readonly order: PaymentOrder;
  /** '' when no hash is known. */
  readonly transaction: string;
  /** False: it was begun with another kind of settlement, so it is kept as used and not asked after. */
  readonly isRepeatable: boolean;
}

/** What a journal kept of an earlier process. */
export interface Recovered {
  readonly ends: Iterable<UsedAuthorization & { readonly serial: number }>;
  readonly cases: readonly RecordedCase[];
  /**
   * Authorizations that end before this may have been used without a record of it: the state was lost, or of an earlier
   * format. 0 = neither.
   */
  readonly usedBeforeSeconds: number;
  /** The highest serial so far: new ones come after it. */
  readonly lastSerial: number;
}

const NOTHING: Recovered = { ends: [], cases: [], usedBeforeSeconds: 0, lastSerial: 0 };

/** Nothing outlives the process. */
const NO_JOURNAL: ReservationJournal = {
  fault: () => undefined,
  recordIntent: async () => {},
  recordUnknown: async () => {},
  recordEnd: async () => {},
  recordReleased: async () => {},
  forget: () => {},
};

/** Live authorizations in memory, about 85 MB when all are settled; 1,300 new ones a second for their whole stay. */
export const RESERVATION_COUNT_MAX = 1_000_000;

/** Kept this long after `validBefore` (x402-v2 §6.3). */
export const MARGIN_SECONDS = 600;

/** Longest stay of an authorization whose `validBefore` passed our check on arrival. */
const STAY_MS = (MAX_TIMEOUT_SECONDS + CLOCK_SKEW_SECONDS + MARGIN_SECONDS) * 1000;

/** Records looked at for removal by one `reserve`: more than it adds, so the store shrinks, and few, so it never stalls. */
const REMOVALS_MAX = 4;

/** `ended` = settled or dead, and kept as used. */
type State = 'reserved' | 'settling' | 'unknown' | 'ended' | 'free';

/** A reservation until its end is known. */
class OpenReservation implements Reservation {
  readonly key: ReservationKey;
  readonly validBeforeSeconds: number;
  /** Its number in the journal. */
  readonly serial: number;
  state: State = 'reserved';
  transaction = '';

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

/**
 * The store: memory decides, the journal is told. What is on its way to the journal stands where it stood, except that an
 * intent on its way is settling already; so an authorization is free only once its release is on record.
 *
 * What is open is an object in a map, and there are few; what was used is a record outside the collector's reach, and there
 * are many. Every used one stays {@link STAY_MS} of monotonic time from its end, so the order of ends is the order of
 * removal. At that point the wall clock must agree that `validBefore` and the margin are past: if it was set back
 * meanwhile, the authorization may look fresh again, and it stays for another stay. What is open stays: a request that held
 * its reservation for longer would be a bug elsewhere, and taking it away would add a double sale to it.
 * Cost: O(1) a call, at most {@link REMOVALS_MAX} removals; nothing is scanned and no timer runs.
 */
export class MemoryReservations implements Reservations {
  readonly #clock: Clock;
  readonly #countMax: number;
  readonly #journal: ReservationJournal;
  readonly #usedBeforeSeconds: number;
  #serial: number;
  readonly #open = new Map<ReservationKey, OpenReservation>();
  readonly #used = new UsedAuthorizations();
  /** Cases that were recovered and can be asked after, each with its reservation: for the reconciler. */
  readonly recoveredCases: readonly { readonly reservation: Reservation; readonly order: PaymentOrder }[];

  /** @throws Error when what was recovered names one key twice */
  constructor(
    clock: Clock,
    countMax: number = RESERVATION_COUNT_MAX,
    journal: ReservationJournal = NO_JOURNAL,
    recovered: Recovered = NOTHING,
  ) {
    this.#clock = clock;
    this.#countMax = countMax;
    this.#journal = journal;
    this.#usedBeforeSeconds = recovered.usedBeforeSeconds;
    this.#serial = recovered.lastSerial;
    for (const end of recovered.ends) {
      this.#refuseSecond(end.key);
      this.#used.add(end, end.serial, this.#dueMsOf(end.validBeforeSeconds));
    }
    this.recoveredCases = recovered.cases.flatMap(({ serial, order, transaction, isRepeatable }) => {
      const reservation = new OpenReservation(order.key, order.authorization.validBeforeSeconds, serial);
      reservation.state = 'unknown';
      reservation.transaction = transaction;
      this.#refuseSecond(order.key);
      this.#open.set(order.key, reservation);
      return isRepeatable ? [{ reservation, order }] : [];
    });
  }

  fault(): string | undefined {
    return this.#journal.fault();
  }

  /** Live authorizations, open and used. */
  get count(): number {
    return this.#open.size + this.#used.count;
  }

  reserve(key: ReservationKey, validBeforeSeconds: number): Reserved {
    this.#removeDue();
    const standing = this.statusOf(key);
    if (standing !== undefined) return { kind: 'taken', standing };
    const fault = this.#journal.fault();
    if (fault !== undefined) return { kind: 'unavailable', detail: fault };
    if (validBeforeSeconds <= this.#usedBeforeSeconds) {
      return { kind: 'unavailable', detail: 'this may have been used before what is on record' };
    }
    if (this.count >= this.#countMax) return { kind: 'full' };
    const reservation = new OpenReservation(key, validBeforeSeconds, ++this.#serial);
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

  async recordIntent(reservation: Reservation, order: PaymentOrder): Promise<void> {
    const open = this.#openOf(reservation, 'reserved');
    open.state = 'settling';
    try {
      await this.#journal.recordIntent(open.serial, order);
    } catch (failure) {
      if (!(failure instanceof RecordInDoubtError)) open.state = 'reserved';
      throw failure;
    }
  }

  async recordSettled(reservation: Reservation, transaction: string): Promise<void> {
    const open = this.#openOf(reservation, 'settling', 'unknown');
    return this.#recordEnd(open, open.end('settled', transaction));
  }

  async recordUnknown(reservation: Reservation, transaction: string): Promise<void> {
    const open = this.#openOf(reservation, 'settling', 'unknown');
    const known = transaction === '' ? open.transaction : transaction;
    // After a restart settling is unknown too, so only a hash is news.
    if (known !== open.transaction) await this.#journal.recordUnknown(open.serial, known);
    open.state = 'unknown';
    open.transaction = known;
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

  async #recordEnd(open: OpenReservation, end: UsedAuthorization): Promise<void> {
    checkTransaction(end.transaction);
    await this.#journal.recordEnd(open.serial, end);
    if (open.state === 'ended') return;
    this.#used.add(end, open.serial, this.#clock.monotonicMs() + STAY_MS);
    this.#close(open, 'ended');
  }

  #close(open: OpenReservation, state: 'ended' | 'free'): void {
    if (this.#open.get(open.key) === open) this.#open.delete(open.key);
    open.state = state;
  }

  /**
   * Of a used one of an earlier process. Its monotonic clock is gone, so the wall clock says what is left of the stay, and no
   * more than a whole one: a clock that was set back gives nobody a second sale, and one set forward forgets too early only
   * if it is set back again.
   */
  #dueMsOf(validBeforeSeconds: number): number {
    const leftMs = (validBeforeSeconds + MARGIN_SECONDS) * 1000 - this.#clock.nowMs();
    return this.#clock.monotonicMs() + Math.min(Math.max(leftMs, 0), STAY_MS);
  }

  #refuseSecond(key: ReservationKey): void {
    if (this.statusOf(key) !== undefined) throw new Error('two records of one authorization');
  }

  /** @throws Error when the reservation is not one of this store in one of the states */
  #openOf(reservation: Reservation, ...states: readonly State[]): OpenReservation {
    if (!(reservation instanceof OpenReservation)) throw new Error('not a reservation of this store');
    if (!states.includes(reservation.state)) {
      throw new Error(`a reservation that is ${reservation.state}, not ${states.join(' or ')}`);
    }
    return reservation;
  }

  #removeDue(): void {
    const monotonicMs = this.#clock.monotonicMs();
    for (let i = 0; i < REMOVALS_MAX; i++) {
      const due = this.#used.removeDue(monotonicMs);
      if (due === undefined) return;
      if (this.#clock.nowMs() > (due.validBeforeSeconds + MARGIN_SECONDS) * 1000) this.#journal.forget(due.serial);
      else this.#used.add(due, due.serial, monotonicMs + STAY_MS);
    }
  }
}
