/**
 * Retry jobs of all processes together (siblings §6, §9). A look takes due jobs and holds them, skipping rows that
 * another look is taking. A change is decided from a record that was read, and takes effect only if that record is
 * still the latest. A change by the holder also needs its hold, so a process that lost its lease changes and sends
 * nothing more. The next look at dead processes frees what they held (owners.ts).
 */
import { monthStartMs } from '../../../accounts/month.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Random } from '../../../base/random.ts';
import { StepsInTurn } from '../../../base/steps-in-turn.ts';
import type { RetryId } from '../../../retry/identifier.ts';
import { hasEnded, type RetryJob } from '../../../retry/job.ts';
import { HELD_RESULT_BYTES_MAX } from '../../../retry/limits.ts';
import {
  type Bought,
  type Created,
  DamagedJobError,
  type DueJob,
  type DueQuery,
  NO_USAGE,
  type RetryChange,
  type RetryRecord,
  type RetryStore,
  type RetryUsage,
  type Taken,
} from '../../../retry/store.ts';
import { bytesOrNull, decodeJob, encodeJob } from '../../retry-record.ts';
import type { PostgresAccounts } from '../accounts/accounts.ts';
import type { Row } from '../connections.ts';
import { type Database, LATE_MS } from '../database.ts';
import { DatabaseAwayError, isUniqueViolation } from '../failures.ts';
import type { Owner } from '../owners.ts';
import {
  BUY,
  CHANGE,
  CLAIM_KEY,
  CREATE,
  FIND,
  FIND_BY_KEY,
  FREE_DEAD,
  FREE_DEAD_KEYS,
  FREE_STRAYS,
  RELEASE,
  RELEASE_KEY,
  REMOVE,
  TAKE,
  USAGE,
} from './statements.ts';

/** Jobs that other processes create, or leave when they die, are found at most this much later. */
const LOOK_PAUSE_MS = 2000;

interface Versioned {
  readonly record: RetryRecord;
  readonly version: number;
}

interface Held {
  readonly hold: string;
  /** As it was last read or written here. */
  known: Versioned | undefined;
}

export interface PostgresRetriesPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly database: Database;
  readonly owner: Owner;
  /** The accounts that jobs are bought from. */
  readonly accounts: Pick<PostgresAccounts, 'charge'>;
}

/** What memory keeps of a held job: not a long result. */
const heldOf = (known: Versioned): Versioned | undefined =>
  (known.record.resultBody?.length ?? 0) > HELD_RESULT_BYTES_MAX ? undefined : known;

/** @throws DamagedJobError */
function jobOf(row: Row): RetryJob {
  const id = row.id as RetryId;
  try {
    const key = row.key_digest as string | null;
    return decodeJob(id, row.customer as string, key, row.next_ms as number, row.state as string);
  } catch (cause) {
    throw new DamagedJobError(id, 'its record is not what was written', { cause });
  }
}

/** @throws DamagedJobError */
const versionedOf = (row: Row): Versioned => ({
  record: { job: jobOf(row), secrets: bytesOrNull(row.secrets), resultBody: bytesOrNull(row.result_body) },
  version: row.version as number,
});

export class PostgresRetries implements RetryStore {
  readonly lookPauseMs = LOOK_PAUSE_MS;
  readonly #ports: PostgresRetriesPorts;
  /**
   * Holds of the jobs that this process works on, as far as it knows, oldest first. After a lost lease or a late
   * answer, a look may take a job while earlier work on it is still ending: the first hold belongs to that work.
   */
  readonly #held = new Map<RetryId, Held[]>();
  /** Steps under way here; steps of one job take turns. */
  readonly #steps = new StepsInTurn<RetryId>();
  /** Damaged jobs. They stay held in the database while this process runs: its lease keeps other processes off them. */
  readonly #aside = new Set<RetryId>();
  /** Monotonic time until which this process may be given jobs that it does not know of; undefined = all of them are free. */
  #straysUntilMs: number | undefined;
  /** Idempotency keys that could not be released, or may be claimed late, by their claims. */
  readonly #unreleased = new Map<string, string>();
  /** Monotonic times until which claims of idempotency keys whose answers were lost may still be carried out. */
  readonly #lateClaims = new Map<string, number>();

  constructor(ports: PostgresRetriesPorts) {
    this.#ports = ports;
    ports.owner.onLook(async () => {
      for (const [claim, key] of [...this.#unreleased]) await this.releaseKey(key, claim);
    });
    ports.owner.onLook(async () => {
      await ports.database.run(FREE_DEAD);
      await ports.database.run(FREE_DEAD_KEYS);
    });
  }

  /** Frees the jobs that earlier processes held. Called once, before any other method. */
  async start(): Promise<void> {
    await this.#ports.database.run(FREE_DEAD);
  }

  onLeaseLost(run: () => void): void {
    this.#ports.owner.onLeaseLost(run);
  }

  async create(record: RetryRecord): Promise<Created> {
    const { database } = this.#ports;
    const { job } = record;
    const key = job.idempotency?.key ?? null;
    for (;;) {
      const [row] = await database.run({ ...CREATE, values: this.#valuesOf(record) }, { isPatient: true });
      if (row?.is_made === true) return { kind: 'created' };
      const existing = (await this.#read(job.id)) ?? (key === null ? undefined : await this.#readByKey(key));
      if (existing !== undefined) return { kind: 'existing', job: existing.record.job };
      // The job that it collided with was removed in between.
    }
  }

  async buy(record: RetryRecord, credits: number): Promise<Bought> {
    const { organization } = record.job;
    if (organization === null) throw new Error('a job that no organization pays for');
    this.#expectClock();
    try {
      return await this.#ports.accounts.charge(organization, credits, { ...BUY, values: this.#valuesOf(record) });
    } catch (failure) {
      if (isUniqueViolation(failure)) return { kind: 'existing' };
      throw failure;
    }
  }

  async find(id: RetryId): Promise<RetryRecord | undefined> {
    return (await this.#read(id))?.record;
  }

  async findByKey(key: string): Promise<RetryJob | undefined> {
    return (await this.#readByKey(key))?.record.job;
  }

  async claimKey(key: string, claim: string): Promise<boolean> {
    const { clock, database, owner } = this.#ports;
    const onDoubt = (): void => void this.#lateClaims.set(claim, clock.monotonicMs() + LATE_MS);
    const values = [key, `${owner.id} ${claim}`, clock.nowMs()];
    return (await database.run({ ...CLAIM_KEY, values }, { onDoubt })).length === 1;
  }

  async releaseKey(key: string, claim: string): Promise<void> {
    const { clock, database, owner } = this.#ports;
    const values = [key, `${owner.id} ${claim}`];
    const mayComeLate = clock.monotonicMs() < (this.#lateClaims.get(claim) ?? 0);
    // The customer's next request would wait for this key, so every look tries again.
    this.#unreleased.set(claim, key);
    await database.run({ ...RELEASE_KEY, values });
    if (mayComeLate) return;
    this.#unreleased.delete(claim);
    this.#lateClaims.delete(claim);
  }

  update(id: RetryId, decide: (record: RetryRecord) => RetryChange | undefined): Promise<RetryRecord | undefined> {
    return this.#steps.run(id, async () => {
      const changed = await this.#change(id, decide, this.#holdOf(id));
      // If this process was suspended meanwhile, another may have taken the job over before our lease timer fires.
      return this.#ports.owner.isLeaseLost ? undefined : changed;
    });
  }

  updateByCustomer(
    id: RetryId,
    decide: (record: RetryRecord) => RetryChange | undefined,
  ): Promise<RetryRecord | undefined> {
    return this.#steps.run(id, () => this.#change(id, decide, undefined));
  }

  async remove(id: RetryId): Promise<void> {
    await this.#ports.database.run({ ...REMOVE, values: [id] });
  }

  async takeDue({ nowMs, countMax, bytesMax, without }: DueQuery): Promise<Taken> {
    const { clock, database, random, owner } = this.#ports;
    this.#expectClock();
    const untilMs = this.#straysUntilMs;
    if (untilMs !== undefined) {
      // The database may have been away until then, so once more after it.
      const isOver = clock.monotonicMs() >= untilMs;
      await database.run({ ...FREE_STRAYS, values: [owner.id, [...this.#held.keys(), ...this.#aside]] });
      if (isOver && this.#straysUntilMs === untilMs) this.#straysUntilMs = undefined;
    }
    const hold = random.uuid();
    const onDoubt = (): void => this.expectStrays();
    const values = [nowMs, countMax, bytesMax, without, owner.id, hold];
    const rows = await database.run({ ...TAKE, values }, { onDoubt });
    const end = rows.find(({ id }) => id === null);
    if (end === undefined) throw new Error('a look without its end');
    const found = rows.filter(({ id }) => id !== null).sort((a, b) => (a.next_ms as number) - (b.next_ms as number));
    for (const row of found) {
      const id = row.id as RetryId;
      this.#held.set(id, [...(this.#held.get(id) ?? []), { hold, known: undefined }]);
    }
    const jobs = found.map(
      (row): DueJob => ({
        id: row.id as RetryId,
        customer: row.customer as string,
        byteCount: row.byte_count as number,
      }),
    );
    const nextDueMs = end.is_full === true ? undefined : (end.after_ms as number | null);
    const abandoned = end.abandoned as RetryId[];
    return abandoned.length === 0 ? { jobs, nextDueMs } : { jobs, nextDueMs, abandoned };
  }

  /** A look whose answer was lost may have taken jobs, or take them late; a dump may hold what this process has ended since. */
  expectStrays(): void {
    this.#straysUntilMs = this.#ports.clock.monotonicMs() + LATE_MS;
  }

  release(id: RetryId): Promise<number | undefined> {
    return this.#steps.run(id, async () => {
      const held = this.#holdOf(id);
      const [row] = await this.#ports.database.run({ ...RELEASE, values: [id, held?.hold ?? ''] }, { isPatient: true });
      this.#endHold(id, held);
      return row?.next_ms as number | undefined;
    });
  }

  setAside(id: RetryId): void {
    this.#aside.add(id);
    this.#endHold(id, this.#holdOf(id));
  }

  #holdOf(id: RetryId): Held | undefined {
    return this.#held.get(id)?.[0];
  }

  #endHold(id: RetryId, held: Held | undefined): void {
    const others = this.#held.get(id)?.filter((one) => one !== held) ?? [];
    if (others.length === 0) this.#held.delete(id);
    else this.#held.set(id, others);
  }

  async usage(organization: string, monthMs: number): Promise<RetryUsage> {
    const [row] = await this.#ports.database.run({ ...USAGE, values: [organization, monthMs] });
    if (row === undefined) return NO_USAGE;
    return {
      retriesCreated: row.created as number,
      attemptsMade: row.attempts as number,
      callbacksDelivered: row.delivered as number,
    };
  }

  /**
   * Job times come from this process's clock. If it were off, attempts would come early and jobs end before their time.
   * @throws DatabaseAwayError
   */
  #expectClock(): void {
    const fault = this.#ports.database.fault();
    if (fault !== undefined) throw new DatabaseAwayError(fault);
  }

  /** @param held undefined = a change by a party other than the holder */
  async #change(
    id: RetryId,
    decide: (record: RetryRecord) => RetryChange | undefined,
    held: Held | undefined,
  ): Promise<RetryRecord | undefined> {
    const { database, owner, random } = this.#ports;
    if (held !== undefined) await owner.renewLostLease();
    const changeId = random.uuid();
    let tried: RetryRecord | undefined;
    if (held?.known !== undefined) {
      const change = decide(held.known.record);
      if (change !== undefined) {
        const { isMade, after } = await this.#write(id, held.known, change, changeId, held);
        if (isMade) return after;
        tried = after;
      }
      // A remembered record may be stale, so the decision is repeated with the record in the database.
      held.known = undefined;
    }
    for (;;) {
      const [row] = await database.run({ ...FIND, values: [id] });
      if (row === undefined) return undefined;
      // An earlier try of this change, whose answer was lost, took effect after all.
      if (row.change_id === changeId) return tried;
      if (held !== undefined && row.hold !== held.hold) return undefined;
      const before = versionedOf(row);
      const change = decide(before.record);
      if (change === undefined) return undefined;
      const { isMade, after } = await this.#write(id, before, change, changeId, held);
      if (isMade) return after;
      tried = after;
    }
  }

  /** Makes a change of the present version; `held` then knows the job. */
  async #write(
    id: RetryId,
    before: Versioned,
    { attemptsMade = 0, callbacksDelivered = 0, ...changed }: RetryChange,
    changeId: string,
    held: Held | undefined,
  ): Promise<{ readonly isMade: boolean; readonly after: RetryRecord }> {
    const after: RetryRecord = { ...before.record, ...changed };
    if (after.job.status === 'expired' && !hasEnded(before.record.job)) this.#expectClock();
    const isEnded = held === undefined && hasEnded(after.job);
    const values = [
      ...[id, before.version, held?.hold ?? null, changeId, after.job.dueAtMs, encodeJob(after.job)],
      ...[changed.secrets !== undefined, changed.secrets ?? null],
      ...[changed.resultBody !== undefined, changed.resultBody ?? null, isEnded],
      ...this.#usageOf(after.job, 0, attemptsMade, callbacksDelivered),
    ];
    const [row] = await this.#ports.database.run({ ...CHANGE, values });
    const isMade = row?.is_changed === true;
    if (held !== undefined) held.known = isMade ? heldOf({ record: after, version: before.version + 1 }) : undefined;
    return { isMade, after };
  }

  async #read(id: RetryId): Promise<Versioned | undefined> {
    const [row] = await this.#ports.database.run({ ...FIND, values: [id] });
    if (row === undefined) return undefined;
    const known = versionedOf(row);
    const held = this.#holdOf(id);
    if (held !== undefined && row.hold === held.hold && (held.known?.version ?? -1) < known.version)
      held.known = heldOf(known);
    return known;
  }

  async #readByKey(key: string): Promise<Versioned | undefined> {
    const [row] = await this.#ports.database.run({ ...FIND_BY_KEY, values: [key] });
    return row && versionedOf(row);
  }

  /** Parameters of a creation. */
  #valuesOf({ job, secrets }: RetryRecord): unknown[] {
    const key = job.idempotency?.key ?? null;
    return [job.id, job.customer, key, job.dueAtMs, encodeJob(job), secrets, ...this.#usageOf(job, 1, 0, 0)];
  }

  /** Parameters of `retry_usage`; without an organization there is nothing to count. */
  #usageOf({ organization }: RetryJob, created: number, attempts: number, delivered: number): unknown[] {
    const counts = created + attempts + delivered;
    return [counts === 0 ? null : organization, monthStartMs(this.#ports.clock.nowMs()), created, attempts, delivered];
  }
}
