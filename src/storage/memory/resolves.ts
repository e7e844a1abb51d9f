/**
 * Paid resolves in the memory of this process (siblings §7), where decisions are made; with a journal, outcomes are on
 * disk only and read back on request. The clock decides when a resolve expires, not the sweep that later removes it.
 */
import type { Clock } from '../../base/clock.ts';
import { encodeUtf8 } from '../../base/codec.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { Timers } from '../../base/timers.ts';
import type { ResolveId } from '../../resolve/identifier.ts';
import { KEPT_MS, START_KEPT_MS, SWEEP_PAUSE_MS, TOMBSTONE_COUNT_MAX, TOMBSTONE_MS } from '../../resolve/limits.ts';
import type {
  OutcomeJson,
  ResolveCounts,
  ResolveRecord,
  ResolveStore,
  StoredResolve,
} from '../../resolve/resolve-store.ts';
import type { ResolveOutcome } from '../../resolve/result.ts';
import type { LoadedResolve, ResolveChange, ResolvesJournal } from './resolves-journal.ts';

interface Entry {
  readonly id: ResolveId;
  readonly tokenDigest: Uint8Array;
  readonly createdAtMs: number;
  /** Monotonic time before which it is not removed: a wall clock that is ahead may be set back. */
  readonly dueMs: number;
  status: 'pending' | ResolveOutcome['status'];
  /** undefined: none yet, or on disk. */
  outcome: OutcomeJson | undefined;
  outcomeBytes: number;
  /**
   * Resolves once its creation is on record. Two requests that were sold one draft share this record and fail with it.
   */
  created?: Promise<void> | undefined;
  finished?: Promise<void> | undefined;
}

type Tombstone = Pick<Entry, 'id' | 'tokenDigest' | 'createdAtMs'>;

export interface ResolvesPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** A sweep could not be recorded; the next start sweeps again. */
  onFailure(failure: unknown): void;
}

export interface ResolvesOptions {
  readonly capacityBytes: number;
  /** undefined: nothing outlives the process. */
  readonly journal?: ResolvesJournal | undefined;
  /** In the order of their creation. */
  readonly loaded?: readonly LoadedResolve[] | undefined;
}

export class MemoryResolves implements ResolveStore {
  readonly #ports: ResolvesPorts;
  readonly #capacityBytes: number;
  readonly #journal: ResolvesJournal | undefined;
  /** In the order of their creation, unless the wall clock was set back. */
  readonly #live = new Map<ResolveId, Entry>();
  readonly #tombstones = new Map<ResolveId, Tombstone>();
  #storedBytes = 0;
  #pending: ResolveRecord[] = [];
  #cancelSweep: (() => void) | undefined;

  constructor(ports: ResolvesPorts, { capacityBytes, journal, loaded = [] }: ResolvesOptions) {
    this.#ports = ports;
    this.#capacityBytes = capacityBytes;
    this.#journal = journal;
    const nowMs = ports.clock.nowMs();
    for (const { id, tokenDigest, createdAtMs, question, status, outcomeBytes } of loaded) {
      if (question === undefined && status === 'pending') {
        this.#tombstones.set(id, { id, tokenDigest, createdAtMs });
        continue;
      }
      const leftMs = Math.min(Math.max(createdAtMs + KEPT_MS - nowMs, START_KEPT_MS), KEPT_MS);
      const dueMs = ports.clock.monotonicMs() + leftMs;
      this.#add({ id, tokenDigest, createdAtMs, dueMs, status, outcome: undefined, outcomeBytes });
      if (question !== undefined) this.#pending.push({ id, tokenDigest, createdAtMs, question });
    }
    if (loaded.length > 0) this.#sweepLater();
  }

  get counts(): ResolveCounts {
    return {
      live: this.#live.size,
      tombstones: this.#tombstones.size,
      storedBytes: this.#storedBytes,
      capacityBytes: this.#capacityBytes,
    };
  }

  create(resolve: ResolveRecord): MaybePromise<void> {
    const { id, tokenDigest, createdAtMs } = resolve;
    const before = this.#live.get(id);
    if (before !== undefined) return before.created;
    const dueMs = this.#ports.clock.monotonicMs() + KEPT_MS;
    const entry: Entry = {
      id,
      tokenDigest,
      createdAtMs,
      dueMs,
      status: 'pending',
      outcome: undefined,
      outcomeBytes: 0,
    };
    this.#add(entry);
    this.#sweepLater();
    entry.created = this.#journal?.write({ kind: 'create', resolve }).catch((failure: unknown) => {
      this.#remove(id);
      throw failure;
    });
    return entry.created;
  }

  finish(id: ResolveId, status: ResolveOutcome['status'], outcome: OutcomeJson): MaybePromise<void> {
    const entry = this.#live.get(id);
    if (entry?.status !== 'pending') return;
    if (entry.finished !== undefined) return entry.finished;
    const bytes = encodeUtf8(outcome);
    const finished = (): void => {
      if (this.#live.get(id) !== entry) return;
      entry.status = status;
      entry.outcomeBytes = bytes.length;
      this.#storedBytes += bytes.length;
    };
    if (this.#journal === undefined) {
      entry.outcome = outcome;
      finished();
      return;
    }
    const failed = (failure: unknown): never => {
      entry.finished = undefined;
      throw failure;
    };
    entry.finished = this.#journal.write({ kind: 'finish', id, status, outcome: bytes }).then(finished, failed);
    return entry.finished;
  }

  find(id: ResolveId): StoredResolve | undefined {
    const entry = this.#live.get(id);
    const { createdAtMs, tokenDigest } = entry ?? this.#tombstones.get(id) ?? {};
    if (createdAtMs === undefined || tokenDigest === undefined) return undefined;
    const ageMs = this.#ports.clock.nowMs() - createdAtMs;
    if (ageMs >= KEPT_MS + TOMBSTONE_MS) return undefined;
    const isExpired = entry === undefined || ageMs >= KEPT_MS;
    return { id, tokenDigest, createdAtMs, status: isExpired ? 'expired' : entry.status };
  }

  readOutcome(id: ResolveId): MaybePromise<OutcomeJson | undefined> {
    const entry = this.#live.get(id);
    if (entry === undefined) return undefined;
    return this.#journal === undefined ? entry.outcome : this.#journal.readOutcome(id);
  }

  takePending(): readonly ResolveRecord[] {
    const pending = this.#pending;
    this.#pending = [];
    return pending;
  }

  close(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
  }

  #add(entry: Entry): void {
    this.#live.set(entry.id, entry);
    this.#storedBytes += entry.outcomeBytes;
  }

  #remove(id: ResolveId): void {
    const entry = this.#live.get(id);
    if (entry === undefined) return;
    this.#live.delete(id);
    this.#storedBytes -= entry.outcomeBytes;
  }

  #sweepLater(): void {
    this.#cancelSweep ??= this.#ports.timers.after(SWEEP_PAUSE_MS, () => {
      this.#cancelSweep = undefined;
      this.#sweep();
      if (this.#live.size + this.#tombstones.size > 0) this.#sweepLater();
    });
  }

  /**
   * Stops at the first resolve that is not due, since the maps are in the order of creation. It skips a resolve created
   * while the clock ran ahead; otherwise those behind it would fill the store until the clock catches up.
   */
  #sweep(): void {
    const { clock } = this.#ports;
    const nowMs = clock.nowMs();
    const monotonicMs = clock.monotonicMs();
    const expired: ResolveId[] = [];
    for (const { id, tokenDigest, createdAtMs, dueMs } of this.#live.values()) {
      if (nowMs < createdAtMs) continue;
      if (nowMs < createdAtMs + KEPT_MS || monotonicMs < dueMs) break;
      expired.push(id);
      this.#remove(id);
      this.#tombstones.set(id, { id, tokenDigest, createdAtMs });
    }
    const forgotten: ResolveId[] = [];
    for (const { id, createdAtMs } of this.#tombstones.values()) {
      const isFull = this.#tombstones.size > TOMBSTONE_COUNT_MAX;
      if (nowMs < createdAtMs && !isFull) continue;
      if (nowMs < createdAtMs + KEPT_MS + TOMBSTONE_MS && !isFull) break;
      forgotten.push(id);
      this.#tombstones.delete(id);
    }
    if (expired.length > 0) this.#tell({ kind: 'expire', ids: expired });
    if (forgotten.length > 0) this.#tell({ kind: 'forget', ids: forgotten });
  }

  #tell(change: ResolveChange): void {
    this.#journal?.write(change).catch((failure: unknown) => this.#ports.onFailure(failure));
  }
}
