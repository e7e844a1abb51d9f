/**
 * Text encrypted under a key of 32 bytes: AES-256-GCM (NIST SP 800-38D).
 *
 *   0   12  nonce, random
 *  12   16  tag
 *  28       the text, encrypted
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Random } from './random.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const HEAD_BYTES = NONCE_BYTES + 16;

/** @param bound a text that is authenticated too and needed to open; empty = none */
export function sealed(key: Uint8Array, text: string, bound: string, random: Random): Buffer {
  const nonce = random.bytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(bound));
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

/** @throws Error when the bytes were sealed with another key or bound to another text, or were changed */
export function unsealed(key: Uint8Array, bytes: Uint8Array, bound: string): string {
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(bound));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, HEAD_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES)), decipher.final()]).toString('utf8');
}
