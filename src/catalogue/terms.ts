/**
 * How text compares (decisions §3): after NFKC, `toLowerCase()` and collapsing white space, on both sides. A filter
 * splits into terms at white space, so a term never holds a blank and lies inside a text exactly when it lies inside
 * one of the text's blank-separated tokens; the index is built on that.
 */

/** Most terms a filter may have (specification, "Limits"). */
export const TERM_COUNT_MAX = 8;

const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** The form in which two texts are compared: NFKC, lower case, single spaces, none at the ends. */
export function comparedText(text: string): string {
  // Printable ASCII with single spaces is its own NFKC form; nine titles in ten take this path.
  if (PLAIN.test(text)) return text.toLowerCase();
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/** How many terms a filter has, without making them. */
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
