/**
 * Recognises tables that were restored or created again (reliability 124): they do not know what was sold before. Until the
 * longest window of an authorization has passed, every process of the database refuses authorizations that may have been used
 * before. That time is on record, so it holds for processes that start meanwhile, and after a crash.
 *
 * Settlements that were under way are then recorded in the new tables under serials of the old ones. So no claim of the new tables
 * gets such a serial: the statements that go by a serial (cases.ts, books.ts) never find another purchase. And no organization
 * gets such a version again: what a process remembers of its credits decides no charge of the new tables (charges.ts), whose
 * grants may have the same serials.
 */
import type { Clock } from '../../base/clock.ts';
import { firstLineOf } from '../../base/failure.ts';
import { isoTime } from '../../base/iso-time.ts';
import { OutageError } from '../../base/outage.ts';
import { WINDOW_SECONDS_MAX } from '../../payment/protocol/network.ts';
import { latestMs } from './both-clocks.ts';
import { SKEW_MS_MAX } from './clock-skew.ts';
import type { Database } from './database.ts';
import { DatabaseAwayError } from './failures.ts';
import { numbersFrom } from './tables/identity.ts';
import type { Query } from './transaction.ts';

/** The clocks of the process that sold and of the one that starts may be off in opposite directions. */
const WINDOW_MS = WINDOW_SECONDS_MAX * 1000 + 2 * SKEW_MS_MAX;

/**
 * $1 the time by the process's clock, $2 the tables that it knows, NULL at its start. Changes nothing in tables that are those of
 * the row and of the process.
 */
const ENTER = `
  WITH entered AS (
    INSERT INTO paygrade.identity AS known (id, tables, used_before_seconds)
    VALUES (1, paygrade.tables_id(), (${latestMs('$1')} + ${WINDOW_MS} + 999) / 1000)
    ON CONFLICT (id) DO UPDATE SET tables = excluded.tables,
      used_before_seconds = greatest(known.used_before_seconds, excluded.used_before_seconds)
    WHERE known.tables <> excluded.tables OR excluded.tables <> $2::text
    RETURNING id
  ), raised AS (
    UPDATE paygrade.organizations o SET version = greatest(o.version, ${latestMs('$1')} * 1000) FROM entered
  )
  SELECT ${numbersFrom(latestMs('$1'))} FROM entered`;

/**
 * A statement of its own: the one before may have waited for another process, whose change it does not show. No row: others took
 * the place of the tables that it entered.
 */
const READ = `
  SELECT tables, used_before_seconds, 'paygrade.claims'::regclass::oid::bigint AS claims
  FROM paygrade.identity WHERE tables = paygrade.tables_id()`;

export const MAYBE_USED = 'the database was restored, and this authorization may have been used before that';

/** A claim was made in tables that its process had not entered; it counts for nothing. */
export class OtherTablesError extends OutageError {
  constructor() {
    super('the tables of the database were replaced, and this authorization may have been used before that');
  }
}

export interface IdentityPorts {
  readonly clock: Clock;
  /**
   * Runs before tables are entered, in the same transaction.
   * @throws whatever says that this process must not use them
   */
  check(query: Query): Promise<void>;
  /** Called with a notice for the operator when the tables were replaced under this process. */
  onNotice(notice: string): void;
}

export class Identity {
  readonly #database: Database;
  readonly #ports: IdentityPorts;
  readonly #replacements: (() => void)[] = [];
  /** The tables that were entered. */
  #tables: string | null = null;
  /** Those that the last answer came from. */
  #seen: string | undefined;
  #claims = 0;
  #usedBeforeSeconds = Number.POSITIVE_INFINITY;
  #entering: Promise<void> | undefined;

  /** @throws DatabaseAwayError, InDoubtError, StatementError, or what the check throws */
  static async open(database: Database, ports: IdentityPorts): Promise<Identity> {
    const identity = new Identity(database, ports);
    // The address may lead to another database one day, whose tables may have the same numbers.
    database.checkEach(async (connection) => {
      const { rows } = await connection.query({ text: 'SELECT paygrade.tables_id() AS tables' });
      identity.saw(rows[0]?.tables as string);
    });
    await identity.#enter();
    return identity;
  }

  private constructor(database: Database, ports: IdentityPorts) {
    this.#database = database;
    this.#ports = ports;
  }

  /** Adds a listener for tables that took the place of others under this process, called once they are entered. */
  onReplaced(run: () => void): void {
    this.#replacements.push(run);
  }

  /** Seconds since 1970. An authorization that expires by then may have been used in tables that are gone. */
  get usedBeforeSeconds(): number {
    return this.#usedBeforeSeconds;
  }

  /** For the operator; undefined when no authorization is refused. */
  get notice(): string | undefined {
    const untilMs = this.#usedBeforeSeconds * 1000;
    if (untilMs <= this.#ports.clock.nowMs()) return undefined;
    return `the database was restored or copied: until ${isoTime(untilMs)} the server sells nothing for authorizations that may have been used before`;
  }

  /** @param claims number of the table that took a claim */
  sawClaims(claims: number): void {
    if (claims !== this.#claims) this.#usedBeforeSeconds = Number.POSITIVE_INFINITY;
  }

  /** Called for each new connection, and with the answer of each renewal: other tables are entered; until then nothing is sold. */
  saw(tables: string): void {
    this.#seen = tables;
    if (this.#tables === null) return;
    if (tables === this.#tables && this.#usedBeforeSeconds !== Number.POSITIVE_INFINITY) return;
    this.#usedBeforeSeconds = Number.POSITIVE_INFINITY;
    // After a failure the next renewal tries again.
    this.#entering ??= this.#enter()
      .then(
        () => this.#replaced(),
        (failure: unknown) => this.#refused(failure),
      )
      .finally(() => {
        this.#entering = undefined;
      });
  }

  #replaced(): void {
    this.#database.refuse(undefined);
    this.#ports.onNotice(this.notice ?? 'the database was restored or copied');
    for (const run of this.#replacements) run();
  }

  /**
   * Reads and charges would go to tables that are not of this process, and others could not read what its key encrypts there.
   * An outage is reported as such. But a statement may also be cancelled or lost where there is none.
   */
  #refused(failure: unknown): void {
    if (failure instanceof OutageError && this.#database.fault() !== undefined) return;
    this.#database.refuse(`the tables of the database were replaced and cannot be used: ${firstLineOf(failure)}`);
  }

  /** One transaction, so one connection: the address may come to lead to another database at any time. */
  async #enter(): Promise<void> {
    const { check, clock } = this.#ports;
    const [row] = await this.#database.transaction(async (query) => {
      await check(query);
      await query({ text: ENTER, values: [clock.nowMs(), this.#tables] });
      return query({ text: READ });
    });
    // Others may also have been seen while the answer was on its way.
    if (row === undefined || row.tables !== (this.#seen ?? row.tables)) {
      throw new DatabaseAwayError('the tables of the database are being replaced');
    }
    this.#tables = row.tables as string;
    this.#claims = row.claims as number;
    this.#usedBeforeSeconds = row.used_before_seconds as number;
  }
}
