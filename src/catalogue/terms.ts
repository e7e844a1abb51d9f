/**
 * How text compares (decisions §3): decomposed, in lower case and without diacritics, composed again, with single spaces, on
 * both sides. A filter splits into terms at white space, so no term has a blank, and a text contains a term exactly when one of
 * its blank-separated tokens does. The indexes rely on that.
 */

/** Most terms a filter may have (specification, "Limits"). */
export const TERM_COUNT_MAX = 8;

const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** Lower-casing can add marks (U+0130), which are in normal order only after decomposing again. */
const DIACRITICS = /[\u0300-\u036f]/gu;

/**
 * The form in which two texts are compared: NFKD, lower case and NFKD without U+0300 to U+036F, then NFKC and single spaces, none
 * at the ends.
 */
export function comparedText(text: string): string {
  // In printable ASCII with single spaces only the case can differ; most titles take this path.
  if (PLAIN.test(text)) return text.toLowerCase();
  const bare = text.normalize('NFKD').toLowerCase().normalize('NFKD').replace(DIACRITICS, '');
  return bare.normalize('NFKC').replace(/\s+/gu, ' ').trim();
}

/** How many terms a filter has, without splitting it. */
export function termCountOf(text: string): number {
  if (!PLAIN.test(text)) return termsOf(text).length;
  let count = 1;
  for (let at = text.indexOf(' '); at >= 0; at = text.indexOf(' ', at + 1)) count++;
  return count;
}

/** The terms of a filter, in order, repeats kept. An all-blank text has none. */
export function termsOf(text: string): string[] {
  const compared = comparedText(text);
  return compared === '' ? [] : compared.split(' ');
}
