/**
 * The way in by the read token of a resolve. Its checks are those of the callback routes, in their order (siblings §7): id format,
 * Authorization header and scheme, existence, token, expiry. The handler receives the resolve as `principal.resolve`.
 */
import { chain } from '../base/maybe-promise.ts';
import type { Access, Admission } from '../http/access.ts';
import { defineErrors, type Refusal, refuse, STATE_UNAVAILABLE } from '../http/errors.ts';
import { parseResolveId, RESOLVE_ID_RULE } from '../resolve/identifier.ts';
import type { StoredResolve } from '../resolve/resolve-store.ts';
import type { ResolveAuthorized, Resolver } from '../resolve/resolver.ts';
import { bearerSecurity, bearerToken, TOKEN_ERRORS, wrongToken } from './bearer-token.ts';

export const { INVALID_RESOLVE_ID, RESOLVE_NOT_FOUND, RESOLVE_EXPIRED } = defineErrors({
  INVALID_RESOLVE_ID: { status: 400 },
  RESOLVE_NOT_FOUND: { status: 404 },
  RESOLVE_EXPIRED: { status: 410 },
});

/** The services that a module needs for operations on resolves. */
export interface ResolveTokenServices {
  readonly resolver: Pick<Resolver, 'authorize'>;
}

/** The principal of a request with a valid read token. */
export interface ResolveReader {
  readonly resolve: StoredResolve;
}

export const resolveExpired = (): Refusal<'RESOLVE_EXPIRED'> =>
  refuse(RESOLVE_EXPIRED, 'this resolve has expired: results are kept for one hour');

function decisionOf(authorized: ResolveAuthorized): Admission<ResolveReader> | Refusal {
  switch (authorized.kind) {
    case 'allowed':
      return { principal: authorized };
    case 'wrong-token':
      return wrongToken('the read token of this resolve');
    case 'not-found':
      return refuse(RESOLVE_NOT_FOUND, 'there is no such resolve');
    case 'expired':
      return resolveExpired();
    default:
      return authorized satisfies never;
  }
}

/** The read token of the resolve that the path names with `:id`. */
export const resolveToken: Access<ResolveReader, ResolveTokenServices> = {
  errors: [INVALID_RESOLVE_ID, ...TOKEN_ERRORS, RESOLVE_NOT_FOUND, RESOLVE_EXPIRED, STATE_UNAVAILABLE],
  documentation: {
    sentence: 'Needs `Authorization: Bearer <read_token>`',
    security: bearerSecurity('resolveToken', 'The read token of one resolve'),
  },
  isBeforeInput: true,
  isPrivate: true,
  open: ({ resolver }) => ({
    admit: (request) => {
      const id = parseResolveId(request.params.id ?? '');
      if (id === undefined) return refuse(INVALID_RESOLVE_ID, RESOLVE_ID_RULE);
      const token = bearerToken(request.header('authorization'));
      return typeof token === 'string' ? chain(resolver.authorize(id, token), decisionOf) : token;
    },
  }),
};
