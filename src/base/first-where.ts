/** Binary search. */

/** The first number from `start` to `end - 1` for which `isPast` holds; `end` when none. It must then hold for all later ones. */
export function firstWhere(start: number, end: number, isPast: (number: number) => boolean): number {
  let low = start;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isPast(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
