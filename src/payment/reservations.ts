/**
 * Who may still be bought an answer: the port for reservations of authorizations, and the store in memory.
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
import { CLOCK_SKEW_SECONDS, MAX_TIMEOUT_SECONDS } from './network.ts';
import type { PaymentOrder, ReservationKey } from './order.ts';

/** What a key that is not free is doing. */
export type Standing =
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
  | { readonly kind: 'taken'; readonly standing: Standing }
  /** No room for another live authorization. */
  | { readonly kind: 'full' };

/**
 * Recording methods resolve once the record will survive whatever the store promises to survive; they reject when it could
 * not be made. A transition that the diagram does not have is a bug and throws.
 */
export interface Reservations {
  /** One indivisible step: looks the key up and takes it, or says what it is doing. */
  reserve(key: ReservationKey, validBeforeSeconds: number): Reserved;
  standingOf(key: ReservationKey): Standing | undefined;
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

/** Live authorizations in memory, about 0.25 GB when all are settled; 1,300 new ones a second for their whole stay. */
export const RESERVATION_COUNT_MAX = 1_000_000;

/** Kept this long after `validBefore` (x402-v2 §6.3). */
const MARGIN_SECONDS = 600;

/** Longest stay of an authorization whose `validBefore` passed our check on arrival. */
const STAY_MS = (MAX_TIMEOUT_SECONDS + CLOCK_SKEW_SECONDS + MARGIN_SECONDS) * 1000;

/** Entries looked at for removal by one `reserve`: more than it adds, so the store shrinks, and few, so it never stalls. */
const REMOVALS_MAX = 4;

type State = Standing['kind'] | 'free';

/** A reservation and its place in the ring of all entries, oldest first. */
class Entry implements Reservation {
  readonly key: ReservationKey;
  readonly validBeforeSeconds: number;
  state: State = 'reserved';
  transaction = '';
  /** Monotonic time before which the entry stays. */
  dueMs: number;
  before: Entry = this;
  after: Entry = this;

  constructor(key: ReservationKey, validBeforeSeconds: number, dueMs: number) {
    this.key = key;
    this.validBeforeSeconds = validBeforeSeconds;
    this.dueMs = dueMs;
  }
}

function standing(entry: Entry): Standing {
  switch (entry.state) {
    case 'reserved':
    case 'settling':
      return { kind: entry.state };
    case 'unknown':
    case 'settled':
    case 'dead':
      return { kind: entry.state, transaction: entry.transaction };
    case 'free':
      throw new Error('a free entry has no standing');
    default:
      return entry.state satisfies never;
  }
}

/**
 * The store in memory; its records last as long as the process.
 *
 * Every entry stays {@link STAY_MS} of monotonic time from its reservation, so arrival order is removal order and a ring
 * is queue enough. At that point the wall clock must agree that `validBefore` and the margin are past: if it was set back
 * meanwhile, the authorization may look fresh again, and the entry goes to the end of the ring for another stay.
 * Cost: O(1) a call, at most {@link REMOVALS_MAX} removals; nothing is scanned and no timer runs.
 */
export class MemoryReservations implements Reservations {
  readonly #clock: Clock;
  readonly #countMax: number;
  readonly #entries = new Map<ReservationKey, Entry>();
  /** Sentinel of the ring: `after` is the oldest entry, `before` the newest. */
  readonly #ring = new Entry('' as ReservationKey, 0, 0);

  constructor(clock: Clock, countMax: number = RESERVATION_COUNT_MAX) {
    this.#clock = clock;
    this.#countMax = countMax;
  }

  /** Live entries. */
  get count(): number {
    return this.#entries.size;
  }

  reserve(key: ReservationKey, validBeforeSeconds: number): Reserved {
    this.#removeDue();
    const present = this.#entries.get(key);
    if (present !== undefined) return { kind: 'taken', standing: standing(present) };
    if (this.#entries.size >= this.#countMax) return { kind: 'full' };
    const entry = new Entry(key, validBeforeSeconds, this.#clock.monotonicMs() + STAY_MS);
    this.#entries.set(key, entry);
    this.#append(entry);
    return { kind: 'reserved', reservation: entry };
  }

  standingOf(key: ReservationKey): Standing | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined ? undefined : standing(entry);
  }

  release(reservation: Reservation): void {
    this.#remove(this.#entryOf(reservation, 'reserved'));
  }

  async recordIntent(reservation: Reservation, _order: PaymentOrder): Promise<void> {
    this.#entryOf(reservation, 'reserved').state = 'settling';
  }

  async recordSettled(reservation: Reservation, transaction: string): Promise<void> {
    const entry = this.#entryOf(reservation, 'settling', 'unknown');
    entry.state = 'settled';
    entry.transaction = transaction;
  }

  async recordUnknown(reservation: Reservation, transaction: string): Promise<void> {
    const entry = this.#entryOf(reservation, 'settling', 'unknown');
    entry.state = 'unknown';
    if (transaction !== '') entry.transaction = transaction;
  }

  async recordReleased(reservation: Reservation): Promise<void> {
    this.#remove(this.#entryOf(reservation, 'settling', 'unknown'));
  }

  async recordDead(reservation: Reservation): Promise<void> {
    this.#entryOf(reservation, 'unknown').state = 'dead';
  }

  /** @throws Error when the reservation is not one of this store in one of the states */
  #entryOf(reservation: Reservation, ...states: readonly State[]): Entry {
    if (!(reservation instanceof Entry)) throw new Error('not a reservation of this store');
    if (!states.includes(reservation.state)) {
      throw new Error(`a reservation that is ${reservation.state}, not ${states.join(' or ')}`);
    }
    return reservation;
  }

  #append(entry: Entry): void {
    const newest = this.#ring.before;
    entry.before = newest;
    entry.after = this.#ring;
    newest.after = entry;
    this.#ring.before = entry;
  }

  #unlink(entry: Entry): void {
    entry.before.after = entry.after;
    entry.after.before = entry.before;
  }

  #remove(entry: Entry): void {
    this.#unlink(entry);
    this.#entries.delete(entry.key);
    entry.state = 'free';
  }

  #removeDue(): void {
    const nowMs = this.#clock.nowMs();
    const monotonicMs = this.#clock.monotonicMs();
    for (let i = 0; i < REMOVALS_MAX; i++) {
      const oldest = this.#ring.after;
      if (oldest === this.#ring || oldest.dueMs > monotonicMs) return;
      const isSafelyPast = nowMs > (oldest.validBeforeSeconds + MARGIN_SECONDS) * 1000;
      // A request that still holds its reservation after twelve minutes keeps it: no deadline of ours lasts that long,
      // so this is a bug elsewhere, and taking the entry away would add a double sale to it.
      const isFinal = oldest.state === 'settled' || oldest.state === 'dead';
      if (isSafelyPast && isFinal) {
        this.#remove(oldest);
        continue;
      }
      oldest.dueMs = monotonicMs + STAY_MS;
      this.#unlink(oldest);
      this.#append(oldest);
    }
  }
}
