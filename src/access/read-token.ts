/**
 * The way in by read token. It makes the five checks of the authenticated callback routes in their order (callback.md
 * "Authentication" 4): id format, Authorization header and scheme, existence, token, expiry. After these, routes that read
 * count against the callback's rate of reads (decisions §5). The handler receives the callback as `principal.callback`.
 */
import { chain, type MaybePromise } from '../base/maybe-promise.ts';
import type { CallbackHandle, Callbacks, ReadAdmission } from '../callback/callbacks.ts';
import { CALLBACK_ID_RULE, type CallbackId, parseCallbackId } from '../callback/identifier.ts';
import { READ_COUNT_MAX, READ_WINDOW_MS } from '../callback/limits.ts';
import type { Access, Admission } from '../http/access.ts';
import { defineErrors, RATE_LIMIT_EXCEEDED, type Refusal, rateLimited, refuse } from '../http/errors.ts';
import type { RequestView } from '../http/request-view.ts';
import { bearerSecurity, bearerToken, TOKEN_ERRORS, wrongToken } from './bearer-token.ts';

export const { INVALID_CALLBACK_ID, CALLBACK_NOT_FOUND, CALLBACK_EXPIRED } = defineErrors({
  INVALID_CALLBACK_ID: { status: 400 },
  CALLBACK_NOT_FOUND: { status: 404 },
  CALLBACK_EXPIRED: { status: 410 },
});

/** The services that a module needs for operations on callbacks. */
export interface ReadTokenServices {
  readonly callbacks: Pick<Callbacks, 'authorize' | 'admitRead'>;
}

/** The principal of a request with a valid read token. */
export interface CallbackReader {
  readonly callback: CallbackHandle;
}

export const invalidCallbackId = (): Refusal<'INVALID_CALLBACK_ID'> => refuse(INVALID_CALLBACK_ID, CALLBACK_ID_RULE);

export const noCallback = (kind: 'not-found' | 'expired'): Refusal<'CALLBACK_NOT_FOUND' | 'CALLBACK_EXPIRED'> =>
  kind === 'expired'
    ? refuse(CALLBACK_EXPIRED, 'this callback has expired: its ten minutes are over')
    : refuse(CALLBACK_NOT_FOUND, 'there is no such callback');

function decisionOf(authorized: ReadAdmission): Admission<CallbackReader> | Refusal {
  switch (authorized.kind) {
    case 'allowed':
      return { principal: authorized };
    case 'wrong-token':
      return wrongToken('the read token of this callback');
    case 'not-found':
    case 'expired':
      return noCallback(authorized.kind);
    case 'too-many':
      return rateLimited(
        `a callback is read at most ${READ_COUNT_MAX} times in any ${READ_WINDOW_MS / 1000} seconds`,
        authorized.retryAfterMs,
      );
    default:
      return authorized satisfies never;
  }
}

/** Calls `decide` once the checks that need no callback have passed. */
function admitWith(
  request: RequestView,
  decide: (id: CallbackId, token: string) => MaybePromise<ReadAdmission>,
): MaybePromise<Admission<CallbackReader> | Refusal> {
  const id = parseCallbackId(request.params.id ?? '');
  if (id === undefined) return invalidCallbackId();
  const token = bearerToken(request.header('authorization'));
  if (typeof token !== 'string') return token;
  return chain(decide(id, token), decisionOf);
}

/** The read token of the callback that the path names with `:id`. */
export const readToken: Access<CallbackReader, ReadTokenServices> = {
  errors: [INVALID_CALLBACK_ID, ...TOKEN_ERRORS, CALLBACK_NOT_FOUND, CALLBACK_EXPIRED],
  documentation: {
    sentence: 'Needs `Authorization: Bearer <read_token>`',
    security: bearerSecurity('readToken', 'The read token of one callback'),
  },
  open: ({ callbacks }) => ({
    admit: (request) => admitWith(request, (id, token) => callbacks.authorize(id, token)),
  }),
};

/** As {@link readToken}, for a read, which counts against the callback's rate. */
export const ratedReadToken: Access<CallbackReader, ReadTokenServices> = {
  ...readToken,
  errors: [...readToken.errors, RATE_LIMIT_EXCEEDED],
  open: ({ callbacks }) => ({
    admit: (request) => admitWith(request, (id, token) => callbacks.admitRead(id, token)),
  }),
};
