/**
 * Retry jobs over the tables of a state file. One process owns the file, so it tracks the jobs that it holds in memory,
 * and steps of one job take turns here. Memory has nothing of a job that is not held.
 */
import { monthStartMs } from '../../accounts/month.ts';
import type { Clock } from '../../base/clock.ts';
import { StepsInTurn } from '../../base/steps-in-turn.ts';
import type { RetryId } from '../../retry/identifier.ts';
import type { RetryJob } from '../../retry/job.ts';
import { HELD_RESULT_BYTES_MAX } from '../../retry/limits.ts';
import {
  type Bought,
  type Created,
  DamagedJobError,
  type DueQuery,
  NO_USAGE,
  type RetryChange,
  type RetryRecord,
  type RetryStore,
  type RetryUsage,
  type Taken,
} from '../../retry/store.ts';
import type { MemoryAccounts } from '../memory/accounts.ts';
import type { ChargeChange } from '../memory/accounts-journal.ts';
import {
  DAMAGED,
  type DueRows,
  RETRIES,
  type RetryOperation,
  type RetryQuery,
  type UsageAdded,
} from './tables/retries.ts';

export interface RetryStorePorts {
  readonly clock: Clock;
  read(query: RetryQuery): Promise<unknown>;
  /** Resolves when the operation is on record. Operations take effect in the order of the calls. */
  write(operation: RetryOperation): Promise<void>;
  /** The accounts that jobs are bought from. */
  readonly accounts: Pick<MemoryAccounts, 'charge'>;
  /** False: neither jobs nor charges outlive this process, so charges are not written. */
  readonly recordsCharges: boolean;
}

export class SqliteRetryStore implements RetryStore {
  readonly #ports: RetryStorePorts;
  /** Jobs that this process holds, with their record once it was read. */
  readonly #held = new Map<RetryId, RetryRecord | undefined>();
  /** Steps of one job take turns. */
  readonly #steps = new StepsInTurn<RetryId>();
  /** Jobs that were written since the look for due ones began. */
  #writtenSinceLook = new Set<RetryId>();

  constructor(ports: RetryStorePorts) {
    this.#ports = ports;
  }

  async create(record: RetryRecord): Promise<Created> {
    try {
      await this.#create(record, undefined);
      return { kind: 'created' };
    } catch (failure) {
      const existing = await this.#existing(record.job);
      if (existing !== undefined) return { kind: 'existing', job: existing.job };
      throw failure;
    }
  }

  async buy(record: RetryRecord, credits: number): Promise<Bought> {
    const { accounts, recordsCharges } = this.#ports;
    const { organization } = record.job;
    if (organization === null) throw new Error('a job that no organization pays for');
    const isThere = async (): Promise<boolean> =>
      (await this.#existing(record.job).catch(() => undefined)) !== undefined;
    try {
      const bought = await accounts.charge(organization, credits, (charge) =>
        this.#create(record, recordsCharges ? charge : undefined),
      );
      if (bought.kind !== 'unavailable' || !(await isThere())) return bought;
    } catch (failure) {
      // The database refuses a second job with an id or a key.
      if (!(await isThere())) throw failure;
    }
    return { kind: 'existing' };
  }

  async find(id: RetryId): Promise<RetryRecord | undefined> {
    return this.#held.get(id) ?? this.#steps.run(id, () => this.#current(id));
  }

  async findByKey(key: string): Promise<RetryJob | undefined> {
    return (await this.#read({ table: RETRIES, kind: 'key', key }))?.job;
  }

  update(id: RetryId, decide: (record: RetryRecord) => RetryChange | undefined): Promise<RetryRecord | undefined> {
    return this.#steps.run(id, async () => {
      const before = await this.#current(id);
      const change = before && decide(before);
      if (before === undefined || change === undefined) return undefined;
      const { attemptsMade, callbacksDelivered, ...changed } = change;
      const after: RetryRecord = { ...before, ...changed };
      const usage = this.#usageOf(after.job, { attemptsMade, callbacksDelivered });
      this.#writtenSinceLook.add(id);
      await this.#ports.write({ table: RETRIES, kind: 'update', ...changed, isHeld: this.#held.has(id), usage });
      if (this.#held.has(id)) this.#hold(id, after);
      return after;
    });
  }

  remove(id: RetryId): Promise<void> {
    return this.#steps.run(id, async () => {
      await this.#ports.write({ table: RETRIES, kind: 'remove', id });
      this.#held.delete(id);
    });
  }

  async takeDue(query: DueQuery): Promise<Taken> {
    this.#writtenSinceLook = new Set();
    const { rows, nextDueMs } = (await this.#ports.read({ table: RETRIES, kind: 'due', ...query })) as DueRows;
    // Skips rows still held here: their release is committed, but not yet confirmed to us.
    const fresh = rows.filter(({ id }) => !this.#held.has(id));
    for (const { id, record } of fresh) {
      const isCurrent = !this.#steps.has(id) && !this.#writtenSinceLook.has(id);
      this.#hold(id, isCurrent && record !== DAMAGED ? record : undefined);
    }
    if (fresh.length > 0) {
      try {
        await this.#ports.write({ table: RETRIES, kind: 'take', ids: fresh.map(({ id }) => id) });
      } catch (failure) {
        for (const { id } of fresh) this.#held.delete(id);
        throw failure;
      }
    }
    return { jobs: fresh.map(({ id, customer, byteCount }) => ({ id, customer, byteCount })), nextDueMs };
  }

  release(id: RetryId): Promise<number | undefined> {
    return this.#steps.run(id, async () => {
      const record = await this.#current(id);
      // Until the release is on record the job stays held, so that the release can be repeated: no look would find the
      // job again.
      if (record !== undefined) await this.#ports.write({ table: RETRIES, kind: 'release', id });
      this.#held.delete(id);
      return record?.job.dueAtMs;
    });
  }

  /** Its row stays without a due time until the next start frees held jobs. */
  setAside(id: RetryId): void {
    this.#held.delete(id);
  }

  async usage(organization: string, monthMs: number): Promise<RetryUsage> {
    const found = await this.#ports.read({ table: RETRIES, kind: 'usage', organization, monthMs });
    return (found as RetryUsage | undefined) ?? NO_USAGE;
  }

  #create(record: RetryRecord, charge: ChargeChange | undefined): Promise<void> {
    const usage = this.#usageOf(record.job, { retriesCreated: 1 });
    return this.#ports.write({
      table: RETRIES,
      kind: 'create',
      ...record,
      isHeld: false,
      usage,
      ...(charge && { charge }),
    });
  }

  /** The job that has the id or the idempotency key. */
  async #existing({ id, idempotency }: RetryJob): Promise<RetryRecord | undefined> {
    const found = await this.#read({ table: RETRIES, kind: 'find', id });
    if (found !== undefined || idempotency === null) return found;
    return this.#read({ table: RETRIES, kind: 'key', key: idempotency.key });
  }

  /** @throws DamagedJobError by rejecting */
  async #read(query: Extract<RetryQuery, { kind: 'find' | 'key' }>): Promise<RetryRecord | undefined> {
    const found = (await this.#ports.read(query)) as RetryRecord | typeof DAMAGED | undefined;
    if (found !== DAMAGED) return found;
    const which = query.kind === 'find' ? query.id : 'of an idempotency key';
    throw new DamagedJobError(which, 'its record is not what was written');
  }

  /**
   * Does not keep a record with a long result, because many may wait for their delivery; it is read again when needed.
   */
  #hold(id: RetryId, record: RetryRecord | undefined): void {
    this.#held.set(id, (record?.resultBody?.length ?? 0) > HELD_RESULT_BYTES_MAX ? undefined : record);
  }

  async #current(id: RetryId): Promise<RetryRecord | undefined> {
    const held = this.#held.get(id);
    if (held !== undefined) return held;
    const record = await this.#read({ table: RETRIES, kind: 'find', id });
    if (record !== undefined && this.#held.has(id)) this.#hold(id, record);
    return record;
  }

  #usageOf(
    { organization }: RetryJob,
    added: { readonly [K in keyof RetryUsage]?: number | undefined },
  ): UsageAdded | undefined {
    const { retriesCreated = 0, attemptsMade = 0, callbacksDelivered = 0 } = added;
    if (organization === null || retriesCreated + attemptsMade + callbacksDelivered === 0) return undefined;
    const monthMs = monthStartMs(this.#ports.clock.nowMs());
    return { organization, monthMs, retriesCreated, attemptsMade, callbacksDelivered };
  }
}
