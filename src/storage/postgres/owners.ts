/**
 * Which processes are alive: each has a row with a lease, which it renews while it lives. The work that a process holds
 * (unsettled cases, retries, deliveries) carries its id. A process that has seen the same renewal of another for
 * {@link LEASE_MS} removes that row, and whatever a process without a row holds is taken over: at most {@link LEASE_MS} and
 * two {@link LOOK_MS} after its last renewal. That time is by the monotonic clock of the process that looks: setting the
 * database's clock makes no living process look dead, and no dead one alive.
 *
 * A process that cannot renew its lease learns so ({@link Owner.onLeaseLost}) before another may remove its row, so that its
 * work ends before another begins it again.
 *
 * No process can renew its lease while the database is away. So after a break in its contact a process watches the others from
 * the beginning.
 */
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Timers } from '../../base/timers.ts';
import type { Database } from './database.ts';
import { DatabaseAwayError } from './failures.ts';

export const LEASE_MS = 10_000;
/** Between two renewals, and between two looks for processes that have died. */
export const LOOK_MS = 3000;
/** How long its owner counts on a lease: a second less than others do. */
const HELD_MS = LEASE_MS - 1000;

const isRegistered = (column: string): string =>
  `EXISTS (SELECT FROM paygrade.processes alive WHERE alive.id = ${column})`;

/** SQL condition on a column `owner`: the process is dead. For statements that take nothing that may still be of use. */
export const ownerIsDead = (column: string): string => `NOT ${isRegistered(column)}`;

/**
 * The same in a statement that takes something from the dead. While it waited for a row, a process may have registered and taken
 * that row: the statement then judges the changed row, but finds no process there that registered after it began, and an anti-join
 * finds none at all. So it asks again for each that looks dead.
 */
export const ownerIsStillDead = (column: string): string =>
  `CASE WHEN ${isRegistered(column)} THEN false ELSE NOT paygrade.is_alive(${column}) END`;

/** Each renewal differs from the one before it, also when the clock was set back. */
const RENEW = `
  INSERT INTO paygrade.processes AS p (id, started_ms, lease_until_ms)
  VALUES ($1, paygrade.now_ms(), paygrade.now_ms() + $2::bigint)
  ON CONFLICT (id) DO UPDATE SET lease_until_ms = greatest(p.lease_until_ms + 1, excluded.lease_until_ms)
  RETURNING paygrade.now_ms() AS now_ms, paygrade.tables_id() AS tables`;

/** $1 the process that looks, $2 dead ones, $3 their last renewals. Returns the other processes. */
const REMOVE_DEAD = `
  WITH removed AS (
    DELETE FROM paygrade.processes p USING unnest($2::text[], $3::bigint[]) AS dead(id, renewal)
    WHERE p.id = dead.id AND p.lease_until_ms = dead.renewal RETURNING p.id
  )
  SELECT id, lease_until_ms AS renewal FROM paygrade.processes
  WHERE id <> $1 AND id NOT IN (SELECT id FROM removed)`;

/** The last renewal of another process. */
interface Seen {
  readonly renewal: number;
  /** Monotonic time at which it was first seen. */
  readonly sinceMs: number;
}

/** Work done in each look. It must be repeatable, and may run in several processes at once. */
export type Look = () => Promise<void>;

export interface OwnerPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  /** Called when a look failed although the database is not away. */
  onFailure(failure: unknown): void;
  /** Called at each renewal with what identifies the tables (identity.ts). */
  onTables?(tables: string): void;
}

export class Owner {
  /** This process, for the whole of its life. */
  readonly id: string;
  readonly #database: Database;
  readonly #ports: OwnerPorts;
  readonly #looks: Look[] = [];
  readonly #losses: (() => void)[] = [];
  /** Monotonic time at which the last renewal that succeeded began. */
  #renewedMs = Number.NEGATIVE_INFINITY;
  #cancelLoss = (): void => {};
  /** The other processes, as seen since the last break in the contact. */
  #seen: ReadonlyMap<string, Seen> = new Map();
  #isEnded = false;
  #cancel = (): void => {};
  #renewing: Promise<void> = Promise.resolve();
  /** The renewal of a lost lease, for which decisions wait. */
  #regaining: Promise<unknown> | undefined;
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

  /** Adds a listener for the loss of the lease: from then on others may take over this process's work. */
  onLeaseLost(run: () => void): void {
    this.#losses.push(run);
  }

  /**
   * Whether others may take over this process's work. Reads the clock, because timers are late in a process that was suspended.
   */
  get isLeaseLost(): boolean {
    return this.#ports.clock.monotonicMs() >= this.#renewedMs + HELD_MS;
  }

  /**
   * Renews a lost lease before a decision that needs it: after an outage the next look may be seconds away.
   * @throws DatabaseAwayError, StatementError or InDoubtError
   */
  async renewLostLease(): Promise<void> {
    if (!this.isLeaseLost) return;
    if (this.#isEnded) throw new DatabaseAwayError('this process has ended its lease');
    this.#regaining ??= this.#database.probe().finally(() => {
      this.#regaining = undefined;
    });
    await this.#regaining;
  }

  /** Registers this process. From now on the database's probe renews its lease. */
  async start(): Promise<void> {
    const renew = { name: 'renew-lease', text: RENEW, values: [this.id, LEASE_MS] };
    this.#database.probeWith(renew, ({ tables }, sentMs) => {
      this.#ports.onTables?.(tables as string);
      this.#renewed(sentMs);
    });
    await this.#database.probe();
    this.#renewLater();
  }

  /**
   * Ends the lease, so that others take over unfinished work at once. Every probe renews it, so the last one ends before. Never
   * rejects.
   */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.#renewedMs = Number.NEGATIVE_INFINITY;
    this.#cancel();
    this.#cancelLoss();
    await this.#renewing;
    await this.#regaining?.catch(() => {});
    await this.#database.probing;
    await this.#looking;
    await this.#database
      .run({ text: 'DELETE FROM paygrade.processes WHERE id = $1', values: [this.id] })
      .catch(() => {});
  }

  #renewLater(): void {
    if (this.#isEnded) return;
    this.#cancel = this.#ports.timers.after(LOOK_MS, () => {
      this.#renewing = this.#renew().then(() => this.#renewLater());
    });
  }

  /**
   * Called for each renewal that has succeeded, also for probes that ask whether an outage is over: with outages every few seconds
   * all renewals of {@link #renewLater} may fail. The lease counts from the database's renewal, which comes after `sentMs`;
   * counting from `sentMs` errs on the safe side.
   */
  #renewed(sentMs: number): void {
    // A renewal that was sent earlier may be answered later.
    if (this.#isEnded || sentMs < this.#renewedMs) return;
    const { clock, timers } = this.#ports;
    // Too long out of contact: the others may not have been able to renew their leases either.
    if (sentMs >= this.#renewedMs + HELD_MS) this.#seen = new Map();
    this.#renewedMs = sentMs;
    this.#cancelLoss();
    this.#cancelLoss = timers.after(sentMs + HELD_MS - clock.monotonicMs(), () => {
      for (const lose of this.#losses) lose();
    });
  }

  /** Renews the lease, then looks, unless a look is still running: a look may take longer than a lease lasts. */
  async #renew(): Promise<void> {
    try {
      await this.#database.probe();
    } catch {
      this.#seen = new Map();
      return;
    }
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
  }

  /** Runs all work of a look; a failure does not stop the rest. Never rejects. */
  async #look(): Promise<void> {
    for (const look of [() => this.#removeDead(), ...this.#looks]) {
      try {
        await look();
      } catch (failure) {
        if (this.#database.fault() === undefined) this.#ports.onFailure(failure);
      }
    }
  }

  /**
   * The contact is certain up to the last renewal. A process that is dead by then stays so until it renews its lease, so this
   * may be carried out late.
   */
  async #removeDead(): Promise<void> {
    const dead = [...this.#seen].filter(([, { sinceMs }]) => this.#renewedMs - sinceMs >= LEASE_MS);
    const values = [this.id, dead.map(([id]) => id), dead.map(([, { renewal }]) => renewal)];
    const statement = { name: 'remove-dead-processes', text: REMOVE_DEAD, values };
    const others = await this.#database.run(statement).catch((failure: unknown) => {
      // While tables are refused, too: those that are entered next may have rows of an earlier time.
      this.#seen = new Map();
      throw failure;
    });
    const sinceMs = this.#ports.clock.monotonicMs();
    const seen = others.map((row): [string, Seen] => {
      const before = this.#seen.get(row.id as string);
      const renewal = row.renewal as number;
      return [row.id as string, before?.renewal === renewal ? before : { renewal, sinceMs }];
    });
    this.#seen = new Map(seen);
  }
}
