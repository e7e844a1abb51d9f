/** SHA-256 (FIPS 180-4) of a text as UTF-8, by the runtime: its native hash is faster than one in JavaScript. */
import { createHash, hash, timingSafeEqual } from 'node:crypto';
import { hexOfLatin1 } from './codec.ts';

/** Block size of SHA-256, bytes. */
const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

/** The digest as 32 bytes. Goes through a string: Node takes twice as long to return a Buffer. */
export function sha256(text: string): Uint8Array {
  const units = sha256Latin1(text);
  const bytes = new Uint8Array(DIGEST_BYTES);
  for (let i = 0; i < DIGEST_BYTES; i++) bytes[i] = units.charCodeAt(i);
  return bytes;
}

/** The digest of a text, or of bytes, as 32 bytes in code units 0..255. */
export const sha256Latin1 = (text: string | Uint8Array): string => hash('sha256', text, 'latin1');

/** 64 lower-case hex digits. */
export const sha256Hex = (text: string): string => hash('sha256', text, 'hex');

/** 43 digits of base64url, no padding. */
export const sha256Base64Url = (text: string): string => hash('sha256', text, 'base64url');

/** 43 digits of base64url over the digests of the parts, so it depends on where each part ends. */
export function sha256OfParts(parts: readonly Uint8Array[]): string {
  const all = createHash('sha256');
  for (const part of parts) all.update(hash('sha256', part, 'buffer'));
  return all.digest('base64url');
}

/** Compares in a time that depends on the lengths only, so it does not reveal where two digests differ. */
export const isSameDigest = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && timingSafeEqual(one, other);

/** Length of the key of a {@link keyedDigest}. */
export const DIGEST_KEY_BYTES = 32;

/** Maps a text to 32 lower-case hex digits. */
export type Digest = (text: string) => string;

/**
 * HMAC-SHA-256 (RFC 2104) of short messages under one key, by two one-shot digests over prepared memory: creating the
 * runtime's own object takes three times as long as using it.
 */
export class Hmac {
  /** The key's inner block, then the message. */
  #inner = Buffer.alloc(BLOCK_BYTES + 512);
  /** The key's outer block, then the inner digest. */
  readonly #outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);

  /** @param key at most 64 bytes */
  constructor(key: Uint8Array) {
    if (key.length > BLOCK_BYTES) throw new Error('the key of an HMAC is longer than a block of its hash');
    for (let i = 0; i < BLOCK_BYTES; i++) {
      this.#inner[i] = (key[i] ?? 0) ^ 0x36;
      this.#outer[i] = (key[i] ?? 0) ^ 0x5c;
    }
  }

  /** The HMAC of a text as UTF-8 followed by bytes: 32 bytes in code units 0..255. */
  of(text: string, bytes: Uint8Array): string {
    // UTF-8 has at most three bytes for each code unit.
    const needed = BLOCK_BYTES + text.length * 3 + bytes.length;
    if (needed > this.#inner.length) this.#inner = Buffer.concat([this.#inner.subarray(0, BLOCK_BYTES)], needed * 2);
    const inner = this.#inner;
    const end = BLOCK_BYTES + inner.write(text, BLOCK_BYTES, 'utf8');
    inner.set(bytes, end);
    this.#outer.write(sha256Latin1(inner.subarray(0, end + bytes.length)), BLOCK_BYTES, 'latin1');
    return sha256Latin1(this.#outer);
  }
}

const NO_BYTES = new Uint8Array(0);

/** The first half of HMAC-SHA-256 (RFC 2104) under a secret key: without the key, texts cannot be tried against its digests. */
export function keyedDigest(key: Uint8Array): Digest {
  const hmac = new Hmac(key);
  return (text) => hexOfLatin1(hmac.of(text, NO_BYTES).slice(0, DIGEST_BYTES / 2));
}
