/**
 * Seals an answer for a client that may lose it and ask again: AES-256-GCM under a key derived from the client's own
 * identifier (HKDF with SHA-256, RFC 5869). The state holds only the digest of an identifier, so it cannot open what it keeps.
 *
 *   0   16  salt of the key
 *  16   12  nonce
 *  28   16  tag
 *  44       the text, encrypted
 */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { Random } from '../base/random.ts';
import type { PaymentIdentifier } from './protocol/identifier.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = SALT_BYTES + NONCE_BYTES + TAG_BYTES;
const PURPOSE = 'paygrade: the answer of a payment identifier';

const keyOf = (id: PaymentIdentifier, salt: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', id, salt, PURPOSE, KEY_BYTES));

export function sealAnswer(id: PaymentIdentifier, text: string, random: Random): Uint8Array {
  const salt = random.bytes(SALT_BYTES);
  const nonce = random.bytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(id, salt), nonce);
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return new Uint8Array(Buffer.concat([salt, nonce, cipher.getAuthTag(), encrypted]));
}

/** @throws Error when the bytes were not sealed under this identifier, or were changed */
export function openAnswer(id: PaymentIdentifier, sealed: Uint8Array): string {
  const salt = sealed.subarray(0, SALT_BYTES);
  const nonce = sealed.subarray(SALT_BYTES, SALT_BYTES + NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, keyOf(id, salt), nonce);
  decipher.setAuthTag(sealed.subarray(SALT_BYTES + NONCE_BYTES, HEAD_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES)), decipher.final()]).toString('utf8');
}
