/**
 * Gates for one secret of the configuration as a bearer token, with the refusals of the callback routes (siblings §3, §8,
 * callback.md "Authentication"). Wrong tokens are rated by client network, so that no address can try many.
 */
import { isSameDigest, sha256 } from '../base/digest.ts';
import { chain, type MaybePromise } from '../base/maybe-promise.ts';
import type { RateLimiter, RateLimits } from '../base/rate-limits.ts';
import type { Admission, Gate } from '../http/access.ts';
import { RATE_LIMIT_EXCEEDED, type Refusal, refuse, retryAfterMs } from '../http/errors.ts';
import { bearerToken, CHALLENGE, INVALID_TOKEN } from './bearer-token.ts';
import { MINUTE_MS } from './rate-limit.ts';

/** Wrong tokens of one client network a minute that are answered 401; more are 429. The right token always passes. */
export const WRONG_TOKEN_COUNT_MAX = 30;

/** Those who hold one secret. */
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
export function tokenGate({ tokenDigest, wrongTokens }: SecretHolder, name: string): Gate {
  const wrongToken = (waitMs: number): Refusal => {
    if (waitMs === 0) return refuse(INVALID_TOKEN, `this is not ${name}`, CHALLENGE);
    return refuse(RATE_LIMIT_EXCEEDED, `at most ${WRONG_TOKEN_COUNT_MAX} wrong tokens a minute from one address`, {
      headers: retryAfterMs(waitMs),
    });
  };
  return {
    admit(request): MaybePromise<Admission | Refusal> {
      const token = bearerToken(request.header('authorization'));
      if (typeof token !== 'string') return token;
      if (isSameDigest(sha256(token), tokenDigest)) return ADMITTED;
      return chain(wrongTokens.tryPass(request.clientNetwork()), wrongToken);
    },
  };
}
