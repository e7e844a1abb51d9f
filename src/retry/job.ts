/**
 * One retry job as stored in its record, and the steps that change it (siblings §6). Steps are pure: each takes a record and
 * returns the next one, or undefined if it does not apply.
 *
 *   scheduled -> running -> succeeded | failed | expired
 *                running -> waiting -> running
 *   scheduled, running, waiting -> cancelled; scheduled, waiting -> expired
 *
 * Invariants: at most one attempt is open, and only while the status is `running`; there are never more attempts than
 * `policy.maxAttempts`; a terminal status never changes; {@link RetryJob.dueAtMs} is the time of the next step of any kind, so
 * a store needs only one index to find all work. Times are milliseconds since 1970.
 */
import { TOO_LARGE_ANSWER } from '../outbound/limits.ts';
import { type Delivery, isDeliveryOver, NEW_DELIVERY } from './delivery.ts';
import type { RetryId } from './identifier.ts';
import { KEPT_MS } from './limits.ts';
import { pauseMs, type RetryPolicy } from './policy.ts';

export const STATUSES = ['scheduled', 'running', 'waiting', 'succeeded', 'failed', 'cancelled', 'expired'] as const;
export type Status = (typeof STATUSES)[number];

export const OUTCOMES = [
  'success',
  'http_error',
  'timeout',
  'connection_error',
  'blocked',
  'response_too_large',
  'interrupted',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Attempt {
  /** From 1. */
  readonly number: number;
  readonly startedAtMs: number;
  /** null while it is open, and when a kill interrupted it. */
  readonly durationMs: number | null;
  /** null while it is open. */
  readonly outcome: Outcome | null;
  readonly statusCode: number | null;
  readonly retryAfterSeconds: number | null;
  readonly nextAttemptAtMs: number | null;
}

/** The answer that ended a job, without its body. */
export interface Result {
  readonly statusCode: number;
  readonly contentType: string | null;
  /** Size of the unpacked body as read. */
  readonly sizeBytes: number;
  readonly isTruncated: boolean;
}

export const FAILURE_CODES = [
  'HTTP_ERROR',
  'ATTEMPTS_EXHAUSTED',
  'TARGET_NOT_ALLOWED',
  'RESPONSE_TOO_LARGE',
  'DEADLINE_EXCEEDED',
] as const;

export interface Failure {
  readonly code: (typeof FAILURE_CODES)[number];
  readonly message: string;
}

export interface RetryJob {
  readonly id: RetryId;
  /** `org:` and the organization's name, or `payer:` and an address. Turns and idempotency keys are per customer. */
  readonly customer: string;
  /** null for a job that was paid for. */
  readonly organization: string | null;
  /** Digest of the read token of a paid job, as `tokenDigestOf` gives it; null for a job of an organization. */
  readonly tokenDigest: string | null;
  readonly idempotency: IdempotencyClaim | null;
  readonly policy: RetryPolicy;
  readonly status: Status;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly expiresAtMs: number;
  /** null while the job goes on. */
  readonly endedAtMs: number | null;
  readonly attempts: readonly Attempt[];
  readonly nextAttemptAtMs: number | null;
  readonly result: Result | null;
  readonly failure: Failure | null;
  /** null without a callback address. */
  readonly delivery: Delivery | null;
  /** When the next step is due. */
  readonly dueAtMs: number;
}

/** The claim of an `Idempotency-Key`, as digests, so that the state holds neither the key nor the body. */
export interface IdempotencyClaim {
  /** Digest of the customer and the key. */
  readonly key: string;
  /** Digest of the body. */
  readonly fingerprint: string;
}

export interface JobDraft
  extends Pick<RetryJob, 'id' | 'customer' | 'organization' | 'tokenDigest' | 'idempotency' | 'policy'> {
  readonly deadlineSeconds: number;
  readonly hasCallback: boolean;
}

export function newJob({ deadlineSeconds, hasCallback, ...draft }: JobDraft, nowMs: number): RetryJob {
  return {
    ...draft,
    status: 'scheduled',
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    expiresAtMs: nowMs + deadlineSeconds * 1000,
    endedAtMs: null,
    attempts: [],
    nextAttemptAtMs: nowMs,
    result: null,
    failure: null,
    delivery: hasCallback ? NEW_DELIVERY : null,
    dueAtMs: nowMs,
  };
}

export const hasEnded = ({ endedAtMs }: RetryJob): boolean => endedAtMs !== null;

/** Whether a customer can still read a job: until 24 hours after its end, even if it is not removed yet. */
export const isReadable = ({ endedAtMs }: RetryJob, nowMs: number): boolean =>
  endedAtMs === null || nowMs < endedAtMs + KEPT_MS;

export const openAttempt = ({ attempts }: RetryJob): Attempt | undefined => {
  const last = attempts.at(-1);
  return last?.outcome === null ? last : undefined;
};

/** What the process that holds a job must do next. */
export type Step = 'attempt' | 'interrupt' | 'expire' | 'deliver' | 'interrupt-delivery' | 'remove' | 'none';

/** The due step, for a process that has no attempt or try of this job in flight. */
export function stepOf(job: RetryJob, nowMs: number): Step {
  const { delivery } = job;
  if (hasEnded(job)) {
    if (!isReadable(job, nowMs)) return 'remove';
    if (delivery === null || isDeliveryOver(delivery)) return 'none';
    if (delivery.isUnderWay) return 'interrupt-delivery';
    return (delivery.nextAttemptAtMs ?? 0) <= nowMs ? 'deliver' : 'none';
  }
  if (openAttempt(job) !== undefined) return 'interrupt';
  if (nowMs >= job.expiresAtMs) return 'expire';
  return job.nextAttemptAtMs !== null && job.nextAttemptAtMs <= nowMs ? 'attempt' : 'none';
}

/** Begins the next attempt; undefined when the job has ended, has an open attempt or has used up its attempts. */
export function startAttempt(job: RetryJob, nowMs: number): RetryJob | undefined {
  const { attempts, policy, expiresAtMs } = job;
  if (hasEnded(job) || openAttempt(job) !== undefined) return undefined;
  if (nowMs >= expiresAtMs || attempts.length >= policy.maxAttempts) return undefined;
  const attempt: Attempt = {
    number: attempts.length + 1,
    startedAtMs: nowMs,
    durationMs: null,
    outcome: null,
    statusCode: null,
    retryAfterSeconds: null,
    nextAttemptAtMs: null,
  };
  // Due at once: a process that finds it due without holding it has found an attempt that a kill interrupted.
  return {
    ...job,
    status: 'running',
    updatedAtMs: nowMs,
    attempts: [...attempts, attempt],
    nextAttemptAtMs: null,
    dueAtMs: nowMs,
  };
}

/** How an attempt ended. */
export interface AttemptEnd {
  readonly outcome: Outcome;
  readonly durationMs: number | null;
  readonly statusCode: number | null;
  readonly retryAfterSeconds: number | null;
  /** The answer; null without one. */
  readonly result: Result | null;
}

export const INTERRUPTED: AttemptEnd = {
  outcome: 'interrupted',
  durationMs: null,
  statusCode: null,
  retryAfterSeconds: null,
  result: null,
};

const BLOCKED: Failure = { code: 'TARGET_NOT_ALLOWED', message: 'the address of the target is not allowed' };
const TOO_LARGE: Failure = {
  code: 'RESPONSE_TOO_LARGE',
  message: `the answer of the target has ${TOO_LARGE_ANSWER}`,
};
const EXHAUSTED: Failure = { code: 'ATTEMPTS_EXHAUSTED', message: 'the last permitted attempt did not succeed' };
const EXPIRED: Failure = { code: 'DEADLINE_EXCEEDED', message: 'the deadline passed before an attempt succeeded' };

/** The failure with which this attempt's end ends the job at any number of attempts; undefined: the policy decides. */
function finalFailureOf({ policy }: RetryJob, { outcome, statusCode }: AttemptEnd): Failure | undefined {
  if (outcome === 'blocked') return BLOCKED;
  if (outcome === 'response_too_large') return TOO_LARGE;
  if (outcome !== 'http_error' || policy.retryStatuses.includes(statusCode ?? 0)) return undefined;
  return { code: 'HTTP_ERROR', message: `the target answered ${statusCode}, which the policy does not retry` };
}

/**
 * Ends the open attempt and decides how the job goes on; undefined when none is open (a cancelled job).
 * @param draw uniform from 0 (included) to 1 (excluded), for the jitter
 */
export function endAttempt(job: RetryJob, end: AttemptEnd, nowMs: number, draw: number): RetryJob | undefined {
  const open = openAttempt(job);
  if (open === undefined) return undefined;
  const { result, ...ended } = end;
  const withEnd = (nextAttemptAtMs: number | null): RetryJob => ({
    ...job,
    attempts: [...job.attempts.slice(0, -1), { ...open, ...ended, nextAttemptAtMs }],
  });
  if (end.outcome === 'success') return endJob(withEnd(null), 'succeeded', null, result, nowMs);
  const failure = finalFailureOf(job, end);
  if (failure !== undefined) return endJob(withEnd(null), 'failed', failure, result, nowMs);
  if (open.number >= job.policy.maxAttempts) return endJob(withEnd(null), 'failed', EXHAUSTED, result, nowMs);
  if (nowMs >= job.expiresAtMs) return endJob(withEnd(null), 'expired', EXPIRED, result, nowMs);
  const nextMs = nowMs + pauseMs(job.policy, open.number, end.retryAfterSeconds, draw);
  const isInTime = nextMs < job.expiresAtMs;
  return {
    ...withEnd(isInTime ? nextMs : null),
    status: 'waiting',
    updatedAtMs: nowMs,
    nextAttemptAtMs: isInTime ? nextMs : null,
    dueAtMs: Math.min(nextMs, job.expiresAtMs),
  };
}

/** Ends a job whose deadline has passed; undefined for one that has ended or has an open attempt. */
export function expire(job: RetryJob, nowMs: number): RetryJob | undefined {
  if (hasEnded(job) || openAttempt(job) !== undefined || nowMs < job.expiresAtMs) return undefined;
  return endJob(job, 'expired', EXPIRED, null, nowMs);
}

/** Ends a job that its customer cancelled; an open attempt is recorded as interrupted. undefined for a job that has ended. */
export function cancel(job: RetryJob, nowMs: number): RetryJob | undefined {
  if (hasEnded(job)) return undefined;
  const open = openAttempt(job);
  const { result: _, ...interrupted } = INTERRUPTED;
  const attempts =
    open === undefined
      ? job.attempts
      : [...job.attempts.slice(0, -1), { ...open, ...interrupted, durationMs: Math.max(0, nowMs - open.startedAtMs) }];
  return endJob({ ...job, attempts }, 'cancelled', null, null, nowMs);
}

function endJob(
  job: RetryJob,
  status: Status,
  failure: Failure | null,
  result: Result | null,
  nowMs: number,
): RetryJob {
  const delivery = job.delivery === null ? null : { ...job.delivery, nextAttemptAtMs: nowMs };
  return withDelivery(
    { ...job, status, failure, result, updatedAtMs: nowMs, endedAtMs: nowMs, nextAttemptAtMs: null },
    delivery,
  );
}

/** An ended job with a new state of its delivery. */
export function withDelivery(job: RetryJob, delivery: Delivery | null): RetryJob {
  const removedAtMs = (job.endedAtMs ?? 0) + KEPT_MS;
  const nextMs =
    delivery === null || isDeliveryOver(delivery) ? removedAtMs : (delivery.nextAttemptAtMs ?? removedAtMs);
  return { ...job, delivery, dueAtMs: Math.min(nextMs, removedAtMs) };
}
