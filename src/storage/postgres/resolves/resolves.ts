/**
 * Paid resolves of all processes (siblings §7, §9). A resolve expires by both clocks. Exactly one other process takes over
 * what a dead process left pending. Counts are those of the last sweep plus what this process has added since.
 */
import { Buffer } from 'node:buffer';
import type { Clock } from '../../../base/clock.ts';
import type { Random } from '../../../base/random.ts';
import type { Timers } from '../../../base/timers.ts';
import type { ResolveId } from '../../../resolve/identifier.ts';
import {
  KEPT_MS,
  STORED_BYTES_ON_DISK,
  SWEEP_PAUSE_MS,
  TOMBSTONE_MS,
  WORK_COUNT_MAX,
} from '../../../resolve/limits.ts';
import type {
  OutcomeJson,
  ResolveCounts,
  ResolveRecord,
  ResolveStore,
  StoredResolve,
} from '../../../resolve/resolve-store.ts';
import type { ResolveOutcome, ResolveQuestion } from '../../../resolve/result.ts';
import type { Row } from '../connections.ts';
import { type Database, LATE_MS } from '../database.ts';
import type { Owner } from '../owners.ts';
import { Repeated } from '../repeated.ts';
import {
  COUNTS,
  CREATE,
  EXPIRE,
  FIND,
  FINISH,
  FORGET,
  FREE_STRAYS,
  OUTCOME,
  SWEEP_COUNT_MAX,
  TAKE_DEAD,
} from './statements.ts';

export interface PostgresResolvesPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly database: Database;
  readonly owner: Owner;
  /** Something failed where no request waits for it. */
  onFailure(failure: unknown): void;
}

/** A take-over under a name of its own, by which a repeat finds what an earlier try took. */
interface TakeOver {
  readonly hold: string;
  readonly given: Set<ResolveId>;
  /** Monotonic time until which a try whose answer was lost may still take resolves. */
  lateUntilMs: number;
}

const recordOf = (row: Row): ResolveRecord => ({
  id: row.id as ResolveId,
  tokenDigest: new Uint8Array(row.token_digest as Uint8Array),
  createdAtMs: row.created_ms as number,
  question: JSON.parse(row.question as string) as ResolveQuestion,
});

export class PostgresResolves implements ResolveStore {
  readonly #ports: PostgresResolvesPorts;
  #counts = { live: 0, tombstones: 0, storedBytes: 0 };
  /** Creations in flight: an outcome may come before the creation is on record. */
  readonly #creating = new Map<ResolveId, Promise<readonly Row[]>>();
  /** Resolves whose outcomes this process is to record. */
  readonly #working = new Set<ResolveId>();
  /** Other pending resolves may stand under the name of this process. */
  #hasStrays = false;
  #pending: ResolveRecord[] = [];
  /** Until all that it took has been given. */
  #takeOverNow: TakeOver | undefined;
  #takingOver: Promise<void> | undefined;
  #onPending = (): void => {};
  #room = (): number => WORK_COUNT_MAX;
  /** False until {@link takePending} is called: this process would not work on what it takes over. */
  #isTakingOver = false;
  readonly #sweeps: Repeated;
  #isClosed = false;

  constructor(ports: PostgresResolvesPorts) {
    this.#ports = ports;
    const { database } = ports;
    this.#sweeps = new Repeated(
      ports,
      SWEEP_PAUSE_MS,
      () => this.#sweep(),
      (failure) => {
        if (database.fault() === undefined) ports.onFailure(failure);
      },
    );
    ports.owner.onLook(() => this.#takeOver());
  }

  get counts(): ResolveCounts {
    return { ...this.#counts, capacityBytes: STORED_BYTES_ON_DISK };
  }

  /** Called once, before any other method. */
  async start(): Promise<void> {
    await this.#sweeps.now();
    this.#sweeps.start();
  }

  onPending(listener: () => void, room: () => number): void {
    this.#onPending = listener;
    this.#room = room;
  }

  async create({ id, tokenDigest, createdAtMs, question }: ResolveRecord): Promise<void> {
    const { database, owner } = this.#ports;
    const values = [id, Buffer.from(tokenDigest), createdAtMs, JSON.stringify(question), owner.id];
    this.#working.add(id);
    const creating = database.run({ ...CREATE, values }, { isPatient: true });
    this.#creating.set(id, creating);
    try {
      if ((await creating).length === 1) this.#counts.live++;
    } catch (failure) {
      this.#working.delete(id);
      throw failure;
    } finally {
      this.#creating.delete(id);
    }
  }

  async finish(id: ResolveId, status: ResolveOutcome['status'], outcome: OutcomeJson): Promise<void> {
    await this.#creating.get(id);
    const byteCount = Buffer.byteLength(outcome);
    const { clock, database } = this.#ports;
    const finished = await database.run({ ...FINISH, values: [id, status, outcome, byteCount, clock.nowMs()] });
    this.#working.delete(id);
    if (finished.length === 1) this.#counts.storedBytes += byteCount;
  }

  async find(id: ResolveId): Promise<StoredResolve | undefined> {
    const { clock, database } = this.#ports;
    const [row] = await database.run({ ...FIND, values: [id, clock.nowMs()] });
    const ageMs = row?.age_ms as number | undefined;
    if (row === undefined || ageMs === undefined || ageMs >= KEPT_MS + TOMBSTONE_MS) return undefined;
    return {
      id,
      tokenDigest: new Uint8Array(row.token_digest as Uint8Array),
      createdAtMs: row.created_ms as number,
      status: ageMs >= KEPT_MS ? 'expired' : (row.status as StoredResolve['status']),
    };
  }

  async readOutcome(id: ResolveId): Promise<OutcomeJson | undefined> {
    const { clock, database } = this.#ports;
    const [row] = await database.run({ ...OUTCOME, values: [id, clock.nowMs()] });
    return row?.outcome as OutcomeJson | undefined;
  }

  async takePending(): Promise<readonly ResolveRecord[]> {
    this.#isTakingOver = true;
    await this.#takeOver();
    return this.#pending.splice(0);
  }

  /** A dump may hold as pending what this process has finished since: the next look frees it for a take-over. */
  expectStrays(): void {
    this.#hasStrays = true;
  }

  /** Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#sweeps.close();
  }

  /** One at a time: a second would be given what the first took, whose name it shares. */
  #takeOver(): Promise<void> {
    this.#takingOver ??= this.#takeOverOnce().finally(() => {
      this.#takingOver = undefined;
    });
    return this.#takingOver;
  }

  async #takeOverOnce(): Promise<void> {
    const { clock, database, owner, random } = this.#ports;
    const count = this.#room();
    if (this.#isClosed || !this.#isTakingOver || count <= 0) return;
    if (this.#hasStrays) await this.#freeStrays();
    this.#takeOverNow ??= { hold: random.uuid(), given: new Set(), lateUntilMs: Number.NEGATIVE_INFINITY };
    const takeOver = this.#takeOverNow;
    const startMs = clock.monotonicMs();
    const onDoubt = (): void => {
      takeOver.lateUntilMs = clock.monotonicMs() + LATE_MS;
    };
    const values = [owner.id, takeOver.hold, clock.nowMs(), count, [...takeOver.given]];
    const taken = (await database.run({ ...TAKE_DEAD, values }, { onDoubt })).map(recordOf);
    for (const { id } of taken) {
      takeOver.given.add(id);
      this.#working.add(id);
    }
    // The database may have been away until that time, so once more after it.
    if (startMs >= takeOver.lateUntilMs && taken.length < count) this.#takeOverNow = undefined;
    if (taken.length === 0) return;
    this.#pending.push(...taken);
    this.#onPending();
  }

  async #freeStrays(): Promise<void> {
    const { database, owner } = this.#ports;
    this.#hasStrays = false;
    try {
      await database.run({ ...FREE_STRAYS, values: [owner.id, [...this.#working]] });
    } catch (failure) {
      this.#hasStrays = true;
      throw failure;
    }
  }

  async #sweep(): Promise<void> {
    const { clock, database } = this.#ports;
    for (;;) {
      const expired = await database.run({ ...EXPIRE, values: [clock.nowMs()] });
      if (expired.length < SWEEP_COUNT_MAX) break;
    }
    await database.run(FORGET);
    const [row] = await database.run(COUNTS);
    this.#counts = {
      live: row?.live as number,
      tombstones: row?.expired as number,
      storedBytes: row?.bytes as number,
    };
  }
}
