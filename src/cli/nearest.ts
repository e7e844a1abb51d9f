/** The name that a mistyped word probably meant. */

/** Longest word that is compared; a longer one is no typing error. */
const WORD_LENGTH_MAX = 40;

/**
 * Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal string alignment). Time is the
 * product of the lengths.
 */
function distanceOf(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, beforeLast[j - 2]! + 1);
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

/** The closest name, when at most one character in three is wrong, or the word is the beginning of exactly one name. */
export function nearestOf(word: string, names: readonly string[]): string | undefined {
  const text = word.toLowerCase();
  if (text.length < 2 || text.length > WORD_LENGTH_MAX) return undefined;
  const begun = names.filter((name) => name.startsWith(text));
  if (begun.length === 1) return begun[0];
  const ranked = names
    .map((name) => ({ name, distance: distanceOf(text, name) }))
    .filter(({ name, distance }) => distance * 3 <= Math.max(text.length, name.length))
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.name;
}
