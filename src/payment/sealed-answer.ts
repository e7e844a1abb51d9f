/**
 * Seals an answer for a client that may lose it and ask again, under a key derived from the client's own identifier (HKDF with
 * SHA-256, RFC 5869). The state holds only the digest of an identifier, so it cannot open what it keeps.
 *
 *   0   16  salt of the key
 *  16       the sealed text (base/sealed.ts)
 */
import { hkdfSync } from 'node:crypto';
import type { Random } from '../base/random.ts';
import { sealed, unsealed } from '../base/sealed.ts';
import type { PaymentIdentifier } from './protocol/identifier.ts';

const KEY_BYTES = 32;
const SALT_BYTES = 16;
const PURPOSE = 'paygrade: the answer of a payment identifier';

const keyOf = (id: PaymentIdentifier, salt: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', id, salt, PURPOSE, KEY_BYTES));

export function sealAnswer(id: PaymentIdentifier, text: string, random: Random): Uint8Array {
  const salt = random.bytes(SALT_BYTES);
  return new Uint8Array(Buffer.concat([salt, sealed(keyOf(id, salt), text, '', random)]));
}

/** @throws Error when the bytes were not sealed under this identifier, or were changed */
export const openAnswer = (id: PaymentIdentifier, bytes: Uint8Array): string =>
  unsealed(keyOf(id, bytes.subarray(0, SALT_BYTES)), bytes.subarray(SALT_BYTES), '');
