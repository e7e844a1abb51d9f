/**
 * Read tokens (callback.md, "Callback"): shown once, at creation; kept only as a SHA-256 digest. Digests have one length,
 * so they are compared in a time that says nothing about where they differ, whatever was sent.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import type { Random } from '../base/random.ts';
import { alphanumerics } from './identifier.ts';

export const TOKEN_PREFIX = 'svc_cb_sk_';

/** 43 letters of 62 are 256.03 bits. */
const SECRET_LETTER_COUNT = 43;

const encoder = new TextEncoder();

export function newReadToken(random: Random): string {
  return TOKEN_PREFIX + alphanumerics(random, SECRET_LETTER_COUNT);
}

/** 32 bytes, of text of any length. */
export function digestOf(token: string): Uint8Array {
  return sha256(encoder.encode(token));
}

export function isSameDigest(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let i = 0; i < one.length; i++) difference |= one[i]! ^ other[i]!; // i < both lengths
  return difference === 0;
}
