/**
 * Which processes are alive: each has a row with a lease that it renews, by the database's clock. The work that a
 * process holds (unsettled cases, retries, deliveries) carries its id; if it dies, others take that work over once its
 * lease has run out, at most {@link LEASE_MS} + {@link LOOK_MS} after its last renewal.
 *
 * A process that cannot renew its lease learns so ({@link Owner.onLeaseLost}) before another may consider it dead, so
 * that its work ends before another begins it again.
 *
 * No process can renew its lease while the database is away. So a process takes nothing over until it has been in
 * contact for {@link LEASE_MS} without a break: by then every other live process has renewed its lease. The same holds
 * after the database's clock was set ahead, which makes every lease look expired.
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
/** The owner considers its lease lost this long before others may. */
const LOSS_MARGIN_MS = 1000;
/** Rows of processes that ended this long ago are removed. */
const FORGET_MS = 3_600_000;

/** SQL condition on a column `owner`: the process is dead, because it has no row or its lease has run out. */
export const ownerIsDead = (column: string): string =>
  `NOT EXISTS (SELECT FROM paygrade.processes alive WHERE alive.id = ${column} AND alive.lease_until_ms >= paygrade.now_ms())`;

/**
 * The same condition in a statement by which the process $1 takes over. If the database's clock was set ahead after $1 renewed its
 * lease, every lease looks shorter, its own included.
 */
export const mayBeTaken = (column: string): string =>
  `(${ownerIsDead(column)} AND EXISTS (SELECT FROM paygrade.processes taker
    WHERE taker.id = $1 AND taker.lease_until_ms >= paygrade.now_ms() + ${LEASE_MS / 2}))`;

/** SQL condition on a column `owner`: the process ended and has no row. Does not depend on leases. */
export const hasNoRow = (column: string): string =>
  `NOT EXISTS (SELECT FROM paygrade.processes alive WHERE alive.id = ${column})`;

/** Work done in each look. It must be repeatable, and may run in several processes at once. */
export type Look = () => Promise<void>;

export interface OwnerPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  /** Called when a look failed although the database is not away. */
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
  /** Monotonic time from which the lease counts as lost. */
  #lostAtMs = Number.NEGATIVE_INFINITY;
  #cancelLoss = (): void => {};
  /** Monotonic time since which every renewal has succeeded in time; undefined = none since the last failure or loss. */
  #inContactSinceMs: number | undefined;
  /** `aheadMs` of the database at the last renewal. */
  #aheadMs = Number.POSITIVE_INFINITY;
  #isEnded = false;
  #cancel = (): void => {};
  #renewing: Promise<void> = Promise.resolve();
  /** The renewal of a lost lease, for which decisions wait. */
  #regaining: Promise<void> | undefined;
  /** The look that runs. */
  #looking: Promise<void> | undefined;

  constructor(database: Database, ports: OwnerPorts) {
    this.#database = database;
    this.#ports = ports;
    this.id = ports.random.uuid();
  }

  /** Adds work for every look while the database can be used. */
  onLook(look: Look): void {
    this.#looks.push(look);
  }

  /** Adds work that takes over from dead processes ({@link mayBeTaken}), for every look after {@link LEASE_MS} of contact. */
  onDead(takeOver: Look): void {
    this.#takeOvers.push(takeOver);
  }

  /** Adds a listener for the loss of the lease: from then on others may take over this process's work. */
  onLeaseLost(run: () => void): void {
    this.#losses.push(run);
  }

  /**
   * Whether others may take over this process's work. Reads the clock, because timers are late in a process that was suspended.
   */
  get isLeaseLost(): boolean {
    return this.#ports.clock.monotonicMs() >= this.#lostAtMs;
  }

  /**
   * Renews a lost lease before a decision that needs it: after an outage the next look may be seconds away.
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

  /** Registers this process. From now on the database's probe renews its lease. */
  async start(): Promise<void> {
    this.#database.probeWith(this.#renewal());
    await this.#renewLease();
    this.#inContactSinceMs = this.#ports.clock.monotonicMs();
    this.#renewLater();
  }

  /** Ends the lease, so that others take over unfinished work at once. Never rejects. */
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

  /**
   * The lease counts from the database's renewal, which comes after `startMs`; counting from `startMs` errs on the safe side.
   */
  async #renewLease(): Promise<void> {
    const { clock, timers } = this.#ports;
    const startMs = clock.monotonicMs();
    await this.#database.probe();
    if (this.#isEnded) return;
    const aheadMs = this.#database.aheadMs ?? 0;
    // A smaller step expires no lease that is renewed in time.
    if (aheadMs - this.#aheadMs > LOOK_MS) this.#inContactSinceMs = undefined;
    this.#aheadMs = aheadMs;
    this.#lostAtMs = startMs + LEASE_MS - LOSS_MARGIN_MS;
    this.#cancelLoss();
    this.#cancelLoss = timers.after(this.#lostAtMs - clock.monotonicMs(), () => {
      this.#inContactSinceMs = undefined;
      for (const lose of this.#losses) lose();
    });
  }

  /** Renews the lease, then looks, unless a look is still running: a look may take longer than a lease lasts. */
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

  /** Whether every other live process must have renewed its lease by now. */
  #mayTakeOver(): boolean {
    const sinceMs = this.#inContactSinceMs;
    return sinceMs !== undefined && this.#ports.clock.monotonicMs() - sinceMs >= LEASE_MS;
  }

  /** Runs all work of a look; a failure does not stop the rest. Never rejects. */
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
   * Also shortens leases given while the database's clock ran ahead; otherwise a dead process's lease would last until
   * the clock catches up. The new end allows for a renewal made while this statement is carried out late.
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
