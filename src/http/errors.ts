/**
 * The one table of error codes: code -> status (decisions §4, callback.md "Errors"). A refusal is an expected outcome, so
 * it is a value; only bugs throw.
 *
 * Body of every error: `{error: {code, message, request_id}}` (callback.md, "Error object"); a refusal may add members
 * beside `error` (the 402 offer does).
 */
export const ERROR_STATUS = {
  INVALID_PARAMETER: 400,
  UNKNOWN_PARAMETER: 400,
  DUPLICATE_PARAMETER: 400,
  MISSING_PARAMETER: 400,
  UNSUPPORTED_PERIOD: 400,
  INVALID_JSON: 400,
  INVALID_BODY: 400,
  INVALID_CALLBACK_ID: 400,
  MISSING_AUTHORIZATION: 401,
  INVALID_AUTHORIZATION: 401,
  INVALID_TOKEN: 401,
  PAYMENT_REQUIRED: 402,
  PAYMENT_INVALID: 402,
  PAYMENT_NOT_SETTLED: 402,
  NOT_FOUND: 404,
  COMPANY_NOT_FOUND: 404,
  CALLBACK_NOT_FOUND: 404,
  EVENT_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  PAYMENT_ALREADY_USED: 409,
  CALLBACK_EXPIRED: 410,
  CALLBACK_EVENT_LIMIT_REACHED: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMIT_EXCEEDED: 429,
  TOO_MANY_WAITS: 429,
  INTERNAL_ERROR: 500,
  UPSTREAM_INVALID_RESPONSE: 502,
  CATALOGUE_UNAVAILABLE: 503,
  SETTLEMENT_PENDING: 503,
  SETTLEMENT_UNAVAILABLE: 503,
  CALLBACK_CAPACITY_EXCEEDED: 503,
  UPSTREAM_TIMEOUT: 504,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

export interface RefusalExtras {
  /** Response headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** JSON text of further members of the body, beginning with a comma: `,"x402Version":2`. */
  readonly members?: string | undefined;
  /** What the log may say and the caller may not see. Never a secret. */
  readonly detail?: string | undefined;
}

/** An answer that is not given, with its reason. */
export class Refusal<C extends ErrorCode = ErrorCode> {
  readonly code: C;
  readonly message: string;
  readonly extras: RefusalExtras;
  #head: string | undefined;

  /** @param head what another refusal of the same code and message had there */
  constructor(code: C, message: string, extras: RefusalExtras, head?: string) {
    this.code = code;
    this.message = message;
    this.extras = extras;
    this.#head = head;
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }

  /** JSON text of the body up to the request id. */
  get head(): string {
    this.#head ??= `{"error":{"code":"${this.code}","message":${JSON.stringify(this.message)},"request_id":"`;
    return this.#head;
  }
}

/** A refusal that is answered with again and again, whoever asks: worth preparing its response. */
export class KeptRefusal<C extends ErrorCode = ErrorCode> extends Refusal<C> {
  /** Left here by the one who responds with it. */
  prepared: ((requestId: string) => Response) | undefined;
  wasUsed = false;
}

const NO_EXTRAS: RefusalExtras = {};

export function refuse<C extends ErrorCode>(code: C, message: string, extras: RefusalExtras = NO_EXTRAS): Refusal<C> {
  return new Refusal(code, message, extras);
}
