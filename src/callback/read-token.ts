/**
 * Read tokens (callback.md, "Callback"). The answer to the creation shows the token once; the server stores only its SHA-256
 * digest. Digests have one length, so comparing them takes the same time for every text that a client sends.
 */
import { sha256 } from '../base/digest.ts';
import type { Random } from '../base/random.ts';
import { alphanumerics } from './identifier.ts';

export const TOKEN_PREFIX = 'svc_cb_sk_';

/** 43 letters of 62 are 256.03 bits. */
const SECRET_LETTER_COUNT = 43;

export function newReadToken(random: Random): string {
  return TOKEN_PREFIX + alphanumerics(random, SECRET_LETTER_COUNT);
}

/** What the server stores of a token: 32 bytes. @param token text of any length */
export const digestOf = (token: string): Uint8Array => sha256(token);
