/**
 * Error codes and refusals (decisions §4, callback.md "Errors"). A code is a value with its status and its response headers.
 * The file that refuses with a code defines it, so the kit has no table of all codes. A refusal is an expected outcome and
 * therefore a value; only bugs throw.
 *
 * Body of every error: `{error: {code, message, request_id}}` (callback.md "Error object"); a refusal may add members
 * beside `error` (the 402 offer does).
 */

/** A response header as documents describe it. */
export interface HeaderFacts {
  readonly description: string;
  /** JSON Schema of the value. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** False: only some of the responses carry it. */
  readonly isAlwaysSent: boolean;
}

export interface ErrorCode<C extends string = string> {
  readonly code: C;
  readonly status: number;
  /** Headers that refusals with this code carry, by name. */
  readonly headers: Readonly<Record<string, HeaderFacts>>;
}

type ErrorFacts = Pick<ErrorCode, 'status'> & Partial<Pick<ErrorCode, 'headers'>>;

const NO_HEADERS = Object.freeze({});

/** Defines codes by name: `const { JOB_NOT_FOUND } = defineErrors({ JOB_NOT_FOUND: { status: 404 } })`. */
export function defineErrors<const T extends Readonly<Record<string, ErrorFacts>>>(
  facts: T,
): { readonly [C in keyof T & string]: ErrorCode<C> } {
  const codes = Object.entries(facts).map(([code, { status, headers = NO_HEADERS }]) => [
    code,
    Object.freeze({ code, status, headers }),
  ]);
  return Object.freeze(Object.fromEntries(codes));
}

/** Header of temporary refusals: seconds until a retry can succeed (RFC 9110 §10.2.3). */
export const RETRY_AFTER: Readonly<Record<string, HeaderFacts>> = {
  'Retry-After': {
    description: 'Seconds after which the client should try again',
    schema: { type: 'integer', minimum: 0 },
    isAlwaysSent: true,
  },
};

/** The same where only some refusals carry it. */
const RETRY_AFTER_AT_TIMES: Readonly<Record<string, HeaderFacts>> = {
  'Retry-After': {
    description: 'Seconds after which the client should try again, where the server knows',
    schema: { type: 'integer', minimum: 0 },
    isAlwaysSent: false,
  },
};

/** Header of refusals for a missing or wrong bearer token (RFC 6750 §3). */
export const BEARER_CHALLENGE: Readonly<Record<string, HeaderFacts>> = {
  'WWW-Authenticate': {
    description: 'The authentication scheme that the operation requires',
    schema: { const: 'Bearer' },
    isAlwaysSent: true,
  },
};

/** Codes of the kit itself, and codes that several ways in and handlers share. */
export const {
  INVALID_PARAMETER,
  UNKNOWN_PARAMETER,
  DUPLICATE_PARAMETER,
  MISSING_PARAMETER,
  INVALID_JSON,
  INVALID_BODY,
  NOT_FOUND,
  METHOD_NOT_ALLOWED,
  REQUEST_TIMEOUT,
  PAYLOAD_TOO_LARGE,
  UNSUPPORTED_MEDIA_TYPE,
  RATE_LIMIT_EXCEEDED,
  INTERNAL_ERROR,
  OVERLOADED,
  STATE_UNAVAILABLE,
} = defineErrors({
  INVALID_PARAMETER: { status: 400 },
  UNKNOWN_PARAMETER: { status: 400 },
  DUPLICATE_PARAMETER: { status: 400 },
  MISSING_PARAMETER: { status: 400 },
  INVALID_JSON: { status: 400 },
  INVALID_BODY: { status: 400 },
  NOT_FOUND: { status: 404 },
  METHOD_NOT_ALLOWED: { status: 405 },
  REQUEST_TIMEOUT: { status: 408 },
  PAYLOAD_TOO_LARGE: { status: 413 },
  UNSUPPORTED_MEDIA_TYPE: { status: 415 },
  RATE_LIMIT_EXCEEDED: { status: 429, headers: RETRY_AFTER },
  INTERNAL_ERROR: { status: 500, headers: RETRY_AFTER_AT_TIMES },
  OVERLOADED: { status: 503, headers: RETRY_AFTER },
  STATE_UNAVAILABLE: { status: 503, headers: RETRY_AFTER },
});

export interface RefusalExtras {
  /** Response headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** JSON text of further members of the body in pieces, beginning with a comma: `,"x402Version":2`. */
  readonly members?: readonly string[] | undefined;
  /** Detail for the log that the client does not see. Never a secret. */
  readonly detail?: string | undefined;
}

/** An expected failure: error code, message and extras. */
export class Refusal<C extends string = string> {
  readonly code: C;
  readonly status: number;
  readonly message: string;
  readonly extras: RefusalExtras;
  #head: string | undefined;

  /** @param head `head` of another refusal with the same code and message, which saves quoting the message again */
  constructor(
    { code, status }: Pick<ErrorCode<C>, 'code' | 'status'>,
    message: string,
    extras: RefusalExtras,
    head?: string,
  ) {
    this.code = code;
    this.status = status;
    this.message = message;
    this.extras = extras;
    this.#head = head;
  }

  /** JSON text of the body up to the request id. */
  get head(): string {
    this.#head ??= `{"error":{"code":"${this.code}","message":${JSON.stringify(this.message)},"request_id":"`;
    return this.#head;
  }
}

const NO_EXTRAS: RefusalExtras = {};

export function refuse<C extends string>(
  code: ErrorCode<C>,
  message: string,
  extras: RefusalExtras = NO_EXTRAS,
): Refusal<C> {
  return new Refusal(code, message, extras);
}

/** The header `Retry-After`. @param seconds a whole number */
export const retryAfter = (seconds: number): { readonly 'retry-after': string } => ({ 'retry-after': String(seconds) });

/** The refusal of a request above a rate. @param waitMs until one passes again; the header has whole seconds, at least one */
export const rateLimited = (message: string, waitMs: number): Refusal<'RATE_LIMIT_EXCEEDED'> =>
  refuse(RATE_LIMIT_EXCEEDED, message, { headers: retryAfter(Math.max(1, Math.ceil(waitMs / 1000))) });

/** `Retry-After` while the state cannot be used. */
const STATE_RETRY_SECONDS = 5;

/** The refusal while the state cannot be read or written (decisions §4). @param detail why, for the log */
export const stateUnavailable = (message: string, detail?: string): Refusal<'STATE_UNAVAILABLE'> =>
  refuse(STATE_UNAVAILABLE, message, { headers: retryAfter(STATE_RETRY_SECONDS), detail });
