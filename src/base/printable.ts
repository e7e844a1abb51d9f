/**
 * Makes foreign text safe for a terminal or a log: characters that a terminal may act on, or that reorder displayed text,
 * appear as `\uXXXX`. JSON writes them the same way, so JSON text stays JSON with the same values.
 */

/**
 * C0, DEL and C1 (ECMA-48), line and paragraph separators, the overrides, embeddings and isolates of the Bidirectional Algorithm
 * (UAX #9), and halves of surrogate pairs.
 */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/gu;
/** The same without line feeds. */
const UNPRINTABLE_IN_LINES = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/gu;

/** Longest foreign name or value in a message, characters: more than any real one needs, and a few lines of a terminal. */
export const PRINTED_LENGTH_MAX = 300;

const escapeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Text of any number of lines; only its line feeds stay. For the single place where output is written. */
export const printableLines = (text: string): string => text.replace(UNPRINTABLE_IN_LINES, escapeOf);

/** A foreign name or value inside a message: one line, cut to `lengthMax` characters before escaping. */
export function printable(text: string, lengthMax: number = PRINTED_LENGTH_MAX): string {
  const shown = text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
  return shown.replace(UNPRINTABLE, escapeOf);
}
