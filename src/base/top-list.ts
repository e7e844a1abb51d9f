/** A short list of the best entries so far, in order. */

/**
 * Inserts an entry where it belongs and drops the last one of a list that is full; does nothing when the list is full and the
 * entry sorts after all of it. Equal entries stay in the order in which they came.
 * @param limit at least 1
 */
export function keepTop<Entry>(
  top: Entry[],
  entry: Entry,
  limit: number,
  comesBefore: (left: Entry, right: Entry) => boolean,
): void {
  let place = top.length;
  while (place > 0 && comesBefore(entry, top[place - 1]!)) place--;
  if (place === limit) return;
  if (top.length === limit) top.pop();
  top.splice(place, 0, entry);
}
