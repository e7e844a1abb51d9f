/** A backend on a database of a test's own, opened and killed like a process would be. */
import type { Backend, StoreOptions } from '../../../src/storage/backend.ts';
import { openPostgresBackend, type PostgresOptions } from '../../../src/storage/postgres/backend.ts';
import type { Row } from '../../../src/storage/postgres/connections.ts';
import { Chance } from '../../support/chance.ts';
import type { ManualTime } from '../../support/manual-time.ts';
import type { TestServer } from '../../support/postgres.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres-database.ts';
import { SALES_KEPT_MS } from '../../support/sale.ts';
import { until } from '../../support/until.ts';

export class SharedDatabase {
  readonly database: TestDatabase;
  readonly #time: ManualTime;
  readonly #open: Backend[] = [];
  #seed = 0;

  static async open(server: TestServer, time: ManualTime): Promise<SharedDatabase> {
    return new SharedDatabase(await testDatabase(server, time), time);
  }

  private constructor(database: TestDatabase, time: ManualTime) {
    this.database = database;
    this.#time = time;
  }

  /** One more process; a fault in its background fails the test. */
  async process(options: StoreOptions & Pick<PostgresOptions, 'stateKey'>): Promise<Backend> {
    const backend = await openPostgresBackend(
      { databaseUrl: this.database.url, sync: 'normal', salesKeptMs: SALES_KEPT_MS, ...options },
      {
        clock: this.#time,
        timers: this.#time,
        random: new Chance(++this.#seed),
        openConnections: () => this.database.connections(this.database.gateUrl),
        onStateFault() {},
        onFailure(fault) {
          throw fault;
        },
      },
    );
    this.#open.push(backend);
    return backend;
  }

  /** A statement behind the backends. @returns its rows */
  async run(text: string): Promise<readonly Row[]> {
    const connections = this.database.connections();
    const connection = await connections.connect();
    const { rows } = await connection.query({ text });
    connection.release(false);
    await connections.end();
    return rows;
  }

  /** After a leap of time longer than a lease: every process has renewed its own. */
  async renewed(): Promise<void> {
    await until('the renewal of every lease', async () => {
      const late = await this.run('SELECT id FROM paygrade.processes WHERE lease_until_ms < paygrade.now_ms()');
      return late.length === 0;
    });
  }

  /** All processes so far count as dead, as if their leases had run out. */
  async killAll(): Promise<void> {
    await this.run('DELETE FROM paygrade.processes');
  }

  async remove(): Promise<void> {
    for (const backend of this.#open) await backend.close();
    await this.database.remove();
  }
}
