/** Closed schemas of the answers of the retry operations, and the answers themselves (siblings §6). */
import * as v from 'valibot';
import { isoTime, isoTimeOrNull } from '../../base/iso-time.ts';
import { Reply } from '../../http/answers.ts';
import { CALLBACK_STATUSES } from '../../retry/delivery.ts';
import { CALLBACK_SECRET_FORM, RETRY_ID_FORM, RETRY_TOKEN_FORM } from '../../retry/identifier.ts';
import { FAILURE_CODES, OUTCOMES, type RetryJob, STATUSES } from '../../retry/job.ts';
import { ATTEMPT_COUNT_MAX, DELIVERY_PAUSES_MS, REQUEST_BYTES_MAX, RESPONSE_BYTES_MAX } from '../../retry/limits.ts';
import type { RetryDraft } from '../../retry/retries.ts';
import { resultJson } from '../../retry/shown.ts';
import { count, dateTime, wholeNumber } from '../answer-values.ts';
import { UNTRUSTED_HEADERS } from '../untrusted.ts';

export const retryId = v.pipe(v.string(), v.regex(RETRY_ID_FORM));
const status = v.picklist(STATUSES);
const callbackStatus = v.picklist(CALLBACK_STATUSES);
const httpStatus = wholeNumber(100, 999);
const attemptCount = wholeNumber(0, ATTEMPT_COUNT_MAX);
const maxAttempts = wholeNumber(1, ATTEMPT_COUNT_MAX);

export const createdAnswer = v.strictObject({
  id: retryId,
  status,
  status_url: v.string(),
  attempts_url: v.string(),
  callback_status_url: v.string(),
  read_token: v.nullable(v.pipe(v.string(), v.regex(RETRY_TOKEN_FORM))),
  callback_secret: v.nullable(v.pipe(v.string(), v.regex(CALLBACK_SECRET_FORM))),
  created_at: dateTime,
  expires_at: dateTime,
  limits: v.strictObject({
    max_attempts: maxAttempts,
    request_bytes: v.literal(REQUEST_BYTES_MAX),
    response_bytes: v.literal(RESPONSE_BYTES_MAX),
  }),
});

export const retryAnswer = v.strictObject({
  id: retryId,
  status,
  created_at: dateTime,
  updated_at: dateTime,
  expires_at: dateTime,
  attempt_count: attemptCount,
  max_attempts: maxAttempts,
  next_attempt_at: v.nullable(dateTime),
  result: v.nullable(
    v.strictObject({
      status_code: httpStatus,
      content_type: v.nullable(v.string()),
      body: v.unknown(),
      size_bytes: count,
      truncated: v.boolean(),
    }),
  ),
  failure: v.nullable(v.strictObject({ code: v.picklist(FAILURE_CODES), message: v.string() })),
  callback_status: callbackStatus,
});

export const attemptsAnswer = v.strictObject({
  retry_id: retryId,
  attempt_count: attemptCount,
  attempts: v.pipe(
    v.array(
      v.strictObject({
        number: wholeNumber(1, ATTEMPT_COUNT_MAX),
        started_at: dateTime,
        duration_ms: v.nullable(count),
        outcome: v.nullable(v.picklist(OUTCOMES)),
        status_code: v.nullable(httpStatus),
        retry_after_seconds: v.nullable(count),
        next_attempt_at: v.nullable(dateTime),
      }),
    ),
    v.maxLength(ATTEMPT_COUNT_MAX),
  ),
});

export const callbackAnswer = v.strictObject({
  retry_id: retryId,
  status: callbackStatus,
  attempt_count: wholeNumber(0, DELIVERY_PAUSES_MS.length),
  last_attempt_at: v.nullable(dateTime),
  last_status_code: v.nullable(httpStatus),
  next_attempt_at: v.nullable(dateTime),
  delivered_at: v.nullable(dateTime),
});

export const cancelledAnswer = v.strictObject({ id: retryId, status: v.literal('cancelled'), cancelled_at: dateTime });

export const usageAnswer = v.strictObject({
  period: v.strictObject({ start: dateTime, end: dateTime }),
  retries_created: count,
  attempts_made: count,
  callbacks_delivered: count,
  credits: v.strictObject({ charged: count, remaining: count }),
});

/** The answer to a job's creation. @param secrets shown only here */
export function createdOf(
  job: RetryJob,
  { readToken, callbackSecret }: Pick<RetryDraft, 'readToken' | 'callbackSecret'>,
  baseUrl: string,
): v.InferInput<typeof createdAnswer> {
  const { id, createdAtMs, expiresAtMs, policy } = job;
  const own = `${baseUrl}/v1/retries/${id}`;
  return {
    id,
    status: 'scheduled',
    status_url: own,
    attempts_url: `${own}/attempts`,
    callback_status_url: `${own}/callback`,
    read_token: readToken,
    callback_secret: callbackSecret,
    created_at: isoTime(createdAtMs),
    expires_at: isoTime(expiresAtMs),
    limits: {
      max_attempts: policy.maxAttempts,
      request_bytes: REQUEST_BYTES_MAX,
      response_bytes: RESPONSE_BYTES_MAX,
    },
  };
}

const callbackStatusOf = ({ delivery }: RetryJob): v.InferInput<typeof callbackStatus> => delivery?.status ?? 'none';

/** @param resultBody JSON text of the result's body, sent unchanged */
export function retryOf(job: RetryJob, resultBody: string | null): Reply {
  const head = {
    id: job.id,
    status: job.status,
    created_at: isoTime(job.createdAtMs),
    updated_at: isoTime(job.updatedAtMs),
    expires_at: isoTime(job.expiresAtMs),
    attempt_count: job.attempts.length,
    max_attempts: job.policy.maxAttempts,
    next_attempt_at: isoTimeOrNull(job.nextAttemptAtMs),
  };
  const tail = { failure: job.failure, callback_status: callbackStatusOf(job) };
  const result = resultJson(job, resultBody);
  const text = `${JSON.stringify(head).slice(0, -1)},"result":${result},${JSON.stringify(tail).slice(1)}`;
  return new Reply(text, UNTRUSTED_HEADERS);
}

export const attemptsOf = ({ id, attempts }: RetryJob): v.InferInput<typeof attemptsAnswer> => ({
  retry_id: id,
  attempt_count: attempts.length,
  attempts: attempts.map((attempt) => ({
    number: attempt.number,
    started_at: isoTime(attempt.startedAtMs),
    duration_ms: attempt.durationMs,
    outcome: attempt.outcome,
    status_code: attempt.statusCode,
    retry_after_seconds: attempt.retryAfterSeconds,
    next_attempt_at: isoTimeOrNull(attempt.nextAttemptAtMs),
  })),
});

export function callbackOf(job: RetryJob): v.InferInput<typeof callbackAnswer> {
  const { delivery } = job;
  const isWaiting = delivery?.isUnderWay === false;
  return {
    retry_id: job.id,
    status: callbackStatusOf(job),
    attempt_count: delivery?.attemptCount ?? 0,
    last_attempt_at: isoTimeOrNull(delivery?.lastAttemptAtMs ?? null),
    last_status_code: delivery?.lastStatusCode ?? null,
    next_attempt_at: isoTimeOrNull(isWaiting ? delivery.nextAttemptAtMs : null),
    delivered_at: isoTimeOrNull(delivery?.deliveredAtMs ?? null),
  };
}
