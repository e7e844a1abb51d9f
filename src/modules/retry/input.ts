/**
 * The input of a creation (siblings §6): a closed object whose faults name their field by path, a request valid under RFC
 * 9110, and addresses that are judged without a look-up. All of this precedes payment.
 */
import * as v from 'valibot';
import { decodeUtf8, withoutByteOrderMark } from '../../base/codec.ts';
import { memberText } from '../../base/json-member.ts';
import { defineErrors, INVALID_BODY, type Refusal, refuse } from '../../http/errors.ts';
import type { JsonBody } from '../../http/json-body.ts';
import { TARGET_LENGTH_MAX } from '../../outbound/limits.ts';
import type { Purpose, Target, TargetPolicy } from '../../outbound/target.ts';
import { IDEMPOTENCY_KEY_FORM } from '../../retry/identifier.ts';
import { ATTEMPT_COUNT_MAX, HEADER_COUNT_MAX, RETRY_STATUS_COUNT_MAX } from '../../retry/limits.ts';
import { BACKOFFS, DEFAULT_POLICY, type RetryPolicy } from '../../retry/policy.ts';
import {
  faultOfHeaders,
  HEADER_NAME_PATTERN,
  HEADER_VALUE_PATTERN,
  type HeaderPairs,
  hasHeader,
} from '../../retry/request-headers.ts';
import type { RetryOrder } from '../../retry/retries.ts';
import { METHODS } from '../../retry/secrets.ts';
import { ADDRESS_PATTERN, boolean, oneOf, rule, whole } from '../parameter-rules.ts';

export const { TARGET_NOT_ALLOWED } = defineErrors({ TARGET_NOT_ALLOWED: { status: 400 } });

const STATUS_MIN = 100;
const STATUS_MAX = 599;

const text = v.pipe(v.string(), rule({ rule: 'a string' }));

const address = v.pipe(
  v.string(),
  rule({ rule: 'an https address', jsonSchema: { maxLength: TARGET_LENGTH_MAX, pattern: ADDRESS_PATTERN } }),
);

const policyBody = v.strictObject({
  max_attempts: v.optional(whole(1, ATTEMPT_COUNT_MAX), DEFAULT_POLICY.maxAttempts),
  backoff: v.optional(oneOf(BACKOFFS), DEFAULT_POLICY.backoff),
  initial_delay_seconds: v.optional(whole(1, 3600), DEFAULT_POLICY.initialDelaySeconds),
  max_delay_seconds: v.optional(whole(1, 86_400), DEFAULT_POLICY.maxDelaySeconds),
  jitter: v.optional(boolean, DEFAULT_POLICY.jitter),
  attempt_timeout_seconds: v.optional(whole(1, 30), DEFAULT_POLICY.attemptTimeoutSeconds),
  retry_statuses: v.optional(
    v.pipe(
      v.array(whole(STATUS_MIN, STATUS_MAX)),
      v.maxLength(RETRY_STATUS_COUNT_MAX),
      rule({
        rule: `a list of at most ${RETRY_STATUS_COUNT_MAX} statuses, each a whole number from ${STATUS_MIN} to ${STATUS_MAX}`,
      }),
    ),
    [...DEFAULT_POLICY.retryStatuses],
  ),
  respect_retry_after: v.optional(boolean, DEFAULT_POLICY.respectRetryAfter),
});

export const createBody = v.strictObject({
  request: v.pipe(
    v.strictObject({
      method: oneOf(METHODS),
      url: address,
      headers: v.optional(
        v.pipe(
          v.record(v.string(), text),
          rule({
            rule: 'an object of header names and text values',
            jsonSchema: {
              maxProperties: HEADER_COUNT_MAX,
              propertyNames: { type: 'string', pattern: HEADER_NAME_PATTERN },
              additionalProperties: { type: 'string', pattern: HEADER_VALUE_PATTERN },
            },
          }),
        ),
      ),
      body: v.optional(v.unknown()),
    }),
    rule({
      rule: 'an object with `method` and `url`',
      // No body with GET.
      jsonSchema: { not: { properties: { method: { const: 'GET' } }, required: ['body'] } },
    }),
  ),
  policy: v.optional(v.pipe(policyBody, rule({ rule: 'an object' }))),
  callback_url: v.optional(address),
  deadline_seconds: v.optional(whole(60, 86_400), 86_400),
});

type Creation = JsonBody<typeof createBody>;
type InputRefusal = Refusal<'INVALID_BODY' | 'TARGET_NOT_ALLOWED'>;

/** A checked creation with its judged addresses. */
export interface CheckedOrder {
  readonly order: RetryOrder;
  /** The target, and the callback's if there is one, each with the name of its field. */
  readonly targets: readonly { readonly field: string; readonly target: Target }[];
}

const policyOf = (given: NonNullable<Creation['body']['policy']>): RetryPolicy => ({
  maxAttempts: given.max_attempts,
  backoff: given.backoff,
  initialDelaySeconds: given.initial_delay_seconds,
  maxDelaySeconds: given.max_delay_seconds,
  jitter: given.jitter,
  attemptTimeoutSeconds: given.attempt_timeout_seconds,
  retryStatuses: given.retry_statuses,
  respectRetryAfter: given.respect_retry_after,
});

const invalid = (message: string): InputRefusal => refuse(INVALID_BODY, message);

export const notAllowed = (field: string, reason: string): Refusal<'TARGET_NOT_ALLOWED'> =>
  refuse(TARGET_NOT_ALLOWED, `\`${field}\` is not allowed: ${reason}`);

/** The path of a header for messages, quoted as JSON unless it is plain. */
const pathOf = (name: string): string =>
  /^[\w-]{1,64}$/.test(name) ? `\`request.headers.${name}\`` : JSON.stringify(`request.headers.${name.slice(0, 64)}`);

interface Body {
  /** null: none. */
  readonly text: string | null;
  readonly type: string | undefined;
}

/** The text of a creation's body as received. */
const writtenOf = ({ bytes }: Creation): string => withoutByteOrderMark(decodeUtf8(bytes) ?? '');

/** The body to be sent: a string as its text, any other JSON as it was written. */
function bodyToSend(creation: Creation): Body {
  const { request } = creation.body;
  if (!('body' in request)) return { text: null, type: undefined };
  if (typeof request.body === 'string') return { text: request.body, type: 'text/plain; charset=utf-8' };
  return { text: memberText(writtenOf(creation), ['request', 'body']) ?? 'null', type: 'application/json' };
}

/**
 * A name that the schema silently drops: valibot's `record` leaves out `__proto__`, `constructor` and `prototype`. Such a
 * request would be sent with other headers than the customer gave.
 */
function droppedName(kept: Readonly<Record<string, string>>, creation: Creation): string | undefined {
  const given = JSON.parse(memberText(writtenOf(creation), ['request', 'headers']) ?? '{}') as object;
  return Object.keys(given).find((name) => !Object.hasOwn(kept, name));
}

function judged(policy: TargetPolicy, field: string, url: string, purpose: Purpose) {
  const found = policy.judge(url, purpose);
  return found.ok ? { field, target: found.target } : notAllowed(field, found.reason);
}

/** Judges what the schema cannot. @param key the request's idempotency key */
export function checkedOrder(
  creation: Creation,
  key: string | null,
  policy: TargetPolicy,
): CheckedOrder | InputRefusal {
  const given = creation.body;
  const { method, url, headers: record = {} } = given.request;
  if (method === 'GET' && 'body' in given.request) {
    return invalid('`request.body` must be left out with GET, null included');
  }
  const dropped = given.request.headers && droppedName(record, creation);
  if (dropped !== undefined) return invalid(`${pathOf(dropped)} must not be set`);
  const headers: HeaderPairs = Object.entries(record);
  const fault = faultOfHeaders(headers);
  if (fault !== undefined) {
    return invalid(`${fault.name === undefined ? '`request.headers`' : pathOf(fault.name)} must ${fault.rule}`);
  }
  if (key !== null && !IDEMPOTENCY_KEY_FORM.test(key)) {
    return invalid('the header Idempotency-Key must have 16 to 128 of the characters A-Z a-z 0-9 _ -');
  }
  const target = judged(policy, 'request.url', url, 'retry');
  if (!('target' in target)) return target;
  const callbackUrl = given.callback_url ?? null;
  const callback = callbackUrl === null ? undefined : judged(policy, 'callback_url', callbackUrl, 'delivery');
  if (callback !== undefined && !('target' in callback)) return callback;
  const body = bodyToSend(creation);
  const isTyped = body.type === undefined || hasHeader(headers, 'content-type');
  return {
    order: {
      request: {
        method,
        url,
        headers: isTyped ? headers : [...headers, ['content-type', body.type as string]],
        body: body.text,
      },
      policy: given.policy === undefined ? DEFAULT_POLICY : policyOf(given.policy),
      callbackUrl,
      deadlineSeconds: given.deadline_seconds,
    },
    targets: callback === undefined ? [target] : [target, callback],
  };
}
