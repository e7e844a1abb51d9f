/**
 * Memoizes a pure function of a short text for recently used texts. It stores a result at the second use of its text, and at
 * the first use only the text, because results that live on for a while cost the garbage collector more than computing them.
 * A full memo drops everything at once, which is cheaper than tracking the order of use.
 *
 * @param answer depends on `text` alone; the further arguments carry the same information in another form
 * @param countMax maximum number of stored results, and of stored texts
 * @param lengthMax results of longer texts are not stored, so that the memory is bounded
 */
export function memoizeRecent<V, More extends readonly unknown[] = []>(
  answer: (text: string, ...more: More) => V,
  countMax: number,
  lengthMax: number,
): (text: string, ...more: More) => V {
  const answers = new Map<string, V>();
  let askedOnce = new Set<string>();
  return (text, ...more) => {
    const known = answers.get(text);
    if (known !== undefined) return known;
    const made = answer(text, ...more);
    if (text.length > lengthMax) return made;
    if (askedOnce.delete(text)) {
      if (answers.size >= countMax) answers.clear();
      answers.set(text, made);
    } else {
      // A new set: Bun takes several times as long to add to one that was cleared.
      if (askedOnce.size >= countMax) askedOnce = new Set();
      askedOnce.add(text);
    }
    return made;
  };
}
