/**
 * Read tokens (callback.md, "Callback"). The server shows a token once, at creation, and keeps only its SHA-256 digest. All
 * digests have one length, so comparing them takes constant time, whatever the client sent.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import type { Random } from '../base/random.ts';
import { alphanumerics } from './identifier.ts';

export const TOKEN_PREFIX = 'svc_cb_sk_';

/** 43 letters of an alphabet of 62 carry 256.03 bits. */
const SECRET_LETTER_COUNT = 43;

const encoder = new TextEncoder();

/** Makes a new token: the prefix and 43 random letters and digits. */
export function newReadToken(random: Random): string {
  return TOKEN_PREFIX + alphanumerics(random, SECRET_LETTER_COUNT);
}

/** SHA-256 of a token of any length: 32 bytes. */
export function digestOf(token: string): Uint8Array {
  return sha256(encoder.encode(token));
}

/** Compares two digests in constant time. */
export function isSameDigest(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let i = 0; i < one.length; i++) difference |= one[i]! ^ other[i]!; // i < both lengths
  return difference === 0;
}
