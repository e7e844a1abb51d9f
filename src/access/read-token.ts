/**
 * The five checks of the authenticated routes in their order (callback.md, "Authentication" 4): id format, Authorization
 * header and scheme, existence, token, expiry.
 */

import { chain } from '../base/maybe-promise.ts';
import { ABSENT_MESSAGES, type Authorized, type Callbacks } from '../callback/callbacks.ts';
import { CALLBACK_ID_FORM, parseCallbackId } from '../callback/identifier.ts';
import type { Gate } from '../http/access.ts';
import { type Refusal, refuse } from '../http/errors.ts';

/** RFC 9110 §11.1: scheme, at least one space, credentials; scheme names have no case. */
const BEARER = /^bearer(?: +(.*))?$/i;

/** Two headers arrive joined by a comma and a space; no token has a comma. */
const REPEATED = /,(?:[ \t]|$)/;

const CHALLENGE = { headers: { 'www-authenticate': 'Bearer' } };

const missing = (): Refusal => refuse('MISSING_AUTHORIZATION', 'an Authorization header is required', CHALLENGE);
const notBearer = (): Refusal =>
  refuse('INVALID_AUTHORIZATION', 'Authorization must be one header of the form `Bearer <read_token>`', CHALLENGE);

/** The token of an Authorization header (possibly empty), or the refusal it earns by itself. */
export function bearerToken(authorization: string | null): string | Refusal {
  if (authorization === null) return missing();
  const found = BEARER.exec(authorization);
  if (found === null || REPEATED.test(authorization)) return notBearer();
  return found[1] ?? '';
}

/** The segment after `/callbacks/`, as sent. */
function idSegment(path: string): string {
  const start = path.indexOf('/callbacks/') + '/callbacks/'.length;
  const end = path.indexOf('/', start);
  return path.slice(start, end < 0 ? path.length : end);
}

function refusalOf({ kind }: Authorized): Refusal | undefined {
  switch (kind) {
    case 'allowed':
      return undefined;
    case 'not-found':
      return refuse('CALLBACK_NOT_FOUND', ABSENT_MESSAGES[kind]);
    case 'wrong-token':
      return refuse('INVALID_TOKEN', 'this is not the read token of this callback', CHALLENGE);
    case 'expired':
      return refuse('CALLBACK_EXPIRED', ABSENT_MESSAGES[kind]);
    default:
      return kind satisfies never;
  }
}

export function readTokenGate(callbacks: Pick<Callbacks, 'authorize'>): Gate {
  return {
    admit(visit) {
      const id = parseCallbackId(idSegment(visit.path));
      if (id === undefined) return refuse('INVALID_CALLBACK_ID', CALLBACK_ID_FORM);
      const token = bearerToken(visit.header('authorization'));
      if (typeof token !== 'string') return token;
      return chain(callbacks.authorize(id, token), refusalOf);
    },
  };
}
