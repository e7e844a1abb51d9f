/** Headers for browsers of other origins (decisions §2 `CORS_ORIGIN`). */

const PREFLIGHT_AGE_SECONDS = '600';
/** The official client sends `access-control-expose-headers` as a request header (x402-v2 §1.7). */
const ALLOWED_HEADERS = 'payment-signature, content-type, authorization, access-control-expose-headers';
const EXPOSED_HEADERS = 'PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Request-Id';

type Headers = Readonly<Record<string, string>>;

/** Of every response. @param origin null: none is served */
export function corsHeaders(origin: string | null): Headers {
  if (origin === null) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED_HEADERS,
    ...(origin === '*' ? {} : { vary: 'Origin' }),
  };
}

/** Of the answer to a preflight, beside the methods of the path; undefined: OPTIONS is a method like any other. */
export const preflightHeaders = (origin: string | null): Headers | undefined =>
  origin === null
    ? undefined
    : { 'access-control-allow-headers': ALLOWED_HEADERS, 'access-control-max-age': PREFLIGHT_AGE_SECONDS };
