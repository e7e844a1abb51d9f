/**
 * Makes unguessable identifiers: callback ids (24 of 62 letters and digits, 142 bits), event ids (32 hex digits, 128 bits)
 * and the secret part of read tokens. The bytes come from the CSPRNG that the caller passes; a byte that would favour a
 * letter is rejected (248 = 4 x 62 of the 256 values are used), so every letter is equally likely. Each identifier is joined
 * in one step, because a string that grows letter by letter stays a tree of its pieces for as long as it lives
 * (bench/callback-store.ts).
 */
import type { Brand } from '../base/brand.ts';
import type { Random } from '../base/random.ts';

export type CallbackId = Brand<string, 'CallbackId'>;
export type EventId = Brand<string, 'EventId'>;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const FAIR_BYTE_COUNT = 256 - (256 % ALPHABET.length);

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

const CALLBACK_ID = /^cb_[A-Za-z0-9]{24}$/;
const CALLBACK_ID_LENGTH = 27; // `$` also matches before a final line feed; the length does not

/** The form of a callback id, for the message of INVALID_CALLBACK_ID. */
export const CALLBACK_ID_FORM = 'a callback id is `cb_` and 24 letters or digits';

/** Draws `count` letters and digits, each uniform and independent. */
export function alphanumerics(random: Random, count: number): string {
  const letters: string[] = [];
  while (letters.length < count) {
    // 3 % of the bytes are rejected; drawing an eighth more makes a second draw rare.
    const bytes = random.bytes(count - letters.length + (count >> 3) + 1);
    for (let i = 0; i < bytes.length && letters.length < count; i++) {
      const byte = bytes[i]!; // i < bytes.length
      if (byte < FAIR_BYTE_COUNT) letters.push(ALPHABET[byte % ALPHABET.length]!); // the rest is below its length
    }
  }
  return letters.join('');
}

export function newCallbackId(random: Random): CallbackId {
  return `cb_${alphanumerics(random, 24)}` as CallbackId;
}

export function newEventId(random: Random): EventId {
  const parts = ['evt_'];
  for (const byte of random.bytes(16)) parts.push(HEX[byte]!); // one of 256
  return parts.join('') as EventId;
}

/** Parses a callback id (callback.md: `^cb_[A-Za-z0-9]{24}$`); undefined for any other text. */
export function parseCallbackId(text: string): CallbackId | undefined {
  return text.length === CALLBACK_ID_LENGTH && CALLBACK_ID.test(text) ? (text as CallbackId) : undefined;
}
