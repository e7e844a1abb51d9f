/** What a failed `fetch` shows about the connection: whether the request may have been sent, and a code for the log. */
import { errorCodeOf } from '../../base/failure.ts';

/** All that Node says of a port of another protocol, which `fetch` never connects to (Fetch, "port blocking"). */
const BAD_PORT = 'bad port';

/**
 * Error codes of a connection that was never made. After any other failure the request may have been written.
 * Node (undici) has them on `error.cause`, on each of `cause.errors` when it tried several addresses, or as the code of the TLS
 * layer; Bun has them on the error itself. A reset during a handshake has the same code as a later one, so it counts as sent.
 */
const NOT_SENT_CODES: ReadonlySet<string> = new Set([
  BAD_PORT,
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'UND_ERR_CONNECT_TIMEOUT',
  // No file descriptor is free, so there is no socket. Under Bun the error does not say which call failed.
  'EMFILE',
  'ENFILE',
  // Verdicts on the certificate, which precede the first byte of HTTP.
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_UNTRUSTED',
  'CERT_REJECTED',
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'INVALID_CA',
  'HOSTNAME_MISMATCH',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** Codes that mean "never connected" only when `connect` was the call that failed. */
const NOT_SENT_WHEN_CONNECTING: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
]);

interface ErrorFacts {
  readonly syscall?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
  readonly message?: unknown;
}

const factsOf = (value: unknown): ErrorFacts => (typeof value === 'object' && value !== null ? value : {});

const codeOf = (failure: unknown): string | undefined =>
  errorCodeOf(failure) ?? (factsOf(failure).message === BAD_PORT ? BAD_PORT : undefined);

/** Certain that no byte of the request was written. */
export function isNotSent(failure: unknown): boolean {
  const { syscall, cause, errors } = factsOf(failure);
  if (Array.isArray(errors) && errors.length > 0) return errors.every(isNotSent);
  const code = codeOf(failure);
  if (code !== undefined) {
    return NOT_SENT_CODES.has(code) || (syscall === 'connect' && NOT_SENT_WHEN_CONNECTING.has(code));
  }
  return cause !== undefined && isNotSent(cause);
}

/** The code of a failure of `fetch`, or of its cause. */
export const findFetchCode = (failure: unknown): string | undefined =>
  codeOf(failure) ?? codeOf(factsOf(failure).cause);

/** The code of a failure, for the log. Never another message: it can hold an address with credentials. */
export const fetchCodeOf = (failure: unknown): string => findFetchCode(failure) ?? 'no code';
