/**
 * The way in by API key (siblings §3): `Authorization: Bearer svc_key_...` with a scope. It decides before the input is
 * decoded. The key and its organization are the principal.
 */
import type { Accounts, KeyHolder } from '../accounts/accounts.ts';
import type { Scope } from '../accounts/scopes.ts';
import { chain } from '../base/maybe-promise.ts';
import type { Access } from '../http/access.ts';
import { BEARER_CHALLENGE, defineErrors, type Refusal, refuse, STATE_UNAVAILABLE } from '../http/errors.ts';
import {
  bearerSecurity,
  bearerToken,
  CHALLENGE,
  INVALID_AUTHORIZATION,
  MISSING_AUTHORIZATION,
} from './bearer-token.ts';

export const { INVALID_API_KEY, INSUFFICIENT_SCOPE } = defineErrors({
  INVALID_API_KEY: { status: 401, headers: BEARER_CHALLENGE },
  INSUFFICIENT_SCOPE: { status: 403 },
});

/** The services that a module needs for operations behind a key. */
export interface ApiKeyServices {
  readonly accounts: Accounts;
}

/** The principal of a request with a valid key. */
export interface KeyPrincipal {
  readonly keyId: string;
  readonly organization: string;
}

export const unknownKey = (): Refusal => refuse(INVALID_API_KEY, 'this is no valid API key of this server', CHALLENGE);

/** How the documents describe a key with these scopes. */
export const apiKeySecurity = (scopes: readonly Scope[]) => ({
  ...bearerSecurity(
    'apiKey',
    "An organization's API key, `svc_key_` and 43 characters. Each operation names the scope that it needs.",
  ),
  scopes,
});

/** The refusal of a key that has none of the scopes. */
export const unlessPermitted = (holder: KeyHolder, scopes: readonly Scope[]): Refusal | undefined =>
  scopes.some((scope) => holder.scopes.includes(scope))
    ? undefined
    : refuse(INSUFFICIENT_SCOPE, `this API key does not have the scope ${scopes.join(' or ')}`);

/** Codes of a way in by API key. */
export const KEY_ERRORS = [
  MISSING_AUTHORIZATION,
  INVALID_AUTHORIZATION,
  INVALID_API_KEY,
  INSUFFICIENT_SCOPE,
  STATE_UNAVAILABLE,
] as const;

/** Admits requests with a key that has the scope. */
export const apiKey = (scope: Scope): Access<KeyPrincipal, ApiKeyServices> => ({
  errors: KEY_ERRORS,
  errorsWithout: [MISSING_AUTHORIZATION],
  documentation: {
    sentence: `Needs an API key with the scope \`${scope}\``,
    guide:
      'Operations with a scope need the API key of an organization: send `Authorization: Bearer svc_key_...`. The operator of ' +
      'the server creates keys and grants credits.',
    security: apiKeySecurity([scope]),
  },
  isBeforeInput: true,
  isPrivate: true,
  isPresented: (request) => request.header('authorization') !== null,
  open: ({ accounts }) => ({
    admit(request) {
      const token = bearerToken(request.header('authorization'));
      if (typeof token !== 'string') return token;
      return chain(accounts.authenticate(token), (holder) =>
        holder === undefined ? unknownKey() : (unlessPermitted(holder, [scope]) ?? { principal: holder }),
      );
    },
  }),
});
