/**
 * Retries in a world of virtual time: a store, a worker and a service that a test may kill at any moment, and targets that log every
 * request. A kill ends the connections of the dead process and leaves what is on record.
 */
import type { Outbound } from '../../src/outbound/outbound.ts';
import type { RetryId } from '../../src/retry/identifier.ts';
import { RetryMeter } from '../../src/retry/meter.ts';
import { Retries, type RetryCustomer, type RetryOrder } from '../../src/retry/retries.ts';
import { Sealer } from '../../src/retry/sealer.ts';
import type { RetryStore } from '../../src/retry/store.ts';
import { RetryWorker } from '../../src/retry/worker.ts';
import { StateDatabase } from '../../src/storage/sqlite/database.ts';
import { SqliteRetryStore } from '../../src/storage/sqlite/retry-store.ts';
import { freeHeldRetries, type RetryOperation } from '../../src/storage/sqlite/tables/retries.ts';
import { Chance } from '../support/chance.ts';
import { ManualTime, settle } from '../support/manual-time.ts';
import { TargetsByHost } from '../support/targets-by-host.ts';

const STATE_KEY = new Uint8Array(32).fill(7);

export interface Process {
  readonly store: RetryStore;
  readonly worker: RetryWorker;
  readonly retries: Retries;
  readonly meter: RetryMeter;
}

/** Jobs that the process of a worker holds. */
export const heldCountOf = ({ dueCount, runner }: RetryWorker): number => dueCount + runner.underWayCount;

export class RetryWorld {
  readonly time = new ManualTime();
  readonly outbound = new TargetsByHost();
  readonly failures: unknown[] = [];
  /** Records that the state does not take now. */
  isRefused = (_: RetryOperation): boolean => false;
  readonly #random: Chance;
  readonly #database = new StateDatabase({ path: ':memory:', sync: 'normal' });
  /** Of the process that runs now. */
  #life = new AbortController();
  process: Process;

  constructor(seed: number) {
    this.#random = new Chance(seed);
    this.process = this.#start();
  }

  get jobCount(): number {
    return Number(this.#database.connection.all('SELECT COUNT(*) AS count FROM retry')[0]?.count);
  }

  /** Everything in the state, as text: to look for secrets. */
  dump(): string {
    return this.#database.connection
      .all('SELECT * FROM retry')
      .map((row) =>
        Object.values(row).map((value) =>
          value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
        ),
      )
      .join('\n');
  }

  /** Turns a character of a column of a job, behind the store. */
  damage(id: RetryId, column: 'state' | 'secrets' | 'result_body'): void {
    const changed =
      column === 'state' ? "replace(state, 'scheduled', 'succeeded')" : `CAST(x'00' || ${column} AS BLOB)`;
    this.#database.connection.run(`UPDATE retry SET ${column} = ${changed} WHERE id = ?`, id);
  }

  damageUsage(): void {
    this.#database.connection.run('UPDATE retry_usage SET created = created + 1');
  }

  /** Ends the process as kill -9 does, and starts another over what is on record. */
  kill(): void {
    this.#life.abort();
    this.#life = new AbortController();
    freeHeldRetries(this.#database.connection);
    this.process = this.#start();
  }

  /** Lets time pass in steps, and everything happen that waits for promises alone. */
  async pass(byMs: number, stepMs = 250): Promise<void> {
    await settle();
    for (let passedMs = 0; passedMs < byMs; passedMs += stepMs) {
      this.time.pass(Math.min(stepMs, byMs - passedMs));
      await settle();
    }
  }

  async create(
    order: RetryOrder,
    customer: RetryCustomer = { customer: 'org:acme', organization: 'acme' },
  ): Promise<RetryId> {
    const { retries } = this.process;
    return (await retries.create(retries.draft(customer, order, null), customer, order, null)).id;
  }

  close(): void {
    this.#life.abort();
    this.#database.close();
  }

  #start(): Process {
    const { time, outbound: targets } = this;
    const { signal } = this.#life;
    const random = this.#random.fork();
    const alive = <T>(work: () => T): Promise<T> =>
      signal.aborted ? new Promise<T>(() => {}) : new Promise((resolve) => resolve(work()));
    const store = new SqliteRetryStore({
      clock: time,
      read: (query) => alive(() => this.#database.read(query)),
      write: (operation) =>
        alive(() => {
          if (this.isRefused(operation)) throw new Error('the disk is full');
          const result = this.#database.apply([operation]);
          if (result.kind !== 'done') throw new Error(result.detail);
          if (result.refused[0] !== undefined) throw new Error(result.refused[0].detail);
        }),
      accounts: { charge: () => ({ kind: 'unavailable', detail: 'no accounts' }) },
      recordsCharges: false,
    });
    const outbound: Outbound = {
      policy: targets.policy,
      lookUp: (target) => targets.lookUp(target),
      // The requests of a dead process are cut.
      send: (request) =>
        targets.send({ ...request, signal: AbortSignal.any([signal, ...(request.signal ? [request.signal] : [])]) }),
    };
    const timers = {
      after: (delayMs: number, run: () => void) => time.after(delayMs, () => !signal.aborted && run()),
    };
    const sealer = new Sealer(STATE_KEY, random);
    const meter = new RetryMeter();
    const ports = { store, outbound, sealer, clock: time, random, meter, timers };
    const worker = new RetryWorker({ ...ports, onFailure: (failure) => this.failures.push(failure) });
    const retries = new Retries({ store, sealer, clock: time, random, timers, worker });
    worker.start();
    return { store, worker, retries, meter };
  }
}
