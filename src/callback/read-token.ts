/**
 * Read tokens (callback.md, "Callback"). The server shows a token once, at creation, and stores only its SHA-256 digest. All
 * digests have one length, so comparing them takes constant time, whatever the client sent.
 */
import { newToken } from '../base/alphanumerics.ts';
import { sha256 } from '../base/digest.ts';
import type { Random } from '../base/random.ts';

export const newReadToken = (random: Random): string => newToken('svc_cb_sk_', random);

/** What the server stores of a token: 32 bytes. @param token text of any length */
export const digestOf = (token: string): Uint8Array => sha256(token);
