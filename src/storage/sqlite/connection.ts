/** One connection to a file of SQLite, with its prepared statements. Everything is synchronous. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

export type Row = Record<string, unknown>;

export type SqlValue = string | number | bigint | Uint8Array | null;

export class Connection {
  protected readonly database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.database = database;
  }

  /** Prepares a statement once for the life of the connection. @param sql a constant, never text with values in it */
  prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Runs a statement. @returns the number of changed rows */
  run(sql: string, ...values: readonly SqlValue[]): number {
    return Number(this.prepared(sql).run(...values).changes);
  }

  /** Runs a statement that changes exactly one row. @throws Error when it does not: a bug in the caller */
  runOnOne(sql: string, ...values: readonly SqlValue[]): void {
    if (this.run(sql, ...values) !== 1) throw new Error(`no record ${values.at(-1)}`);
  }

  /** The first row of a query; undefined without one. */
  row(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    return this.prepared(sql).get(...values) as Row | undefined;
  }

  /** Every row of a query. */
  rows(sql: string, ...values: readonly SqlValue[]): Row[] {
    return this.prepared(sql).all(...values) as Row[];
  }

  /** The rows of a query, read one after another. */
  each(sql: string, ...values: readonly SqlValue[]): Iterable<Row> {
    return this.prepared(sql).iterate(...values) as Iterable<Row>;
  }

  /** Runs statements that take no values. */
  exec(sql: string): void {
    this.database.exec(sql);
  }

  /** Every row of a query that runs once, at start: its statement is not kept. */
  all(sql: string, ...values: readonly SqlValue[]): Row[] {
    return this.database.prepare(sql).all(...values) as Row[];
  }

  inTransaction(work: () => void): void {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.database.exec('COMMIT');
    } catch (failure) {
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      throw failure;
    }
  }

  close(): void {
    this.#statements.clear();
    this.database.close();
  }
}
