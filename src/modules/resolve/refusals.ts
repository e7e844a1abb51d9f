/** Refusals of the Resolve API, including those for a failure within the wait (siblings §7). */
import { defineErrors, type ErrorCode, INTERNAL_ERROR, type Refusal, refuse } from '../../http/errors.ts';
import type { FailureCode, ResolveFailure } from '../../resolve/result.ts';

export const { INVALID_URL } = defineErrors({ INVALID_URL: { status: 400 } });

const OF_FAILURE: { readonly [Code in FailureCode]: ErrorCode<Code> } = {
  ...defineErrors({
    TARGET_NOT_ALLOWED: { status: 400 },
    TARGET_UNREACHABLE: { status: 502 },
    TOO_MANY_REDIRECTS: { status: 502 },
    RESPONSE_TOO_LARGE: { status: 502 },
    TLS_ERROR: { status: 502 },
    TARGET_TIMEOUT: { status: 504 },
  }),
  INTERNAL_ERROR,
};

export const { TARGET_NOT_ALLOWED } = OF_FAILURE;

/** Codes of failures, for the route's `errors`. */
export const FAILURE_ERRORS = Object.values(OF_FAILURE);

export const failedWithin = ({ code, message }: ResolveFailure): Refusal<FailureCode> =>
  refuse(OF_FAILURE[code], `${message}; nothing was charged`);
