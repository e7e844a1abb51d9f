/** Stores of one process after another on one database, as suites need them. */
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { Timers } from '../../../src/base/timers.ts';
import { CLAIM_BYTES } from '../../../src/callback/limits.ts';
import { POLL_MS } from '../../../src/storage/postgres/callbacks/waits.ts';
import { Database } from '../../../src/storage/postgres/database.ts';
import { type DomainStores, openDomainStores } from '../../../src/storage/postgres/domain-stores.ts';
import { Owner } from '../../../src/storage/postgres/owners.ts';
import type { ManualTime } from '../../support/manual-time.ts';
import type { TestServer } from '../../support/postgres.ts';
import { sentBy, type TestDatabase, testDatabase } from '../../support/postgres-database.ts';

export type { DomainStores };

export interface OpenedProcess {
  readonly stores: DomainStores;
  readonly database: Database;
  readonly owner: Owner;
  /** Statements that write about accounts. */
  writeCount(): number;
  /** As a shutdown ends it. */
  close(): Promise<void>;
  /** As a kill ends it, once its lease has run out. */
  kill(): Promise<void>;
}

export interface ProcessOptions {
  readonly callbackCount?: number;
  readonly isPlay?: boolean;
  /** False: as behind a pooler that refuses LISTEN. */
  readonly hasHints?: boolean;
  /** False: it does not look for events by itself. */
  readonly hasPolls?: boolean;
}

/** Those of the system, but for the poll that looks for events. */
const UNPOLLED: Timers = { after: (ms, run) => (ms === POLL_MS ? () => {} : systemTimers.after(ms, run)) };

/** One more process on a database. @param time undefined = the system's clock and timers */
export async function openProcess(
  on: TestDatabase,
  time?: ManualTime,
  { callbackCount = 100, isPlay = true, hasHints = true, hasPolls = true }: ProcessOptions = {},
): Promise<OpenedProcess> {
  const clock = time ?? systemClock;
  const timers = time ?? (hasPolls ? systemTimers : UNPOLLED);
  const random = systemRandom;
  let writeCount = 0;
  let isKilled = false;
  const connections = sentBy(on.connections(on.gateUrl), async (statement, query) => {
    const { text } = statement;
    if (isKilled) throw Object.assign(new Error('killed'), { code: 'ECONNRESET' });
    if (!hasHints && text.startsWith('LISTEN')) throw new Error('refused');
    if (/(INTO|UPDATE) paygrade\.(api_keys|organizations|onboarding_grants)/.test(text)) writeCount++;
    return query(statement);
  });
  const database = new Database(connections, { clock, timers, onStateFault() {} });
  const onFailure = (failure: unknown): void => {
    if (!isKilled) throw failure;
  };
  const owner = new Owner(database, { clock, timers, random, onFailure });
  await owner.start();
  const stores = await openDomainStores(
    { callbackBytes: callbackCount * CLAIM_BYTES, isPlay },
    { clock, timers, random, database, owner, onFailure: onFailure },
  );
  return {
    stores,
    database,
    owner,
    writeCount: () => writeCount,
    async close() {
      await stores.close();
      await owner.end();
      await database.close();
    },
    async kill() {
      isKilled = true;
      database.endWaits();
      await stores.close();
      await database.close();
      // Only now: a renewal that was on its way would have brought it back.
      const others = on.connections();
      const connection = await others.connect();
      await connection.query({ text: 'DELETE FROM paygrade.processes WHERE id = $1', values: [owner.id] });
      connection.release(false);
      await others.end();
    },
  };
}

/** A database for one test, and the processes on it. */
export class Shared {
  readonly on: TestDatabase;
  readonly #time: ManualTime | undefined;
  readonly #processes: OpenedProcess[] = [];

  private constructor(on: TestDatabase, time: ManualTime | undefined) {
    this.on = on;
    this.#time = time;
  }

  static async open(server: TestServer | undefined, time?: ManualTime): Promise<Shared> {
    if (server === undefined) throw new Error('no PostgreSQL');
    return new Shared(await testDatabase(server, time), time);
  }

  async process(options: ProcessOptions = {}): Promise<OpenedProcess> {
    const opened = await openProcess(this.on, this.#time, options);
    this.#processes.push(opened);
    return opened;
  }

  /** What a kill of the last process leaves, to another one. */
  async reopen(options: ProcessOptions = {}): Promise<OpenedProcess> {
    await this.#processes.pop()?.kill();
    return this.process(options);
  }

  async remove(): Promise<void> {
    for (const one of this.#processes.splice(0)) await one.close();
    await this.on.remove();
  }
}
