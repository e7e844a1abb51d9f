/**
 * The store of retry jobs (a port; siblings §6). Backends implement it, and test/suites/retries.ts is the suite that every
 * implementation passes.
 *
 * Indivisible: {@link RetryStore.create} with its claim of an idempotency key; {@link RetryStore.buy} with its charge as well;
 * {@link RetryStore.update} of one job, from the read to the record; {@link RetryStore.takeDue} of each job that it gives. A
 * resolved promise means on record. A rejection is an outage or a bug: the step may or may not have happened.
 * {@link DamagedJobError} is different: only reads and changes of the damaged job reject with it, and
 * {@link RetryStore.takeDue} gives that job like any other.
 *
 * A taken job is held by this process until it is released: no other process gets it. Jobs of a dead process become free
 * again: at the next start where one process owns the state, else when its lease ends.
 */
import type { RetryId } from './identifier.ts';
import type { RetryJob } from './job.ts';

/**
 * The record of a job is not what was written, or its secrets do not open. Nothing can be done about that job before an
 * operator has looked; other jobs are unaffected.
 */
export class DamagedJobError extends Error {
  override readonly name = 'DamagedJobError';

  /** @param detail completes "is damaged:" */
  constructor(id: string, detail: string, options?: ErrorOptions) {
    super(`retry ${id} is damaged: ${detail}`, options);
  }
}

/** A job with its sealed secrets and result. */
export interface RetryRecord {
  readonly job: RetryJob;
  /** `JobSecrets`; null when none are needed any more. */
  readonly secrets: Uint8Array | null;
  /** The JSON value of the result's body; null without one. */
  readonly resultBody: Uint8Array | null;
}

/** Members that are left out stay as they are. */
export interface RetryChange {
  readonly job: RetryJob;
  readonly secrets?: Uint8Array | null;
  readonly resultBody?: Uint8Array | null;
  /** Added to the usage of the job's organization. */
  readonly attemptsMade?: number;
  readonly callbacksDelivered?: number;
}

export type Created =
  | { readonly kind: 'created' }
  /** The id or the idempotency key has a job already; nothing was changed. */
  | { readonly kind: 'existing'; readonly job: RetryJob };

/** The outcome of buying a job with credits. */
export type Bought =
  /** Job and charge are on record. `remaining`: credits of the organization. */
  | { readonly kind: 'charged'; readonly remaining: number }
  | { readonly kind: 'insufficient'; readonly remaining: number }
  /** The id or the idempotency key has a job already; nothing was charged. */
  | { readonly kind: 'existing' }
  /** Nothing can be recorded now; both may be on record, or neither is. `detail`: why, one line for the log. */
  | { readonly kind: 'unavailable'; readonly detail: string };

/** A job that is due, and held from now on. */
export interface DueJob {
  readonly id: RetryId;
  readonly customer: string;
  /** Bytes of its secrets. A long result is not held in memory (HELD_RESULT_BYTES_MAX). */
  readonly byteCount: number;
}

export interface DueQuery {
  readonly nowMs: number;
  readonly countMax: number;
  /** Bytes of the jobs' secrets together; at least one job is given, however many bytes it has. */
  readonly bytesMax: number;
  /** Customers whose jobs are passed over. */
  readonly without: readonly string[];
}

export interface Taken {
  /** The job that has been due longest comes first. */
  readonly jobs: readonly DueJob[];
  /** When the next of the other jobs falls due; null when there is none, undefined when more are due now. */
  readonly nextDueMs: number | null | undefined;
  /** Jobs that this process holds but another has ended: their requests in flight must stop. */
  readonly abandoned?: readonly RetryId[];
}

/** The usage of one organization in one UTC calendar month. */
export interface RetryUsage {
  readonly retriesCreated: number;
  readonly attemptsMade: number;
  readonly callbacksDelivered: number;
}

export interface RetryStore {
  /** Longest pause between looks for due jobs, as other processes may create or abandon some; undefined = there are no others. */
  readonly lookPauseMs?: number;
  create(record: RetryRecord): Promise<Created>;
  /**
   * Creates a job together with its organization's charge, so that a kill never leaves a charge without its job.
   * @param record of a job whose organization exists
   * @param credits 1 or more
   */
  buy(record: RetryRecord, credits: number): Promise<Bought>;
  find(id: RetryId): Promise<RetryRecord | undefined>;
  /** The job that was created under a customer's idempotency key. */
  findByKey(key: string): Promise<RetryJob | undefined>;
  /**
   * Reads a job, decides and records the change. @param decide is pure and may be called again; undefined changes nothing
   * @returns what was recorded; undefined for an unknown job, when `decide` returned undefined, and when another process may
   *   hold the job by now
   */
  update(id: RetryId, decide: (record: RetryRecord) => RetryChange | undefined): Promise<RetryRecord | undefined>;
  /**
   * The same for a change by the customer, even to a job that another process holds. Stores without it use {@link update}. In
   * stores with it, `update` of a job that this process has taken changes nothing once another process holds the job.
   */
  updateByCustomer?(
    id: RetryId,
    decide: (record: RetryRecord) => RetryChange | undefined,
  ): Promise<RetryRecord | undefined>;
  /**
   * Claims an idempotency key for one request, among all processes. Needed only where several processes share the store; a
   * claim of a dead process ends by itself.
   * @param claim names the request
   * @returns false while another request has it
   */
  claimKey?(key: string, claim: string): Promise<boolean>;
  releaseKey?(key: string, claim: string): Promise<void>;
  /** Forgets a job, held or not. */
  remove(id: RetryId): Promise<void>;
  takeDue(query: DueQuery): Promise<Taken>;
  /**
   * Ends this process's hold; the job is found again when it falls due. May be repeated after a rejection.
   * @returns when it falls due; undefined for a removed job
   */
  release(id: RetryId): Promise<number | undefined>;
  /** Gives up a damaged job that this process holds. No look finds it again while this process runs; its record stays. */
  setAside(id: RetryId): void;
  /**
   * Calls `run` before another process may take over this one's jobs because it seems dead: requests in flight must stop. A
   * store without it has only one process.
   */
  onLeaseLost?(run: () => void): void;
  usage(organization: string, monthMs: number): Promise<RetryUsage>;
}

export const NO_USAGE: RetryUsage = { retriesCreated: 0, attemptsMade: 0, callbacksDelivered: 0 };
