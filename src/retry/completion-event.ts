/**
 * The completion event of a job (siblings §6) and its signature by Standard Webhooks (standardwebhooks.com, "Signature scheme"):
 * HMAC-SHA-256 over `id.timestamp.body` under the bytes of the secret, as `v1,` and base64. The body and the id are the same for
 * every try, so a receiver recognizes a repeated event.
 */
import { createHmac } from 'node:crypto';
import { isoTime } from '../base/iso-time.ts';
import { secretBytesOf } from './identifier.ts';
import type { RetryJob } from './job.ts';
import { resultJson } from './shown.ts';

/** @param resultBody the JSON value of the result's body, or null */
export function completionEvent(job: RetryJob, resultBody: string | null): string {
  const head = { type: 'retry.completed', retry_id: job.id, status: job.status, attempt_count: job.attempts.length };
  const tail = { failure: job.failure, completed_at: isoTime(job.endedAtMs ?? 0) };
  return `${JSON.stringify(head).slice(0, -1)},"result":${resultJson(job, resultBody)},${JSON.stringify(tail).slice(1)}`;
}

export const eventIdOf = ({ id }: RetryJob): string => `msg_${id.slice(id.indexOf('_') + 1)}`;

/** Headers of one try. @param nowMs when it is sent: receivers refuse a timestamp that is minutes old */
export function signedHeaders(
  eventId: string,
  secret: string,
  body: string,
  nowMs: number,
): readonly (readonly [string, string])[] {
  const timestamp = String(Math.floor(nowMs / 1000));
  const code = createHmac('sha256', secretBytesOf(secret)).update(`${eventId}.${timestamp}.${body}`).digest('base64');
  return [
    ['content-type', 'application/json'],
    ['webhook-id', eventId],
    ['webhook-timestamp', timestamp],
    ['webhook-signature', `v1,${code}`],
  ];
}
