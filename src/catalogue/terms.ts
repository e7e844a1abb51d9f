/**
 * How text compares (decisions §3): after NFKC, `toLowerCase()` and collapsing white space, on both sides. A filter splits
 * into terms at white space, so no term has a blank, and a text contains a term exactly when one of its blank-separated
 * tokens does. The index relies on that.
 */

/** Most terms a filter may have (specification, "Limits"). */
export const TERM_COUNT_MAX = 8;

const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** The form in which two texts are compared: NFKC, lower case, single spaces, none at the ends. */
export function comparedText(text: string): string {
  // Printable ASCII with single spaces is its own NFKC form; most titles take this path.
  if (PLAIN.test(text)) return text.toLowerCase();
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
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
