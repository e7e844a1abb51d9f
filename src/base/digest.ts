/** SHA-256 (FIPS 180-4) of a text as UTF-8, by the runtime: its native hash is faster than one in JavaScript. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';

/** The digest as 32 bytes, in a plain array because `slice` of a Buffer shares the bytes. */
export const sha256 = (text: string): Uint8Array => new Uint8Array(hash('sha256', text, 'buffer'));

/** The digest of a text, or of bytes, as 32 bytes in code units 0..255. */
export const sha256Latin1 = (text: string | Uint8Array): string => hash('sha256', text, 'latin1');

/** 64 lower-case hex digits. */
export const sha256Hex = (text: string): string => hash('sha256', text, 'hex');

/** 43 digits of base64url, no padding. */
export const sha256Base64Url = (text: string): string => hash('sha256', text, 'base64url');

/** Compares in a time that depends on the lengths only, so it does not reveal where two digests differ. */
export const isSameDigest = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && timingSafeEqual(one, other);

/** Length of the key of a {@link keyedDigest}. */
export const DIGEST_KEY_BYTES = 32;

/** Maps a text to 32 lower-case hex digits. */
export type Digest = (text: string) => string;

/** The first half of HMAC-SHA-256 (RFC 2104) under a secret key: without the key, texts cannot be tried against its digests. */
export const keyedDigest =
  (key: Uint8Array): Digest =>
  (text) =>
    createHmac('sha256', key).update(text).digest('hex').slice(0, 32);
