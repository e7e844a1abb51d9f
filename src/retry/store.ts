/**
 * The store of retry jobs (a port; siblings §6). Backends implement it, and test/suites/retries.ts is the suite that every
 * implementation passes.
 *
 * Indivisible: {@link RetryStore.create} with its claim of an idempotency key; {@link RetryStore.buy} with its charge as well;
 * {@link RetryStore.update} of one job, from the read to the record; {@link RetryStore.takeDue} of each job that it gives. What a
 * resolved promise says is on record. A rejection is an outage: the step may or may not have happened. {@link DamagedJobError} is
 * another: reads and changes of that job alone reject with it, and {@link RetryStore.takeDue} gives it like every other.
 *
 * A job that was taken is held by this process until it is released: no other process gets it. What a dead process held is free
 * again, at the next start where one process owns the state, else when its lease ends.
 */
import type { RetryId } from './identifier.ts';
import type { RetryJob } from './job.ts';

/**
 * The record of a job is not what was written, or what it carries does not open. Nothing can be done about that job before an
 * operator has looked; all others are well.
 */
export class DamagedJobError extends Error {
  override readonly name = 'DamagedJobError';

  /** @param detail completes "is damaged:" */
  constructor(id: string, detail: string, options?: ErrorOptions) {
    super(`retry ${id} is damaged: ${detail}`, options);
  }
}

/** A job with what it carries, sealed. */
export interface RetryRecord {
  readonly job: RetryJob;
  /** `JobSecrets`; null when nothing of them is needed any more. */
  readonly secrets: Uint8Array | null;
  /** The JSON value of the result's body; null without one. */
  readonly resultBody: Uint8Array | null;
}

/** Members that are left out stay as they are. */
export interface RetryChange {
  readonly job: RetryJob;
  readonly secrets?: Uint8Array | null;
  readonly resultBody?: Uint8Array | null;
  /** Counts for the usage of the job's organization. */
  readonly attemptsMade?: number;
  readonly callbacksDelivered?: number;
}

export type Created =
  | { readonly kind: 'created' }
  /** The id or the idempotency key has a job already; nothing was changed. */
  | { readonly kind: 'existing'; readonly job: RetryJob };

/** What became of a job that is bought with credits. */
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
  /** Bytes of their secrets together; one job at least comes, whatever it has. */
  readonly bytesMax: number;
  /** Customers whose jobs are passed over. */
  readonly without: readonly string[];
}

export interface Taken {
  /** The longest due first. */
  readonly jobs: readonly DueJob[];
  /** When the first of the others falls due; null when there is none, undefined when more are due now. */
  readonly nextDueMs: number | null | undefined;
  /** Jobs that this process holds and another one has ended: what is under way of them is to stop. */
  readonly abandoned?: readonly RetryId[];
}

/** Of one organization in one UTC calendar month. */
export interface RetryUsage {
  readonly retriesCreated: number;
  readonly attemptsMade: number;
  readonly callbacksDelivered: number;
}

export interface RetryStore {
  /** Longest pause between two looks for due jobs, where other processes create and leave some; undefined = there are none. */
  readonly lookPauseMs?: number;
  create(record: RetryRecord): Promise<Created>;
  /**
   * Creates a job that its organization pays for: a kill never leaves a charge without its job.
   * @param record of a job with an organization, which exists
   * @param credits 1 or more
   */
  buy(record: RetryRecord, credits: number): Promise<Bought>;
  find(id: RetryId): Promise<RetryRecord | undefined>;
  /** The job that a customer's idempotency key made. */
  findByKey(key: string): Promise<RetryJob | undefined>;
  /**
   * Reads a job, decides and records the change. @param decide is pure and may be called again; undefined changes nothing
   * @returns what was recorded; undefined for an unknown job, where `decide` gave nothing, and where another process may hold the
   * job by now
   */
  update(id: RetryId, decide: (record: RetryRecord) => RetryChange | undefined): Promise<RetryRecord | undefined>;
  /**
   * The same at a customer's word, also for a job that another process holds. Of a store without it, {@link update} is that; where
   * it is, `update` of a job that this process has taken changes nothing once another one holds it.
   */
  updateByCustomer?(
    id: RetryId,
    decide: (record: RetryRecord) => RetryChange | undefined,
  ): Promise<RetryRecord | undefined>;
  /**
   * Claims an idempotency key for one request, among all processes. Needed where there are others; a claim whose process has died
   * ends by itself.
   * @param claim names the request
   * @returns false while another request has it
   */
  claimKey?(key: string, claim: string): Promise<boolean>;
  releaseKey?(key: string, claim: string): Promise<void>;
  /** Forgets a job, held or not. */
  remove(id: RetryId): Promise<void>;
  takeDue(query: DueQuery): Promise<Taken>;
  /**
   * Ends the hold of this process; the job is found again when it falls due. After a rejection it may be repeated.
   * @returns when that is; undefined for a job that was removed
   */
  release(id: RetryId): Promise<number | undefined>;
  /** Ends the work of this process on a damaged job that it holds. No look finds it while this process runs; its record stays. */
  setAside(id: RetryId): void;
  /**
   * Calls `run` before another process may take what this one holds because it seems dead: what is under way has to stop.
   * A store without it has no other process.
   */
  onLeaseLost?(run: () => void): void;
  usage(organization: string, monthMs: number): Promise<RetryUsage>;
}

export const NO_USAGE: RetryUsage = { retriesCreated: 0, attemptsMade: 0, callbacksDelivered: 0 };
