/**
 * A retry job as one line of JSON, for the stores: a list of values without names, because a state may hold a million
 * of them. It omits what stores have in columns: id, customer, digest of the idempotency key, time of the next step.
 */
import type { Delivery } from '../retry/delivery.ts';
import type { RetryId } from '../retry/identifier.ts';
import type { Attempt, Failure, Result, RetryJob, Status } from '../retry/job.ts';
import { DEFAULT_POLICY, type RetryPolicy } from '../retry/policy.ts';

type AttemptValues = [
  startedAtMs: number,
  durationMs: number | null,
  outcome: Attempt['outcome'],
  statusCode: number | null,
  retryAfterSeconds: number | null,
  nextAttemptAtMs: number | null,
];

type Values = [
  organization: string | null,
  tokenDigest: string | null,
  fingerprint: string | null,
  /** Members that differ from the default. */
  policy: Partial<RetryPolicy>,
  status: Status,
  createdAtMs: number,
  updatedAtMs: number,
  expiresAtMs: number,
  endedAtMs: number | null,
  attempts: AttemptValues[],
  nextAttemptAtMs: number | null,
  result: Result | null,
  failure: Failure | null,
  delivery: Delivery | null,
];

/** The bytes of a column, in a separate buffer. */
export const bytesOrNull = (value: unknown): Uint8Array | null =>
  value === null ? null : new Uint8Array(value as Uint8Array);

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const changedPolicy = (policy: RetryPolicy): Partial<RetryPolicy> =>
  Object.fromEntries(
    Object.entries(policy).filter(([name, value]) => !isSame(value, DEFAULT_POLICY[name as keyof RetryPolicy])),
  );

export function encodeJob(job: RetryJob): string {
  const values: Values = [
    job.organization,
    job.tokenDigest,
    job.idempotency?.fingerprint ?? null,
    changedPolicy(job.policy),
    job.status,
    job.createdAtMs,
    job.updatedAtMs,
    job.expiresAtMs,
    job.endedAtMs,
    job.attempts.map((one) => [
      one.startedAtMs,
      one.durationMs,
      one.outcome,
      one.statusCode,
      one.retryAfterSeconds,
      one.nextAttemptAtMs,
    ]),
    job.nextAttemptAtMs,
    job.result,
    job.failure,
    job.delivery,
  ];
  return JSON.stringify(values);
}

/** @param text as {@link encodeJob} gave it */
export function decodeJob(id: RetryId, customer: string, key: string | null, dueAtMs: number, text: string): RetryJob {
  const [
    organization,
    tokenDigest,
    fingerprint,
    policy,
    status,
    createdAtMs,
    updatedAtMs,
    expiresAtMs,
    endedAtMs,
    attempts,
    nextAttemptAtMs,
    result,
    failure,
    delivery,
  ] = JSON.parse(text) as Values;
  return {
    id,
    customer,
    organization,
    tokenDigest,
    idempotency: key === null || fingerprint === null ? null : { key, fingerprint },
    policy: { ...DEFAULT_POLICY, ...policy },
    status,
    createdAtMs,
    updatedAtMs,
    expiresAtMs,
    endedAtMs,
    attempts: attempts.map(([startedAtMs, durationMs, outcome, statusCode, retryAfterSeconds, nextMs], index) => ({
      number: index + 1,
      startedAtMs,
      durationMs,
      outcome,
      statusCode,
      retryAfterSeconds,
      nextAttemptAtMs: nextMs,
    })),
    nextAttemptAtMs,
    result,
    failure,
    delivery,
    dueAtMs,
  };
}
