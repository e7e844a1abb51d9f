/**
 * What each UTF-16 unit of a text means to the skill extractor: part of a word, a blank, a separator of a list. Halves of
 * surrogate pairs (emoji, mostly) have no flag, so they end a word.
 */

export const WORD = 1; // letters, marks, digits, underscore
export const BLANK = 2; // horizontal white space
export const LINE = 4; // line breaks
export const LISTING = 8; // separates items of a list: , ; / | & + brackets bullets
export const FILLING = 16; // may stand in the gap between two items, but separates nothing
export const CHUNK_END = 32; // ends a run that may be an address
export const HYPHEN = 64;
export const LETTER = 128;

export const DOT = 46;
export const AT = 64;
export const AMPERSAND = 38;
export const PLUS = 43;
export const SHARP = 35;
export const COLON = 58;
export const SLASH = 47;
export const QUESTION = 63;
export const DOLLAR = 36;
export const APOSTROPHE = 39;

/**
 * Letters of scripts that put no blank after a foreign name end a word and are part of none: Korean and Japanese
 * postings write particles right after `Java`.
 */
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}_]/u;
const UNSPACED_SCRIPT = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}]/u;
const LETTER_CHARACTER = /\p{L}/u;

function buildFlags(): Uint8Array {
  const flags = new Uint8Array(0x10000);
  for (let unit = 0; unit < 0x10000; unit++) {
    if (unit >= 0xd800 && unit <= 0xdfff) continue;
    const character = String.fromCharCode(unit);
    if (!WORD_CHARACTER.test(character) || UNSPACED_SCRIPT.test(character)) continue;
    flags[unit] = LETTER_CHARACTER.test(character) ? WORD | LETTER : WORD;
  }
  const mark = (characters: string, flag: number): void => {
    for (let i = 0; i < characters.length; i++) flags[characters.charCodeAt(i)]! |= flag;
  };
  mark(' \t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000', BLANK);
  mark('\n\r\v\f\u0085\u2028\u2029', LINE);
  mark(',;/|&+()[]{}•·●▪▫■□◦‣⁃∙○►▶➢✓✔、，；／', LISTING);
  mark(':*-–—"\'`“”‘’«»', FILLING);
  mark('-\u2010\u2011', HYPHEN);
  mark(' \t\n\r\v\f\u00a0\u2028\u2029<>"()[]{},;|•', CHUNK_END);
  return flags;
}

let flagsBuilt: Uint8Array | undefined;

/** By UTF-16 unit: its flags. Built once. */
export function characterFlags(): Uint8Array {
  flagsBuilt ??= buildFlags();
  return flagsBuilt;
}

const NOT_ASCII = /[^\0-\x7f]/;
/**
 * More marks on one letter than any language has: the bound of the Stream-Safe Text Format (UAX #15). Normalizing sorts
 * a letter's marks in quadratic time.
 */
const MARKS_PAST_BOUND = /(\p{M}{30})\p{M}+/gu;

/** NFKC with case preserved. Trade mark signs are removed first: NFKC would append the letters TM to the name. */
export function preparedText(text: string): string {
  return NOT_ASCII.test(text)
    ? text
        .replace(/[\u2120\u2122]/g, ' ')
        .replace(/[\u2018\u2019]/g, "'")
        .replace(MARKS_PAST_BOUND, '$1')
        .normalize('NFKC')
    : text;
}

/** Whether the unit at an index, which may lie outside the text, is part of a word. */
export function isWord(text: string, index: number, flags: Uint8Array): boolean {
  return index >= 0 && index < text.length && (flags[text.charCodeAt(index)]! & WORD) !== 0;
}
