/**
 * Identifiers and secrets of retries (siblings §6): ids, read tokens of paid jobs, and the secrets that sign completion
 * events. The server stores only the SHA-256 digest of a token.
 */
import { idKind, tokenKind } from '../base/alphanumerics.ts';
import type { Brand } from '../base/brand.ts';
import { isSameDigest, sha256, sha256Base64Url } from '../base/digest.ts';
import type { Random } from '../base/random.ts';

export type RetryId = Brand<string, 'RetryId'>;

const ids = idKind<RetryId>('rt_');

export const RETRY_ID_FORM = ids.form;
/** The message of INVALID_RETRY_ID. */
export const RETRY_ID_RULE = `a retry id is ${ids.rule}`;

const tokens = tokenKind('svc_rt_sk_');

export const READ_TOKEN_PREFIX = tokens.prefix;
export const RETRY_TOKEN_FORM = tokens.form;

const SECRET_PREFIX = 'whsec_';
/** Standard Webhooks permits 24 to 64 bytes. */
const SECRET_BYTES = 32;

export const newRetryId = ids.create;
export const parseRetryId = ids.parse;

export const newReadToken = tokens.create;

/** The stored digest of a token, base64url. */
export const tokenDigestOf = (token: string): string => sha256Base64Url(token);

/** Compares in constant time. @param digest of {@link tokenDigestOf} */
export const isTokenOf = (token: string, digest: string): boolean =>
  isSameDigest(sha256(token), new Uint8Array(Buffer.from(digest, 'base64url')));

export const CALLBACK_SECRET_FORM = /^whsec_[A-Za-z0-9+/]+=*$/;

/** `whsec_` and standard base64, as the libraries of Standard Webhooks expect it. */
export const newCallbackSecret = (random: Random): string =>
  SECRET_PREFIX + Buffer.from(random.bytes(SECRET_BYTES)).toString('base64');

/** The HMAC key that a secret encodes. */
export const secretBytesOf = (secret: string): Uint8Array =>
  new Uint8Array(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'));

/** An `Idempotency-Key`: 16 to 128 of the characters that are safe everywhere. */
export const IDEMPOTENCY_KEY_FORM = /^[A-Za-z0-9_-]{16,128}$/;
