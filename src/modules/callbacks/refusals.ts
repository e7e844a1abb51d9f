/** Refusals of the callback operations. No message repeats what a client sent. */
import { JSON_DEPTH_MAX } from '../../callback/limits.ts';
import { defineErrors, RETRY_AFTER, type Refusal, refuse } from '../../http/errors.ts';
import { invalidJson } from '../../http/json-body.ts';

export const { EVENT_NOT_FOUND, CALLBACK_EVENT_LIMIT_REACHED, TOO_MANY_WAITS } = defineErrors({
  EVENT_NOT_FOUND: { status: 404 },
  CALLBACK_EVENT_LIMIT_REACHED: { status: 410 },
  TOO_MANY_WAITS: { status: 429, headers: RETRY_AFTER },
});

export const notJson = (): Refusal<'INVALID_JSON'> => invalidJson(JSON_DEPTH_MAX);

export const unknownEvent = (): Refusal<'EVENT_NOT_FOUND'> =>
  refuse(EVENT_NOT_FOUND, 'this callback has no such event');
