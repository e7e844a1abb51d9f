/**
 * Reads the bearer token of the `Authorization` header (RFC 6750; callback.md "Authentication" 5), for every way in that uses one.
 */
import { BEARER_CHALLENGE, defineErrors, type Refusal, refuse } from '../http/errors.ts';

export const { MISSING_AUTHORIZATION, INVALID_AUTHORIZATION, INVALID_TOKEN } = defineErrors({
  MISSING_AUTHORIZATION: { status: 401, headers: BEARER_CHALLENGE },
  INVALID_AUTHORIZATION: { status: 401, headers: BEARER_CHALLENGE },
  INVALID_TOKEN: { status: 401, headers: BEARER_CHALLENGE },
});

/** Codes of a way in by a bearer token. */
export const TOKEN_ERRORS = [MISSING_AUTHORIZATION, INVALID_AUTHORIZATION, INVALID_TOKEN] as const;

/** RFC 9110 §11.1: a scheme in any case, at least one space, credentials. */
const BEARER = /^bearer(?: +(.*))?$/i;

/** The runtimes join repeated headers by a comma and a space; no token contains a comma. */
const REPEATED = /,(?:[ \t]|$)/;

/** How the documents describe a bearer token. @param name of the security scheme */
export const bearerSecurity = (name: string, description: string) =>
  ({ name, scheme: { type: 'http', scheme: 'bearer', description } }) as const;

export const CHALLENGE = { headers: { 'www-authenticate': 'Bearer' } };

/** The refusal of a wrong token. @param expected ends "this is not" */
export const wrongToken = (expected: string): Refusal<'INVALID_TOKEN'> =>
  refuse(INVALID_TOKEN, `this is not ${expected}`, CHALLENGE);

/** @returns the token of an Authorization header (possibly empty), or a refusal where the header has none */
export function bearerToken(authorization: string | null): string | Refusal {
  if (authorization === null) {
    return refuse(MISSING_AUTHORIZATION, 'an Authorization header is required', CHALLENGE);
  }
  const found = BEARER.exec(authorization);
  if (found === null || REPEATED.test(authorization)) {
    return refuse(INVALID_AUTHORIZATION, 'Authorization must be one header of the form `Bearer <token>`', CHALLENGE);
  }
  return found[1] ?? '';
}
