/** Headers for browsers of other origins (decisions §2 `CORS_ORIGIN`). */
import { MODULES } from './modules.ts';

const PREFLIGHT_AGE_SECONDS = '600';
/**
 * Headers that requests to any surface carry, and those that clients and scanners add (x402-v2 §1.7): the official client
 * sends `access-control-expose-headers` as a request header; `x-payment` and `sign-in-with-x` buy nothing here.
 */
const ALLOWED_HEADERS =
  'payment-signature, x-payment, content-type, access-control-expose-headers, sign-in-with-x, idempotency-key, ' +
  'authorization, if-none-match';
const EXPOSED_HEADERS =
  'PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Request-Id, X-Credits-Charged, X-Credits-Remaining, ' +
  'X-Original-Content-Type, ETag, Allow, Link, WWW-Authenticate';

type Headers = Readonly<Record<string, string>>;

/** Headers of every response but the operator's. @param origin the permitted origin, or `*` */
export function corsHeaders(origin: string): Headers {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED_HEADERS,
    ...(origin === '*' ? {} : { vary: 'Origin' }),
  };
}

const OPERATOR_PATHS = MODULES.flatMap(({ operatorPaths = [] }) => operatorPaths);

/** Whether a path never has headers for browsers of other origins, not even on 404, 405 and preflights below it. */
export const isOperatorPath = (path: string): boolean =>
  OPERATOR_PATHS.some((own) => path.startsWith(own) && (path.length === own.length || path[own.length] === '/'));

/** Headers of the answer to a preflight, beside the methods of the path; undefined: the server answers no preflights. */
export const preflightHeaders = (origin: string | null): Headers | undefined =>
  origin === null
    ? undefined
    : { 'access-control-allow-headers': ALLOWED_HEADERS, 'access-control-max-age': PREFLIGHT_AGE_SECONDS };
