/**
 * Read tokens (callback.md, "Callback"). The server shows a token once, at creation, and stores only its SHA-256 digest. All
 * digests have one length, so comparing them takes constant time, whatever the client sent.
 */
import { alphanumerics } from '../base/alphanumerics.ts';
import { sha256 } from '../base/digest.ts';
import type { Random } from '../base/random.ts';

const TOKEN_PREFIX = 'svc_cb_sk_';

/** 43 letters of an alphabet of 62 carry 256.03 bits. */
const SECRET_LETTER_COUNT = 43;

/** Makes a new token: the prefix and 43 random letters and digits. */
export function newReadToken(random: Random): string {
  return TOKEN_PREFIX + alphanumerics(random, SECRET_LETTER_COUNT);
}

/** What the server stores of a token: 32 bytes. @param token text of any length */
export const digestOf = (token: string): Uint8Array => sha256(token);
