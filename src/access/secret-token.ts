/**
 * Ways in with one secret of the configuration as a bearer token, with the refusals of the callback routes (siblings §3, §8,
 * callback.md "Authentication"). They decide before the input is decoded, and no public document names their operations. Wrong
 * tokens are rate-limited by client network, so that no client can try many.
 */
import { isSameDigest, sha256 } from '../base/digest.ts';
import { MINUTE_MS } from '../base/durations.ts';
import { chain, type MaybePromise } from '../base/maybe-promise.ts';
import type { RateLimiter, RateLimits } from '../base/rate-limits.ts';
import type { Access, Admission, Admitter } from '../http/access.ts';
import { RATE_LIMIT_EXCEEDED, type Refusal, rateLimited } from '../http/errors.ts';
import { bearerSecurity, bearerToken, TOKEN_ERRORS, wrongToken } from './bearer-token.ts';

/** Wrong tokens a minute of one client network that get a 401; further ones get a 429. The right token always passes. */
export const WRONG_TOKEN_COUNT_MAX = 30;

/** A secret, and the rate of wrong guesses at it. */
export interface SecretHolder {
  /** SHA-256 of the token: the server compares digests, whose lengths and times say nothing about the token. */
  readonly tokenDigest: Uint8Array;
  /** Counts wrong tokens by client network. */
  readonly wrongTokens: RateLimiter;
}

export const secretHolderOf = (token: string, name: string, rateLimits: RateLimits): SecretHolder => ({
  tokenDigest: sha256(token),
  wrongTokens: rateLimits.open(name, WRONG_TOKEN_COUNT_MAX, MINUTE_MS),
});

const ADMITTED: Admission = {};

/** @param name ends "this is not" in the refusal of a wrong token */
function tokenAdmitter({ tokenDigest, wrongTokens }: SecretHolder, name: string): Admitter {
  const refused = (waitMs: number): Refusal =>
    waitMs === 0
      ? wrongToken(name)
      : rateLimited(`at most ${WRONG_TOKEN_COUNT_MAX} wrong tokens a minute from one address`, waitMs);
  return {
    admit(request): MaybePromise<Admission | Refusal> {
      const token = bearerToken(request.header('authorization'));
      if (typeof token !== 'string') return token;
      if (isSameDigest(sha256(token), tokenDigest)) return ADMITTED;
      return chain(wrongTokens.tryPass(request.clientNetwork()), refused);
    },
  };
}

export interface SecretAccess<Services> {
  /** Name of the security scheme. */
  readonly name: string;
  /** The setting that holds the token. */
  readonly variable: string;
  readonly description: string;
  /** Ends "this is not" in the refusal of a wrong token. */
  readonly refused: string;
  readonly holderOf: (services: Services) => SecretHolder;
}

export const secretToken = <Services>({
  name,
  variable,
  description,
  refused,
  holderOf,
}: SecretAccess<Services>): Access<object, Services> => ({
  errors: [...TOKEN_ERRORS, RATE_LIMIT_EXCEEDED],
  documentation: {
    sentence: `Needs \`Authorization: Bearer <${variable}>\``,
    security: bearerSecurity(name, description),
  },
  isBeforeInput: true,
  isPrivate: true,
  open: (services) => tokenAdmitter(holderOf(services), refused),
});
