/**
 * Reservations in the database that processes share: the unique key of a claim gives an authorization to one purchase, in one
 * statement (claims.ts); intents and outcomes are cases and sales (cases.ts).
 *
 * This process knows the reservations that it made itself. When the database's answer to a claim was lost, a background
 * look releases the claim (doubts.ts), so the authorization becomes free again as soon as the database is back. Each look
 * also takes over cases of dead processes (owners.ts).
 */
import type { Clock } from '../../base/clock.ts';
import { OutageError, RecordInDoubtError } from '../../base/outage.ts';
import type { SaleFacts, SettlementKind } from '../../payment/books.ts';
import type { IdentifierClaim } from '../../payment/protocol/identifier.ts';
import type { PaymentOrder, ReservationKey } from '../../payment/protocol/order.ts';
import type {
  KeptAnswer,
  Known,
  Reservation,
  ReservationStatus,
  Reservations,
  Reserved,
  UnsettledCase,
} from '../../payment/reservations.ts';
import { answersFor, checkedAnswer } from '../memory/kept-answers.ts';
import { Cases, type EndItem, type Recorded } from './cases.ts';
import { Claims, type FoundClaim } from './claims.ts';
import type { Database } from './database.ts';
import { type Attempts, Doubts } from './doubts.ts';
import { InDoubtError } from './failures.ts';
import type { Group } from './groups.ts';
import { Identifiers } from './identifiers.ts';
import { type Identity, MAYBE_USED, OtherTablesError } from './identity.ts';
import { OpenReservation, type State, type Wanted } from './open-reservation.ts';
import type { Owner } from './owners.ts';
import { Retention } from './retention.ts';

/** Tries to claim a key that other processes keep removing and claiming; after that it counts as taken. */
const TRIES_MAX = 5;

export interface ReservationsPorts {
  readonly clock: Clock;
  readonly settlement: SettlementKind;
  readonly identity: Pick<Identity, 'usedBeforeSeconds' | 'sawClaims' | 'onReplaced'>;
  /** Called with the operation of each recorded sale. */
  onSold(operation: string): void;
}

export class PostgresReservations implements Reservations {
  readonly #database: Database;
  readonly #owner: Owner;
  readonly #ports: ReservationsPorts;
  readonly #claims: Claims;
  readonly #cases: Cases;
  readonly #identifiers: Identifiers;
  readonly #doubts: Doubts;
  readonly #retention: Retention;
  /** Reservations of this process by key: reserved, settling or unknown. */
  readonly #open = new Map<ReservationKey, OpenReservation>();
  /** Claims of this process in flight; each resolves with its answer. */
  readonly #claiming = new Map<ReservationKey, Promise<Reserved>>();
  /** Attempts whose claims are in flight. */
  readonly #claimingAttempts = new Set<number>();
  #attempt = 0;
  #count = 0;
  #receive: ((one: UnsettledCase) => void) | undefined;

  static async open(database: Database, owner: Owner, ports: ReservationsPorts): Promise<PostgresReservations> {
    const reservations = new PostgresReservations(database, owner, ports);
    reservations.#count = await reservations.#claims.count();
    return reservations;
  }

  private constructor(database: Database, owner: Owner, ports: ReservationsPorts) {
    this.#database = database;
    this.#owner = owner;
    this.#ports = ports;
    this.#retention = new Retention(ports.clock);
    const onDoubt = (): void => this.#doubts.expectStrays();
    this.#claims = new Claims(database, owner.id, { identity: ports.identity, retention: this.#retention, onDoubt });
    this.#cases = new Cases(database, ports.clock, owner.id, ports.settlement);
    this.#identifiers = new Identifiers(database, ports.clock, owner.id, onDoubt);
    const [claims, identifiers, cases] = [this.#claims, this.#identifiers, this.#cases];
    this.#doubts = new Doubts({ clock: ports.clock, claims, identifiers, cases });
    // A dump may have claims of attempts that have ended since.
    ports.identity.onReplaced(() => this.#doubts.expectStrays());
    owner.onLook(() => this.#look());
    owner.onLook(() => this.#takeOver());
  }

  fault(): string | undefined {
    return this.#database.fault();
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Reads the identifiers first: a purchase that another process settles in between then appears as used, without its
   * kept answer.
   */
  async find(key: ReservationKey, claims: readonly IdentifierClaim[]): Promise<Known | undefined> {
    const named = await this.#identifiers.find(claims);
    const status = await this.statusOf(key);
    return status === undefined ? named : { kind: 'taken', status };
  }

  async statusOf(key: ReservationKey): Promise<ReservationStatus | undefined> {
    const own = this.#ownStatus(key);
    if (own !== undefined) return own;
    return this.#statusOf(key, await this.#claims.find(key), this.#claiming.has(key));
  }

  async reserve(
    key: ReservationKey,
    validBeforeSeconds: number,
    claims: readonly IdentifierClaim[],
  ): Promise<Reserved> {
    const fault = this.#database.fault();
    if (fault !== undefined) return { kind: 'unavailable', detail: fault };
    for (let before = this.#claiming.get(key); before !== undefined; before = this.#claiming.get(key)) {
      const ended = await before;
      // This one has waited as long: one after the other would fail later and later.
      if (ended.kind === 'unavailable') return ended;
    }
    const own = this.#ownStatus(key);
    if (own !== undefined) return { kind: 'taken', status: own };
    const ended = this.#reserve({ key, validBeforeSeconds, claims }).finally(() => this.#claiming.delete(key));
    this.#claiming.set(key, ended);
    return ended;
  }

  async release(reservation: Reservation): Promise<void> {
    const open = this.#openOf(reservation, 'reserved');
    this.#close(open, 'free');
    await this.#doubts.tidy({ key: open.key, attempt: open.attempt, claims: open.claims, serial: undefined });
  }

  async recordIntent(
    reservation: Reservation,
    order: PaymentOrder,
    sale: SaleFacts,
    sealed: readonly Uint8Array[] = [],
  ): Promise<void> {
    const open = this.#openOf(reservation, 'reserved');
    const { key, serial, attempt, claims } = open;
    const answers = answersFor(claims, sealed);
    await this.#owner.renewLostLease();
    open.state = 'settling';
    open.intent = { order, sale };
    let recorded: Recorded | undefined;
    try {
      recorded = await this.#cases.intend.add({ key, serial, attempt, order, sale, answers });
    } catch (failure) {
      if (!(failure instanceof InDoubtError)) {
        open.state = 'reserved';
        throw failure;
      }
    }
    for (const { length } of sealed) this.#identifiers.noteAnswer(length);
    if (recorded === 'there' && !this.#owner.isLeaseLost) return;
    // In doubt, or another process may have taken it over. Settlement did not begin, so whatever is still ours becomes
    // free again.
    this.#close(open, 'free');
    this.#doubts.add({ key, attempt, claims, serial });
    throw new RecordInDoubtError('the database did not confirm the intent in time');
  }

  async recordSettled(reservation: Reservation, transaction: string): Promise<void> {
    const open = this.#openOf(reservation, 'settling', 'unknown', 'ended');
    const { intent, key, serial } = open;
    if (intent === undefined) throw new Error('a settlement without an intent');
    let isOurs: boolean;
    try {
      isOurs = await this.#cases.settle.add({ key, serial, ...intent, transaction });
    } catch (failure) {
      if (failure instanceof InDoubtError) open.mayBeSold = true;
      throw failure;
    }
    if (isOurs || open.mayBeSold) this.#ports.onSold(intent.sale.operation);
    this.#close(open, 'ended');
  }

  async recordUnknown(reservation: Reservation, transaction: string, isRefused = false): Promise<void> {
    const open = this.#openOf(reservation, 'settling', 'unknown', 'ended');
    if (open.isGone) return;
    const known = transaction === '' ? open.transaction : transaction;
    if (open.state !== 'unknown' || known !== open.transaction || (isRefused && !open.isRefused)) {
      await this.#record(open, this.#cases.markUnknown, known, undefined, isRefused);
      if (open.isGone) return;
    }
    open.state = 'unknown';
    open.transaction = known;
    open.isRefused ||= isRefused;
  }

  async recordReleased(reservation: Reservation): Promise<void> {
    const open = this.#openOf(reservation, 'settling', 'unknown', 'ended');
    if (open.isGone) return;
    await this.#record(open, this.#cases.release, '', undefined);
    if (!open.isGone) this.#close(open, 'free');
  }

  async recordDead(reservation: Reservation): Promise<void> {
    const open = this.#openOf(reservation, 'unknown', 'ended');
    if (open.isGone) return;
    await this.#record(open, this.#cases.end, open.transaction, 'dead');
    if (!open.isGone) this.#close(open, 'ended');
  }

  async isHeld(reservation: Reservation): Promise<boolean> {
    const open = this.#openOf(reservation, 'settling', 'unknown', 'ended');
    if (open.isGone) return false;
    if (await this.#cases.isHeld(open.serial)) return true;
    open.isGone = true;
    this.#close(open, 'ended');
    return false;
  }

  readKept(kept: KeptAnswer): Promise<Uint8Array | undefined> {
    return this.#identifiers.read(kept);
  }

  replaceKept(kept: Omit<KeptAnswer, 'transaction'>, sealed: Uint8Array): Promise<void> {
    return this.#identifiers.replace(kept, checkedAnswer(sealed));
  }

  async handOver(receive: (one: UnsettledCase) => void): Promise<void> {
    this.#receive = receive;
    await this.#takeOver();
  }

  async #reserve(wanted: Wanted): Promise<Reserved> {
    const { key, claims, validBeforeSeconds } = wanted;
    const attempt = ++this.#attempt;
    this.#claimingAttempts.add(attempt);
    try {
      if (validBeforeSeconds <= this.#ports.identity.usedBeforeSeconds) {
        return (await this.find(key, claims)) ?? { kind: 'unavailable', detail: MAYBE_USED };
      }
      if (claims.length === 0) return await this.#claimKey(wanted, attempt);
      return await this.#claimAll(wanted, attempt);
    } catch (failure) {
      // Identifiers may have been claimed before the outage. A claim whose answer was lost is found as a stray.
      if (claims.length > 0) this.#doubts.add({ key, attempt, claims, serial: undefined });
      if (!(failure instanceof OutageError)) throw failure;
      return { kind: 'unavailable', detail: failure.message };
    } finally {
      this.#claimingAttempts.delete(attempt);
    }
  }

  async #claimAll(wanted: Wanted, attempt: number): Promise<Reserved> {
    const { key, claims } = wanted;
    const known = await this.find(key, claims);
    if (known !== undefined) return known;
    if (!this.#identifiers.hasRoom(claims.length)) return { kind: 'no-room' };
    if (!(await this.#identifiers.claim(claims, attempt))) {
      // Another purchase got an identifier meanwhile, and may have ended already.
      return (await this.find(key, claims)) ?? { kind: 'under-way' };
    }
    const reserved = await this.#claimKey(wanted, attempt);
    if (reserved.kind !== 'reserved') await this.#identifiers.release(claims, attempt);
    return reserved;
  }

  async #claimKey(wanted: Wanted, attempt: number): Promise<Reserved> {
    const { key, validBeforeSeconds } = wanted;
    for (let tries = 0; ; tries++) {
      const serial = await this.#claims.claim({ key, validBeforeSeconds, attempt });
      if (serial !== undefined) return this.#reserved(wanted, serial, attempt);
      const found = await this.#claims.find(key);
      if (found !== undefined && found.owner === this.#owner.id && found.attempt === attempt) {
        this.#ports.identity.sawClaims(found.claims);
        return this.#reserved(wanted, found.serial, attempt);
      }
      const status = this.#statusOf(key, found);
      if (status !== undefined || tries >= TRIES_MAX) {
        return { kind: 'taken', status: status ?? { kind: 'reserved' } };
      }
      if (found !== undefined) await this.#claims.remove(key, found);
    }
  }

  /** @throws OtherTablesError when the tables were replaced since the attempt began */
  #reserved(wanted: Wanted, serial: number, attempt: number): Reserved {
    if (wanted.validBeforeSeconds <= this.#ports.identity.usedBeforeSeconds) {
      this.#doubts.expectStrays();
      throw new OtherTablesError();
    }
    const reservation = new OpenReservation(wanted, serial, attempt);
    this.#retention.saw(serial);
    this.#open.set(wanted.key, reservation);
    this.#count++;
    return { kind: 'reserved', reservation };
  }

  /**
   * undefined = free, or removable by {@link Claims.remove}. @param isClaiming a claim of this process may be in flight
   */
  #statusOf(key: ReservationKey, found: FoundClaim | undefined, isClaiming = false): ReservationStatus | undefined {
    if (found === undefined || found.isAbandoned || found.isOver) return undefined;
    const isOurs = !isClaiming && found.owner === this.#owner.id && found.status.kind === 'reserved';
    // Our claim without an open reservation: its answer was lost.
    return isOurs && this.#open.get(key)?.attempt !== found.attempt ? undefined : found.status;
  }

  #ownStatus(key: ReservationKey): ReservationStatus | undefined {
    const state = this.#open.get(key)?.state;
    // An unknown case may have been taken over, if our lease ran out.
    return state === 'reserved' || state === 'settling' ? { kind: state } : undefined;
  }

  async #record(
    open: OpenReservation,
    group: Group<EndItem, Recorded>,
    transaction: string,
    end: 'dead' | undefined,
    isRefused = false,
  ): Promise<void> {
    if (open.state === 'ended') throw new Error('a settlement that has ended');
    if ((await group.add({ serial: open.serial, transaction, isRefused })) === 'gone')
      await this.#endedElsewhere(open, end);
  }

  /**
   * Our lease ran out, and another process took the case over and may have recorded an outcome.
   * @param end the outcome that we wanted to record
   * @throws Error unless the other recorded the same outcome; nothing more is recorded for this reservation
   */
  async #endedElsewhere(open: OpenReservation, end: 'dead' | undefined): Promise<void> {
    const found = await this.#claims.find(open.key);
    const kind = found?.serial === open.serial ? found.status.kind : undefined;
    open.isGone = true;
    this.#close(open, 'ended');
    if (kind !== end) throw new Error(`another process has recorded this payment as ${kind ?? 'released'}`);
  }

  #close(open: OpenReservation, state: 'ended' | 'free'): void {
    if (this.#open.get(open.key) === open) this.#open.delete(open.key);
    open.state = state;
    if (state === 'free') this.#count--;
  }

  /** @throws Error when the reservation is not of this store or in none of the states */
  #openOf(reservation: Reservation, ...states: readonly State[]): OpenReservation {
    if (!(reservation instanceof OpenReservation)) throw new Error('not a reservation of this store');
    if (!states.includes(reservation.state) || (reservation.state === 'ended' && !reservation.isGone)) {
      throw new Error(`a reservation that is ${reservation.state}, not ${states.join(' or ')}`);
    }
    return reservation;
  }

  async #look(): Promise<void> {
    await this.#doubts.look(() => this.#attempts());
    while (await this.#claims.prune(this.#retention.removableSerial()));
    await this.#identifiers.prune();
    this.#count = await this.#claims.count();
  }

  #attempts(): Attempts {
    const open = [...this.#open.values()].filter(({ state }) => state === 'reserved' || state === 'settling');
    return { last: this.#attempt, live: [...this.#claimingAttempts, ...open.map(({ attempt }) => attempt)] };
  }

  async #takeOver(): Promise<void> {
    const receive = this.#receive;
    if (receive === undefined) return;
    const taken = await this.#cases.takeOver(this.#heldSerials());
    const began = this.#heldSerials();
    for (const found of taken.filter(({ serial }) => !began.includes(serial))) {
      const reservation = OpenReservation.takenOver(found);
      this.#open.set(reservation.key, reservation);
      receive({ reservation, order: found.order });
    }
  }

  #heldSerials(): number[] {
    const live = [...this.#open.values()].filter(({ state }) => state !== 'reserved');
    return [...live.map(({ serial }) => serial), ...this.#doubts.serials];
  }
}
