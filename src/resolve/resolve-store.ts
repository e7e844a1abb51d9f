/**
 * The port that stores resolves (siblings §7): a paid resolve from its creation on, its outcome for one hour from
 * `created_at`, and for another hour the fact that it existed. Once a method's promise has resolved, its effect survives a
 * kill.
 */
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { ResolveId } from './identifier.ts';
import type { ResolveOutcome, ResolveQuestion } from './result.ts';

/** A paid resolve. */
export interface ResolveRecord {
  readonly id: ResolveId;
  /** SHA-256 of the read token, 32 bytes. */
  readonly tokenDigest: Uint8Array;
  /** Wall clock, milliseconds since 1970. */
  readonly createdAtMs: number;
  readonly question: ResolveQuestion;
}

export interface StoredResolve extends Pick<ResolveRecord, 'id' | 'tokenDigest' | 'createdAtMs'> {
  /** `expired`: its hour is over, and only this fact is left. */
  readonly status: 'pending' | ResolveOutcome['status'] | 'expired';
}

/** `result` and `failure` of an outcome as JSON members of an answer: `"result":{…},"failure":null`. */
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
  /** Records a pending resolve; an existing record stays unchanged. Rejects when it is not on record. */
  create(resolve: ResolveRecord): MaybePromise<void>;
  /** Records the outcome of a pending resolve; does nothing for any other. Rejects when the outcome is not on record. */
  finish(id: ResolveId, status: ResolveOutcome['status'], outcome: OutcomeJson): MaybePromise<void>;
  /** undefined: no such resolve, or it is more than two hours old. */
  find(id: ResolveId): MaybePromise<StoredResolve | undefined>;
  /** The outcome of a resolve that has one; undefined when it has just expired. Rejects when it cannot be read. */
  readOutcome(id: ResolveId): MaybePromise<OutcomeJson | undefined>;
  /**
   * Where processes share the store: calls the listener when {@link takePending} has resolves that a dead process left.
   * @param room how many more this process may take over now
   */
  onPending?(listener: () => void, room: () => number): void;
  /**
   * Resolves that an earlier process left pending; each is given to one call only. Where processes share the store, those that
   * never call this take nothing over.
   */
  takePending(): MaybePromise<readonly ResolveRecord[]>;
}
