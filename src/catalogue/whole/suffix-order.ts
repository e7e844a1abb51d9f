/**
 * Sorts the suffixes of a vocabulary: of every token the rest from each character on. A first native sort uses four
 * bytes and the place of each suffix as one 64-bit number. Groups that are still equal are split by doubling (Larsson
 * and Sadakane): the order of what follows the known part is already known. Tokens are short (TOKEN_UNITS_MAX), so the
 * rounds are few whatever the text.
 */
import { TOKEN_END } from './sections.ts';

/** Groups of at most this many suffixes are sorted in place, longer ones natively. */
const INSERTED_MAX = 24;

/**
 * Starts of all suffixes that begin with a whole character, in order of their bytes; equal ones in order of their starts.
 * @param text UTF-8 of tokens, each followed by TOKEN_END
 */
export function sortedSuffixes(text: Uint8Array): Uint32Array<ArrayBuffer> {
  const order = orderOfAll(text);
  let kept = 0;
  for (let i = 0; i < order.length; i++) {
    const start = order[i]!;
    // Suffixes that begin inside a character were sorted too, since doubling needs their places.
    if ((text[start]! & 0xc0) !== 0x80) order[kept++] = start;
  }
  return order.slice(0, kept);
}

function orderOfAll(text: Uint8Array): Uint32Array<ArrayBuffer> {
  /** By start of a suffix: bytes up to the end of its token. */
  const remaining = new Uint16Array(text.length);
  let count = 0;
  for (let at = text.length - 1; at >= 0; at--) {
    if (text[at] === TOKEN_END) continue;
    remaining[at] = remaining[at + 1]! + 1;
    count++;
  }
  const keys = new BigUint64Array(count);
  const halves = new Uint32Array(keys.buffer);
  for (let at = 0, i = 0; at < text.length; at++) {
    if (text[at] === TOKEN_END) continue;
    halves[i * 2] = at;
    halves[i * 2 + 1] = firstFour(text, at, remaining[at]!);
    i++;
  }
  keys.sort();

  const order = new Uint32Array(count);
  /** By start of a suffix: the end of its group in the order so far; the end of a token comes after everything. */
  const groupOf = new Uint32Array(text.length).fill(0xffffffff);
  /** Starts and ends of groups that must still be split: none of their suffixes ends in the part that was compared. */
  let open: number[] = [];
  const close = (start: number, end: number, known: number, into: number[]): void => {
    for (let i = start; i < end; i++) groupOf[order[i]!] = end;
    if (end - start > 1 && remaining[order[start]!]! >= known) into.push(start, end);
  };
  for (let i = 0, start = 0; i < count; i++) {
    order[i] = halves[i * 2]!;
    if (i + 1 < count && halves[i * 2 + 3] === halves[i * 2 + 1]) continue;
    close(start, i + 1, 4, open);
    start = i + 1;
  }
  for (let known = 4; open.length > 0; known *= 2) {
    const next: number[] = [];
    for (let g = 0; g < open.length; g += 2) {
      const start = open[g]!;
      const end = open[g + 1]!;
      sortGroup(order, groupOf, known, start, end, keys, halves);
      for (let i = start, first = start; i < end; i++) {
        if (i + 1 < end && halves[i * 2 + 3] === halves[i * 2 + 1]) continue;
        close(first, i + 1, known * 2, next);
        first = i + 1;
      }
    }
    open = next;
  }
  return order;
}

/** Sorts `order[start .. end - 1]` by what follows the known part, then by start; leaves the sorted keys in `halves`. */
function sortGroup(
  order: Uint32Array,
  groupOf: Uint32Array,
  known: number,
  start: number,
  end: number,
  keys: BigUint64Array,
  halves: Uint32Array,
): void {
  if (end - start > INSERTED_MAX) {
    for (let i = start; i < end; i++) {
      halves[i * 2] = order[i]!;
      halves[i * 2 + 1] = groupOf[order[i]! + known]!;
    }
    keys.subarray(start, end).sort();
    for (let i = start; i < end; i++) order[i] = halves[i * 2]!;
    return;
  }
  for (let i = start; i < end; i++) {
    const at = order[i]!;
    const group = groupOf[at + known]!;
    let place = i;
    for (; place > start; place--) {
      const before = halves[place * 2 - 1]!;
      if (before < group || (before === group && halves[place * 2 - 2]! < at)) break;
      halves[place * 2] = halves[place * 2 - 2]!;
      halves[place * 2 + 1] = before;
    }
    halves[place * 2] = at;
    halves[place * 2 + 1] = group;
  }
  for (let i = start; i < end; i++) order[i] = halves[i * 2]!;
}

/** The first four bytes of a suffix as a number; what is past its end counts as TOKEN_END. */
function firstFour(text: Uint8Array, at: number, length: number): number {
  let bytes = 0;
  for (let i = 0; i < 4; i++) bytes = (bytes << 8) | (i < length ? text[at + i]! : TOKEN_END);
  return bytes >>> 0;
}
