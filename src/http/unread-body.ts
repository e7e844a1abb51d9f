/** Refusals of bodies that could not be read. No message repeats what a client sent. */
import type { BodyBounds, BodyRead } from './body.ts';
import { PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, type Refusal, refuse } from './errors.ts';

/** The rest of the body stays unread, so the server closes the connection after the answer. */
const timeout = (message: string): Refusal<'REQUEST_TIMEOUT'> =>
  refuse(REQUEST_TIMEOUT, message, { headers: { connection: 'close' } });

/** @param bounds the bounds of the failed read */
export function unreadBody(
  { kind }: Extract<BodyRead, { ok: false }>,
  { bytesMax, deadlineMs }: BodyBounds,
): Refusal<'PAYLOAD_TOO_LARGE' | 'REQUEST_TIMEOUT'> {
  switch (kind) {
    case 'too-large':
      return refuse(PAYLOAD_TOO_LARGE, `the body must have at most ${bytesMax} bytes`);
    case 'crowded':
      return timeout('too many bodies from this address are waiting to be read; send it again later');
    case 'late':
    case 'cut':
      return timeout(`the body did not arrive within ${deadlineMs / 1000} seconds`);
    default:
      return kind satisfies never;
  }
}
