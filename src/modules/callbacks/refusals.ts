/** Why a callback operation gives no answer. Nothing that anybody sent is in a message. */
import { ABSENT_MESSAGES, type Absent } from '../../callback/callbacks.ts';
import { CALLBACK_ID_FORM } from '../../callback/identifier.ts';
import { BODY_DEADLINE_MS } from '../../callback/limits.ts';
import { type Refusal, refuse } from '../../http/errors.ts';

export const invalidId = (): Refusal<'INVALID_CALLBACK_ID'> => refuse('INVALID_CALLBACK_ID', CALLBACK_ID_FORM);

export const absent = ({ kind }: Absent): Refusal<'CALLBACK_NOT_FOUND' | 'CALLBACK_EXPIRED'> =>
  refuse(kind === 'expired' ? 'CALLBACK_EXPIRED' : 'CALLBACK_NOT_FOUND', ABSENT_MESSAGES[kind]);

export const unknownEvent = (): Refusal<'EVENT_NOT_FOUND'> =>
  refuse('EVENT_NOT_FOUND', 'this callback has no such event');

/** The rest of the body is not wanted: the connection ends with the answer. */
export const lateBody = (): Refusal<'REQUEST_TIMEOUT'> =>
  refuse('REQUEST_TIMEOUT', `the body did not arrive whole within ${BODY_DEADLINE_MS / 1000} seconds`, {
    headers: { connection: 'close' },
  });

export const tooLarge = (bytesMax: number): Refusal<'PAYLOAD_TOO_LARGE'> =>
  refuse('PAYLOAD_TOO_LARGE', `a body has at most ${bytesMax} bytes here`);
