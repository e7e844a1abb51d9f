/** Text for a reader: blanks collapsed, no unprintable characters, bounded in code points. */

/**
 * Control characters other than tab, line feed and carriage return, and halves of surrogate pairs: JSON-LD may escape one, a cut
 * may leave one, and many JSON parsers refuse an answer that has one.
 */
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\p{Cs}]/gu;

export const withoutUnprintable = (text: string): string => text.replace(UNPRINTABLE, '');

/** One line: runs of blanks are one space, none at the ends. */
export const lineOf = (text: string): string => withoutUnprintable(text).replace(/\s+/g, ' ').trim();

/** The first `countMax` code points. Linear in the length of the result. */
export function firstCodePoints(text: string, countMax: number): string {
  if (text.length <= countMax) return text;
  let at = 0;
  for (let count = 0; count < countMax && at < text.length; count++) {
    at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1; // at < text.length
  }
  return text.slice(0, at);
}

/** A value as one line, or null if it is empty. */
export function shortLine(text: string | null | undefined, codePointsMax: number): string | null {
  if (text === null || text === undefined) return null;
  // Reads only somewhat more characters than are kept, so that a long value is not processed whole.
  const line = lineOf(text.slice(0, 16 * codePointsMax));
  return line === '' ? null : firstCodePoints(line, codePointsMax).trimEnd();
}
