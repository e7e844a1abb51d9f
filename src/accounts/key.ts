/**
 * API keys (siblings §3): a text of 256 random bits, shown once at creation and stored as its SHA-256 digest, and an id by
 * which the operator names the key. All digests have one length, so comparing two takes constant time.
 */
import { idKind } from '../base/alphanumerics.ts';
import { encodeBase64Url } from '../base/codec.ts';
import { sha256 } from '../base/digest.ts';
import type { Random } from '../base/random.ts';

export const KEY_PREFIX = 'svc_key_';
const SECRET_BYTES = 32;
export const KEY_FORM = /^svc_key_[A-Za-z0-9_-]{43}$/;

const ids = idKind('key_');

export const KEY_ID_FORM = ids.form;
/** The form of a key's id in words, for messages. */
export const KEY_ID_RULE = ids.rule;

/** The digest that a store keeps of a key, 32 bytes; undefined for a text that cannot be a key. */
export const keyDigestOf = (text: string): Uint8Array | undefined => (KEY_FORM.test(text) ? sha256(text) : undefined);

/** A new key's text, the prefix and 43 digits of base64url, and the digest that a store keeps of it. */
export function newSecret(random: Random): { readonly text: string; readonly digest: Uint8Array } {
  const text = KEY_PREFIX + encodeBase64Url(random.bytes(SECRET_BYTES));
  return { text, digest: sha256(text) };
}

export const newKeyId = ids.create;
export const isKeyId = (text: string): boolean => ids.parse(text) !== undefined;
