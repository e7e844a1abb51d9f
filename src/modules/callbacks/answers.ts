/** Closed schemas of the answers of the callback operations (callback.md, "Resources and their fields"). */
import * as v from 'valibot';
import { CALLBACK_ID_FORM, EVENT_ID_FORM } from '../../callback/identifier.ts';
import { EVENT_COUNT_MAX, PAYLOAD_BYTES_MAX } from '../../callback/limits.ts';
import { CALLBACK_TOKEN_FORM } from '../../callback/read-token.ts';
import { instant, wholeNumber } from '../answer-values.ts';

export const callbackId = v.pipe(v.string(), v.regex(CALLBACK_ID_FORM));
export const eventId = v.pipe(v.string(), v.regex(EVENT_ID_FORM));

/** A time with whole seconds and `Z`. */
const second = v.pipe(v.string(), v.regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/));

export const callbackAnswer = v.strictObject({
  id: callbackId,
  callback_url: v.string(),
  events_url: v.string(),
  wait_url: v.string(),
  read_token: v.pipe(v.string(), v.regex(CALLBACK_TOKEN_FORM)),
  expires_at: instant,
  limits: v.strictObject({ events: v.literal(EVENT_COUNT_MAX), payload_bytes: v.literal(PAYLOAD_BYTES_MAX) }),
});

const eventAnswer = v.strictObject({
  id: eventId,
  received_at: second,
  method: v.picklist(['POST', 'PUT', 'PATCH']),
  content_type: v.string(),
  headers: v.record(v.string(), v.string()),
  body: v.unknown(),
  size_bytes: wholeNumber(0, PAYLOAD_BYTES_MAX),
});

export const receivedAnswer = v.strictObject({ received: v.literal(true), event_id: eventId });

export const waitAnswer = v.variant('received', [
  v.strictObject({
    received: v.literal(true),
    timeout: v.literal(false),
    event: eventAnswer,
    next_wait_url: v.string(),
  }),
  v.strictObject({ received: v.literal(false), timeout: v.literal(true), after: v.nullable(v.string()) }),
]);

export const eventsAnswer = v.strictObject({
  callback_id: callbackId,
  status: v.literal('active'),
  expires_at: instant,
  event_count: wholeNumber(0, EVENT_COUNT_MAX),
  events: v.pipe(v.array(eventAnswer), v.maxLength(EVENT_COUNT_MAX)),
});

export const deletedAnswer = v.strictObject({ deleted: v.literal(true), callback_id: callbackId });
