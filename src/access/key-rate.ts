/**
 * Limits the requests of one API key in any sliding minute (siblings §3, `KEY_RATE_LIMIT_PER_MINUTE`). Only requests with a
 * valid key and valid input count; where an operation has other ways in, requests by those pass uncounted. All operations that
 * list it share one count ({@link KEY_RATE_NAME}).
 */
import type { Access } from '../http/access.ts';
import { RATE_LIMIT_EXCEEDED } from '../http/errors.ts';
import type { KeyPrincipal } from './api-key.ts';
import { type ClientRate, rateAdmitter } from './rate-limit.ts';
import type { Payer } from './x402.ts';

/** Name of the counts that all surfaces share. */
export const KEY_RATE_NAME = 'by key';

/** The services that a module needs for operations with a rate limit by key. */
export interface KeyRatedServices {
  readonly keyRate: ClientRate;
}

/** Admits a limited number of requests a minute with one key. Stands after an API key, or after alternatives with one. */
export const perKey: Access<object, KeyRatedServices, Partial<KeyPrincipal> | Payer> = {
  errors: [RATE_LIMIT_EXCEEDED],
  documentation: {},
  open: ({ keyRate }) =>
    rateAdmitter(keyRate, 'with one API key', (_, principal) => ('keyId' in principal ? principal.keyId : undefined)),
};
