/** Finds the callback of an admitted request again, as long as a gate hands nothing on. */
import { bearerToken } from '../../access/read-token.ts';
import { chain, type MaybePromise } from '../../base/maybe-promise.ts';
import type { CallbackHandle } from '../../callback/callbacks.ts';
import { parseCallbackId } from '../../callback/identifier.ts';
import type { Refusal } from '../../http/errors.ts';
import type { Call } from '../../http/route.ts';
import { absent, invalidId } from './refusals.ts';
import type { CallbackServices } from './services.ts';

type NotFound = Refusal<'INVALID_CALLBACK_ID' | 'CALLBACK_NOT_FOUND' | 'CALLBACK_EXPIRED'>;

export function foundCallback(call: Call, { callbacks }: CallbackServices): MaybePromise<CallbackHandle | NotFound> {
  const id = parseCallbackId(call.params.id ?? '');
  if (id === undefined) return invalidId();
  return chain(callbacks.authorize(id, String(bearerToken(call.header('authorization')))), (authorized) => {
    if (authorized.kind === 'allowed') return authorized.callback;
    return absent(authorized.kind === 'wrong-token' ? { kind: 'not-found' } : authorized);
  });
}
