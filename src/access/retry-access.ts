/**
 * Ways in to one retry job (siblings §6): its read token, or a key of the organization that created it. Checks in order: form
 * of the id, `Authorization`, existence, token, then the rest (what a key permits). For a key, a job of another organization
 * does not exist.
 */
import type { Accounts } from '../accounts/accounts.ts';
import { KEY_PREFIX } from '../accounts/key.ts';
import type { Scope } from '../accounts/scopes.ts';
import type { Access, Admission } from '../http/access.ts';
import { defineErrors, type Refusal, refuse, stateUnavailable } from '../http/errors.ts';
import type { RequestView } from '../http/request-view.ts';
import { isTokenOf, parseRetryId, READ_TOKEN_PREFIX, RETRY_ID_RULE } from '../retry/identifier.ts';
import type { RetryJob } from '../retry/job.ts';
import type { Retries } from '../retry/retries.ts';
import { DamagedJobError } from '../retry/store.ts';
import { apiKey, apiKeySecurity, KEY_ERRORS, type KeyPrincipal, unknownKey, unlessPermitted } from './api-key.ts';
import { bearerSecurity, bearerToken, INVALID_TOKEN, wrongToken } from './bearer-token.ts';

export const { INVALID_RETRY_ID, RETRY_NOT_FOUND, API_KEY_REQUIRED } = defineErrors({
  INVALID_RETRY_ID: { status: 400 },
  RETRY_NOT_FOUND: { status: 404 },
  API_KEY_REQUIRED: { status: 403 },
});

/** The services that a module needs for operations on retry jobs. */
export interface RetryAccessServices {
  readonly accounts: Accounts;
  readonly retries: Pick<Retries, 'find'>;
}

/** The principal of a request that may see a job; with a key it has the key and organization too. */
export interface RetryReader extends Partial<KeyPrincipal> {
  readonly job: RetryJob;
}

export const noRetry = (): Refusal<'RETRY_NOT_FOUND'> => refuse(RETRY_NOT_FOUND, 'there is no such retry');

const keyRequired = (): Refusal => refuse(API_KEY_REQUIRED, 'this needs an API key; a read token only reads');

/** The refusal for a job whose record is damaged. @throws any other failure */
export function ifDamaged(failure: unknown): Refusal<'STATE_UNAVAILABLE'> {
  if (failure instanceof DamagedJobError)
    return stateUnavailable('the record of this retry is damaged', failure.message);
  throw failure;
}

const isKey = (token: string): boolean => token.startsWith(KEY_PREFIX);

const READ_SECURITY = bearerSecurity(
  'retryToken',
  "The read token of one paid job, `svc_rt_sk_` and 43 characters, or an organization's API key, `svc_key_` and 43 characters.",
);

async function admitByKey(
  token: string,
  scopes: readonly Scope[],
  find: () => Promise<RetryJob | undefined>,
  accounts: Accounts,
): Promise<Admission<RetryReader> | Refusal> {
  const holder = await accounts.authenticate(token);
  if (holder === undefined) return unknownKey();
  const job = await find();
  if (job === undefined || job.organization !== holder.organization) return noRetry();
  return unlessPermitted(holder, scopes) ?? { principal: { ...holder, job } };
}

async function admitByToken(
  token: string,
  isKeyRequired: boolean,
  find: () => Promise<RetryJob | undefined>,
): Promise<Admission<RetryReader> | Refusal> {
  const job = await find();
  if (job === undefined) return noRetry();
  if (job.tokenDigest === null || !isTokenOf(token, job.tokenDigest)) {
    return wrongToken('the read token of this retry');
  }
  return isKeyRequired ? keyRequired() : { principal: { job } };
}

const jobAccess = (scopes: readonly Scope[], isKeyRequired: boolean): Access<RetryReader, RetryAccessServices> => ({
  errors: [
    INVALID_RETRY_ID,
    ...KEY_ERRORS,
    RETRY_NOT_FOUND,
    INVALID_TOKEN,
    ...(isKeyRequired ? [API_KEY_REQUIRED] : []),
  ],
  documentation: {
    sentence: isKeyRequired
      ? `Needs a key of the job's organization with the scope ${scopes.join(' or ')}`
      : "Needs the job's read token, or a key of its organization with the scope retries:read or retries:write",
    security: isKeyRequired ? apiKeySecurity(scopes) : READ_SECURITY,
  },
  isBeforeInput: true,
  isPrivate: true,
  open: ({ accounts, retries }) => ({
    admit(request: RequestView) {
      const id = parseRetryId(request.params.id ?? '');
      if (id === undefined) return refuse(INVALID_RETRY_ID, RETRY_ID_RULE);
      const token = bearerToken(request.header('authorization'));
      if (typeof token !== 'string') return token;
      const find = (): Promise<RetryJob | undefined> => retries.find(id);
      const admitted = isKey(token)
        ? admitByKey(token, scopes, find, accounts)
        : admitByToken(token, isKeyRequired, find);
      return admitted.catch(ifDamaged);
    },
  }),
});

/** Reads of one job. */
export const retryReader = jobAccess(['retries:read', 'retries:write'], false);

/** Changes of one job. */
export const retryWriter = jobAccess(['retries:write'], true);

const usageKey = apiKey('retries:read');

/** The usage of all jobs of an organization: a key with `retries:read`. A read token is of one job. */
export const retryUsageKey: Access<KeyPrincipal, Pick<RetryAccessServices, 'accounts'>> = {
  ...usageKey,
  errors: [...KEY_ERRORS, API_KEY_REQUIRED],
  open(...opening) {
    const admitter = usageKey.open(...opening);
    return {
      admit(request, principal, read) {
        const token = bearerToken(request.header('authorization'));
        const isReadToken = typeof token === 'string' && token.startsWith(READ_TOKEN_PREFIX);
        return isReadToken ? keyRequired() : admitter.admit(request, principal, read);
      },
    };
  },
};
