/**
 * Random letters and digits from the CSPRNG that the caller passes, and the ids and tokens made of them. Bytes that would
 * favour some characters are rejected (248 = 4 x 62 of the 256 values are used), so all are equally likely. The text is
 * joined in one step: a string that grows letter by letter would stay a tree of its pieces for as long as it lives
 * (bench/callback-store.ts).
 */
import type { Random } from './random.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const FAIR_BYTE_COUNT = 256 - (256 % ALPHABET.length);

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

/** The ids of one kind: a prefix that says what they name, and 24 letters and digits, 142 bits. */
export interface IdKind<Id extends string> {
  readonly form: RegExp;
  /** The form in words, for messages. */
  readonly rule: string;
  readonly create: (random: Random) => Id;
  /** undefined for any other text. */
  readonly parse: (text: string) => Id | undefined;
}

const ID_LETTER_COUNT = 24;

export function idKind<Id extends string>(prefix: string): IdKind<Id> {
  const form = new RegExp(`^${prefix}[A-Za-z0-9]{${ID_LETTER_COUNT}}$`);
  return {
    form,
    rule: `\`${prefix}\` and ${ID_LETTER_COUNT} letters or digits`,
    create: (random) => (prefix + alphanumerics(random, ID_LETTER_COUNT)) as Id,
    parse: (text) => (form.test(text) ? (text as Id) : undefined),
  };
}

/** 43 letters of an alphabet of 62 carry 256.03 bits. */
const TOKEN_LETTER_COUNT = 43;

/** The secrets of one kind, each shown once. The prefix says what they open. */
export interface TokenKind {
  readonly prefix: string;
  readonly form: RegExp;
  readonly create: (random: Random) => string;
}

export const tokenKind = (prefix: string): TokenKind => ({
  prefix,
  form: new RegExp(`^${prefix}[A-Za-z0-9]{${TOKEN_LETTER_COUNT}}$`),
  create: (random) => prefix + alphanumerics(random, TOKEN_LETTER_COUNT),
});
