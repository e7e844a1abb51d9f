/** Turns an attempt into an outbound request, and the request's outcome into the attempt's end (siblings §5, §6). */
import { retryAfterSecondsOf } from '../base/retry-after.ts';
import { headerOf } from '../outbound/answer.ts';
import { CONTENT_TYPE_LENGTH_MAX } from '../outbound/limits.ts';
import type { OutboundFailureKind, OutboundResult } from '../outbound/outbound.ts';
import type { AttemptEnd, Outcome, Result } from './job.ts';
import { type HeaderPairs, hasHeader } from './request-headers.ts';
import { resultBodyOf } from './result-body.ts';
import type { CustomerRequest } from './secrets.ts';

/** The headers of attempt `number`: the customer's, and those that name job and attempt. */
export function attemptHeaders(id: string, number: number, { headers }: CustomerRequest): HeaderPairs {
  const own: [string, string][] = [
    ['x-retry-id', id],
    ['x-retry-attempt', String(number)],
  ];
  if (!hasHeader(headers, 'idempotency-key')) own.push(['idempotency-key', id]);
  return [...headers, ...own];
}

const OUTCOMES: Readonly<Record<Exclude<OutboundFailureKind, 'aborted'>, Outcome>> = {
  blocked: 'blocked',
  timeout: 'timeout',
  unreachable: 'connection_error',
  'tls-error': 'connection_error',
  'too-large': 'response_too_large',
};

export interface EndedAttempt {
  readonly end: AttemptEnd;
  /** JSON text of the answer's body; null without an answer. */
  readonly body: string | null;
}

/** @param nowMs for a `Retry-After` that is a date */
export function attemptEndOf(answered: OutboundResult, nowMs: number): EndedAttempt {
  const durationMs = Math.max(0, Math.round(answered.durationMs));
  if (answered.kind !== 'answer') {
    const outcome = answered.kind === 'aborted' ? 'interrupted' : OUTCOMES[answered.kind];
    return { end: { outcome, durationMs, statusCode: null, retryAfterSeconds: null, result: null }, body: null };
  }
  const { status, body, isTruncated: isCut, isUnreadable } = answered;
  const contentType = headerOf(answered, 'content-type')?.slice(0, CONTENT_TYPE_LENGTH_MAX) ?? null;
  const { json, isTruncated } = resultBodyOf(body, contentType, isCut);
  const result: Result = { statusCode: status, contentType, sizeBytes: body.length, isTruncated };
  const end: AttemptEnd = {
    outcome: status >= 200 && status < 300 ? 'success' : 'http_error',
    durationMs,
    statusCode: status,
    retryAfterSeconds: retryAfterSecondsOf(headerOf(answered, 'retry-after'), nowMs),
    result,
  };
  return { end, body: isUnreadable ? 'null' : json };
}
