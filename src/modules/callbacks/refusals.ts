/** Refusals of the callback operations. No message repeats what a client sent. */
import { BODY_DEADLINE_MS } from '../../callback/limits.ts';
import type { BodyRead } from '../../http/body.ts';
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
const timeout = (message: string): Refusal<'REQUEST_TIMEOUT'> =>
  refuse(REQUEST_TIMEOUT, message, { headers: { connection: 'close' } });

/** @param bytesMax of this operation's bodies */
export function unreadBody(
  { kind }: Extract<BodyRead, { ok: false }>,
  bytesMax: number,
): Refusal<'PAYLOAD_TOO_LARGE' | 'REQUEST_TIMEOUT'> {
  switch (kind) {
    case 'too-large':
      return refuse(PAYLOAD_TOO_LARGE, `the body must have at most ${bytesMax} bytes`);
    case 'crowded':
      return timeout('too many bodies from this address are waiting to be read; send it again later');
    case 'late':
    case 'cut':
      return timeout(`the body did not arrive within ${BODY_DEADLINE_MS / 1000} seconds`);
    default:
      return kind satisfies never;
  }
}
