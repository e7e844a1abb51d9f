/**
 * The operator's way in: the `ADMIN_TOKEN` of the configuration as a bearer token, with the refusals of the callback
 * routes (siblings §3, callback.md "Authentication"). It decides before the input. No public document names its
 * operations.
 */
import { isSameDigest, sha256 } from '../base/digest.ts';
import { chain, type MaybePromise } from '../base/maybe-promise.ts';
import type { RateLimiter, RateLimits } from '../base/rate-limits.ts';
import type { Access, Admission } from '../http/access.ts';
import { RATE_LIMIT_EXCEEDED, type Refusal, refuse, retryAfterMs } from '../http/errors.ts';
import { bearerToken, CHALLENGE, INVALID_AUTHORIZATION, INVALID_TOKEN, MISSING_AUTHORIZATION } from './bearer-token.ts';
import { MINUTE_MS } from './rate-limit.ts';

/** Wrong tokens of one client network a minute that are answered 401; more are 429. The right token always passes. */
export const WRONG_TOKEN_COUNT_MAX = 30;

/** The services that a module needs for operations of the operator. */
export interface AdminServices {
  readonly operator: Operator;
}

export interface Operator {
  /** SHA-256 of the token: the server compares digests, whose lengths and times say nothing about the token. */
  readonly tokenDigest: Uint8Array;
  /** Counts wrong tokens by client network. */
  readonly wrongTokens: RateLimiter;
}

export const operatorOf = (adminToken: string, rateLimits: RateLimits): Operator => ({
  tokenDigest: sha256(adminToken),
  wrongTokens: rateLimits.open('wrong admin tokens', WRONG_TOKEN_COUNT_MAX, MINUTE_MS),
});

const ADMITTED: Admission = {};

function wrongToken(waitMs: number): Refusal {
  if (waitMs === 0) return refuse(INVALID_TOKEN, 'this is not the admin token of this server', CHALLENGE);
  return refuse(RATE_LIMIT_EXCEEDED, `at most ${WRONG_TOKEN_COUNT_MAX} wrong tokens a minute from one address`, {
    headers: retryAfterMs(waitMs),
  });
}

export const adminToken: Access<object, AdminServices> = {
  errors: [MISSING_AUTHORIZATION, INVALID_AUTHORIZATION, INVALID_TOKEN, RATE_LIMIT_EXCEEDED],
  documentation: {
    sentence: 'Needs `Authorization: Bearer <ADMIN_TOKEN>`',
    security: {
      name: 'adminToken',
      scheme: { type: 'http', scheme: 'bearer', description: 'The token of the operator' },
    },
  },
  isBeforeInput: true,
  isPrivate: true,
  isPresented: (request) => request.header('authorization') !== null,
  open: ({ operator: { tokenDigest, wrongTokens } }) => ({
    admit(request): MaybePromise<Admission | Refusal> {
      const token = bearerToken(request.header('authorization'));
      if (typeof token !== 'string') return token;
      if (isSameDigest(sha256(token), tokenDigest)) return ADMITTED;
      return chain(wrongTokens.tryPass(request.clientNetwork()), wrongToken);
    },
  }),
};
