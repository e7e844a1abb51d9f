/**
 * Which processes live: each has a row with a lease that it renews, by the database's clock. What a process held when it died
 * (unsettled cases, retries, deliveries) carries its id; the others take it over once its lease has run out, at most
 * {@link LEASE_MS} + {@link LOOK_MS} after its last sign of life.
 *
 * A process that cannot renew its lease says so ({@link Owner.onLeaseLost}) before another one may think it dead, so that what it has
 * under way ends before another begins it again.
 *
 * While the database was away no process could renew its lease. So a process takes nothing over before it has been in contact
 * for {@link LEASE_MS} without a break: by then every other one that lives has renewed its own. The same holds after the database's
 * clock was set ahead, which makes every lease look as if it had run out.
 */
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Timers } from '../../base/timers.ts';
import type { Statement } from './connections.ts';
import { type Database, LATE_MS } from './database.ts';
import { DatabaseAwayError } from './failures.ts';

export const LEASE_MS = 10_000;
/** Between two renewals, and between two looks for processes that have died. */
export const LOOK_MS = 3000;
/** A lease is taken for lost by its owner so long before the others may. */
const LOSS_MARGIN_MS = 1000;
/** Rows of processes that ended this long ago are removed. */
const FORGET_MS = 3_600_000;

/** Condition on a column `owner`: that process has died. It has no row, or its lease has run out. */
export const ownerIsDead = (column: string): string =>
  `NOT EXISTS (SELECT FROM paygrade.processes alive WHERE alive.id = ${column} AND alive.lease_until_ms >= paygrade.now_ms())`;

/**
 * The same in a statement by which the process $1 takes over. Where the database's clock was set ahead after $1 had renewed its
 * lease, every lease looks shorter, its own too.
 */
export const mayBeTaken = (column: string): string =>
  `(${ownerIsDead(column)} AND EXISTS (SELECT FROM paygrade.processes taker
    WHERE taker.id = $1 AND taker.lease_until_ms >= paygrade.now_ms() + ${LEASE_MS / 2}))`;

/** Condition on a column `owner`: that process ended, and its row is gone. Needs no trust in leases. */
export const hasNoRow = (column: string): string =>
  `NOT EXISTS (SELECT FROM paygrade.processes alive WHERE alive.id = ${column})`;

/** Something to do in each look. It may be repeated, and runs at the same time in several processes. */
export type Look = () => Promise<void>;

export interface OwnerPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  /** Called when a look failed for another reason than a database that is away. */
  onFailure(failure: unknown): void;
}

export class Owner {
  /** This process, for the whole of its life. */
  readonly id: string;
  readonly #database: Database;
  readonly #ports: OwnerPorts;
  readonly #looks: Look[] = [];
  readonly #takeOvers: Look[] = [];
  readonly #losses: (() => void)[] = [];
  /** Monotonic time from which the lease has run out, or is about to. */
  #lostAtMs = Number.NEGATIVE_INFINITY;
  #cancelLoss = (): void => {};
  /** Monotonic time since which every renewal has succeeded in time; undefined = none since the last failure or loss. */
  #inContactSinceMs: number | undefined;
  /** `aheadMs` of the database at the last renewal. */
  #aheadMs = Number.POSITIVE_INFINITY;
  #isEnded = false;
  #cancel = (): void => {};
  #renewing: Promise<void> = Promise.resolve();
  /** The renewal that decisions wait for. */
  #regaining: Promise<void> | undefined;
  /** The look that runs. */
  #looking: Promise<void> | undefined;

  constructor(database: Database, ports: OwnerPorts) {
    this.#database = database;
    this.#ports = ports;
    this.id = ports.random.uuid();
  }

  /** Adds what is done in every look while the database can be used. */
  onLook(look: Look): void {
    this.#looks.push(look);
  }

  /** Adds what takes over what dead processes held ({@link mayBeTaken}), in every look from {@link LEASE_MS} of contact on. */
  onDead(takeOver: Look): void {
    this.#takeOvers.push(takeOver);
  }

  /** Adds what is done when the lease is lost: others may take over what this process holds from now on. */
  onLeaseLost(run: () => void): void {
    this.#losses.push(run);
  }

  /** Whether others may take over what this process holds. By the clock, because timers of a process that stood still are late. */
  get isLeaseLost(): boolean {
    return this.#ports.clock.monotonicMs() >= this.#lostAtMs;
  }

  /**
   * Renews a lease that was lost, before a decision that needs it: after an outage the next look may be seconds away.
   * @throws DatabaseAwayError, StatementError or InDoubtError
   */
  async renewLostLease(): Promise<void> {
    if (!this.isLeaseLost) return;
    if (this.#isEnded) throw new DatabaseAwayError('this process has ended its lease');
    this.#regaining ??= this.#renewLease().finally(() => {
      this.#regaining = undefined;
    });
    await this.#regaining;
  }

  /** Enters this process. The renewal of its lease is the database's probe from now on. */
  async start(): Promise<void> {
    this.#database.probeWith(this.#renewal());
    await this.#renewLease();
    this.#inContactSinceMs = this.#ports.clock.monotonicMs();
    this.#renewLater();
  }

  /** Ends the lease, so that others take over at once what is left. Never rejects. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.#lostAtMs = Number.NEGATIVE_INFINITY;
    this.#cancel();
    this.#cancelLoss();
    await this.#renewing;
    await this.#regaining?.catch(() => {});
    await this.#looking;
    await this.#database
      .run({ text: 'DELETE FROM paygrade.processes WHERE id = $1', values: [this.id] })
      .catch(() => {});
  }

  #renewal(): Statement {
    return {
      name: 'renew-lease',
      text: `INSERT INTO paygrade.processes AS p (id, started_ms, lease_until_ms)
             VALUES ($1, paygrade.now_ms(), paygrade.now_ms() + $2::bigint)
             ON CONFLICT (id) DO UPDATE SET lease_until_ms = greatest(p.lease_until_ms, excluded.lease_until_ms)
             RETURNING paygrade.now_ms() AS now_ms`,
      values: [this.id, LEASE_MS],
    };
  }

  #renewLater(): void {
    if (this.#isEnded) return;
    this.#cancel = this.#ports.timers.after(LOOK_MS, () => {
      this.#renewing = this.#renew().then(() => this.#renewLater());
    });
  }

  /** The lease lasts from when the database took it, so from after the request for it. */
  async #renewLease(): Promise<void> {
    const { clock, timers } = this.#ports;
    const startMs = clock.monotonicMs();
    await this.#database.probe();
    if (this.#isEnded) return;
    const aheadMs = this.#database.aheadMs ?? 0;
    // A smaller step ends no lease that is renewed in time.
    if (aheadMs - this.#aheadMs > LOOK_MS) this.#inContactSinceMs = undefined;
    this.#aheadMs = aheadMs;
    this.#lostAtMs = startMs + LEASE_MS - LOSS_MARGIN_MS;
    this.#cancelLoss();
    this.#cancelLoss = timers.after(this.#lostAtMs - clock.monotonicMs(), () => {
      this.#inContactSinceMs = undefined;
      for (const lose of this.#losses) lose();
    });
  }

  /** Renews the lease, then looks, unless a look still runs: what it has to do may take longer than a lease lasts. */
  async #renew(): Promise<void> {
    try {
      await this.#renewLease();
    } catch {
      this.#inContactSinceMs = undefined;
      return;
    }
    this.#inContactSinceMs ??= this.#ports.clock.monotonicMs();
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
  }

  /** Whether all others that live have renewed their leases. */
  #mayTakeOver(): boolean {
    const sinceMs = this.#inContactSinceMs;
    return sinceMs !== undefined && this.#ports.clock.monotonicMs() - sinceMs >= LEASE_MS;
  }

  /** One that fails stops no other. Never rejects. */
  async #look(): Promise<void> {
    await this.#eachOf(this.#looks, () => true);
    await this.#eachOf([...this.#takeOvers, this.#forgetProcesses], () => this.#mayTakeOver());
  }

  /** @param may asked before each: a renewal may fail, or find a clock that was set, while a look runs */
  async #eachOf(looks: readonly Look[], may: () => boolean): Promise<void> {
    for (const look of looks) {
      if (!may()) return;
      try {
        await look();
      } catch (failure) {
        if (this.#database.fault() === undefined) this.#ports.onFailure(failure);
      }
    }
  }

  /**
   * Also shortens leases that were given while the database's clock ran ahead: that of a process that died meanwhile would last until
   * the clock reaches its time. None becomes shorter than a lease that is given while this is carried out late.
   */
  readonly #forgetProcesses: Look = async () => {
    await this.#database.run({
      name: 'forget-processes',
      text: `WITH shortened AS (
               UPDATE paygrade.processes SET lease_until_ms = paygrade.now_ms() + $2::bigint
               WHERE lease_until_ms > paygrade.now_ms() + $2::bigint
             )
             DELETE FROM paygrade.processes WHERE lease_until_ms < paygrade.now_ms() - $1::bigint`,
      values: [FORGET_MS, LEASE_MS + LATE_MS],
    });
  };
}
