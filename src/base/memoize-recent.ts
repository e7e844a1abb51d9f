/**
 * Memoizes a pure function of a short text for recently used texts. At the first use of a text it stores only the text, at the
 * second use the result, because a result that lives for a while costs the garbage collector more than computing it. A full
 * memo drops everything at once, which is cheaper than tracking the order of use.
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
      // A new set: on Bun, adding to a cleared set takes several times as long.
      if (askedOnce.size >= countMax) askedOnce = new Set();
      askedOnce.add(text);
    }
    return made;
  };
}
