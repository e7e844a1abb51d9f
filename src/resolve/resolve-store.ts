/**
 * The port of what resolves leave behind (siblings §7): a paid resolve from its creation on, its outcome for one hour from
 * `created_at`, and for another hour that there was one. What a promise has resolved for survives a kill.
 */
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { ResolveId } from './identifier.ts';
import type { ResolveOutcome, ResolveQuestion } from './result.ts';

/** A resolve that was paid for. */
export interface ResolveRecord {
  readonly id: ResolveId;
  /** SHA-256 of the read token, 32 bytes. */
  readonly tokenDigest: Uint8Array;
  /** Wall clock, milliseconds since 1970. */
  readonly createdAtMs: number;
  readonly question: ResolveQuestion;
}

export interface StoredResolve extends Pick<ResolveRecord, 'id' | 'tokenDigest' | 'createdAtMs'> {
  /** `expired`: its hour is over, and nothing else of it is left. */
  readonly status: 'pending' | ResolveOutcome['status'] | 'expired';
}

/** `result` and `failure` of an outcome as they stand in an answer: `"result":{…},"failure":null`. */
export type OutcomeJson = string;

export const outcomeJson = ({ result, failure }: ResolveOutcome): OutcomeJson =>
  `"result":${JSON.stringify(result)},"failure":${JSON.stringify(failure)}`;

export interface ResolveCounts {
  readonly live: number;
  readonly tombstones: number;
  readonly storedBytes: number;
  readonly capacityBytes: number;
}

export interface ResolveStore {
  readonly counts: ResolveCounts;
  /** Records a resolve that is pending; one that has its record stays as it is. Rejects when it is not on record. */
  create(resolve: ResolveRecord): MaybePromise<void>;
  /** Records the outcome of a pending resolve; for one that is not, it resolves and does nothing. Rejects when it is not on record. */
  finish(id: ResolveId, status: ResolveOutcome['status'], outcome: OutcomeJson): MaybePromise<void>;
  /** undefined: there is none, or it is two hours old. */
  find(id: ResolveId): MaybePromise<StoredResolve | undefined>;
  /** The outcome of a resolve that has one; undefined when it has just expired. Rejects when it cannot be read. */
  readOutcome(id: ResolveId): MaybePromise<OutcomeJson | undefined>;
  /** Where processes share the store: calls the listener when {@link takePending} has what a dead one left. */
  onPending?(listener: () => void): void;
  /** Those that an earlier process left pending, for one call. */
  takePending(): MaybePromise<readonly ResolveRecord[]>;
}
