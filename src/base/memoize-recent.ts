/**
 * A pure function of a short text that remembers what it was asked lately. What is asked a second time is remembered: of
 * texts that never repeat only the texts are kept, since answers that live on for a while cost the garbage collector more
 * than they cost to make. It forgets everything at once when it is full, which is cheaper than keeping an order of use.
 *
 * Cost: 0.05 µs for a text that is known, 0.1 µs beside the answer for one that is not.
 */

/**
 * @param answer follows from the text; what else it is given says the same in another way
 * @param lengthMax a longer text is answered anew each time, so that the memory is bounded
 */
export function memoizeRecent<V, More extends readonly unknown[] = []>(
  answer: (text: string, ...more: More) => V,
  countMax: number,
  lengthMax: number,
): (text: string, ...more: More) => V {
  const answers = new Map<string, V>();
  const askedOnce = new Set<string>();
  return (text, ...more) => {
    const known = answers.get(text);
    if (known !== undefined) return known;
    const made = answer(text, ...more);
    if (text.length > lengthMax) return made;
    if (askedOnce.delete(text)) {
      if (answers.size >= countMax) answers.clear();
      answers.set(text, made);
    } else {
      if (askedOnce.size >= countMax) askedOnce.clear();
      askedOnce.add(text);
    }
    return made;
  };
}
