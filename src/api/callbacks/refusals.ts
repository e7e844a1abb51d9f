/** Why a callback operation gives no answer. Nothing that anybody sent is in a message. */
import type { Absent } from '../../callback/inbox.ts';
import { type Refusal, refuse } from '../../http/errors.ts';

export const invalidId = (): Refusal<'INVALID_CALLBACK_ID'> =>
  refuse('INVALID_CALLBACK_ID', 'a callback id is `cb_` and 24 letters or digits');

export const absent = ({ kind }: Absent): Refusal<'CALLBACK_NOT_FOUND' | 'CALLBACK_EXPIRED'> =>
  kind === 'expired'
    ? refuse('CALLBACK_EXPIRED', 'this callback is past its ten minutes')
    : refuse('CALLBACK_NOT_FOUND', 'there is no such callback');

export const unknownEvent = (): Refusal<'EVENT_NOT_FOUND'> =>
  refuse('EVENT_NOT_FOUND', 'this callback has no such event');

/** The rest of the body is not wanted: the connection ends with the answer. */
export const lateBody = (): Refusal<'REQUEST_TIMEOUT'> =>
  refuse('REQUEST_TIMEOUT', 'the body did not arrive whole within 30 seconds', { headers: { connection: 'close' } });

export const tooLarge = (bytesMax: number): Refusal<'PAYLOAD_TOO_LARGE'> =>
  refuse('PAYLOAD_TOO_LARGE', `a body has at most ${bytesMax} bytes here`);
