/** Refusals of the callback operations. No message repeats what a client sent. */
import { BODY_DEADLINE_MS } from '../../callback/limits.ts';
import {
  defineErrors,
  PAYLOAD_TOO_LARGE,
  REQUEST_TIMEOUT,
  RETRY_AFTER,
  type Refusal,
  refuse,
} from '../../http/errors.ts';

export const { EVENT_NOT_FOUND, CALLBACK_EVENT_LIMIT_REACHED, TOO_MANY_WAITS } = defineErrors({
  EVENT_NOT_FOUND: { status: 404 },
  CALLBACK_EVENT_LIMIT_REACHED: { status: 410 },
  TOO_MANY_WAITS: { status: 429, headers: RETRY_AFTER },
});

export const unknownEvent = (): Refusal<'EVENT_NOT_FOUND'> =>
  refuse(EVENT_NOT_FOUND, 'this callback has no such event');

/** The rest of the body stays unread, so the server closes the connection after the answer. */
export const lateBody = (): Refusal<'REQUEST_TIMEOUT'> =>
  refuse(REQUEST_TIMEOUT, `the body did not arrive within ${BODY_DEADLINE_MS / 1000} seconds`, {
    headers: { connection: 'close' },
  });

export const tooLarge = (bytesMax: number): Refusal<'PAYLOAD_TOO_LARGE'> =>
  refuse(PAYLOAD_TOO_LARGE, `the body must have at most ${bytesMax} bytes`);
