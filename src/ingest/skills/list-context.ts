/** Whether two phrases of a text are neighbouring items of a list, where an ambiguous name such as Go means the skill. */
import { BLANK, DOT, FILLING, isWord, LINE, LISTING, WORD } from './characters.ts';

/** A phrase found in a text: UTF-16 indexes, end exclusive. */
export interface Match {
  readonly start: number;
  readonly end: number;
  readonly skill: number;
  /** Counts only next to a certain match in a list. */
  readonly list: boolean;
}

/** Longest gap between two neighbours of a list: a line break, a bullet and some indentation. */
const GAP_LENGTH_MAX = 24;

/** How a gap joins its two sides: not at all, by a bare line break, or by a separator. */
type Link = 'none' | 'line' | 'inline';

/**
 * Across a bare line break, an ambiguous match must be the whole text on its side: a bullet `Go` below a bullet
 * `Python` is an item, `Go above and beyond` is not.
 */
export function areNeighbours(text: string, flags: Uint8Array, left: Match, right: Match): boolean {
  const link = linkOf(text, flags, left.end, right.start);
  if (link !== 'line') return link === 'inline';
  return (
    (!left.list || isClosedBefore(text, flags, left.start)) && (!right.list || isClosedAfter(text, flags, right.end))
  );
}

function linkOf(text: string, flags: Uint8Array, from: number, to: number): Link {
  if (to - from > GAP_LENGTH_MAX) return 'none';
  let link: Link = 'none';
  let i = from;
  while (i < to) {
    const flag = flags[text.charCodeAt(i)]!;
    if ((flag & LISTING) !== 0) link = 'inline';
    else if ((flag & LINE) !== 0) link = link === 'inline' ? link : 'line';
    else if ((flag & WORD) !== 0) {
      let end = i + 1;
      while (isWord(text, end, flags)) end++;
      const word = text.slice(i, end).toLowerCase();
      if (word !== 'and' && word !== 'or') return 'none';
      link = 'inline';
      i = end;
      continue;
    } else if ((flag & (BLANK | FILLING)) === 0) return 'none';
    i++;
  }
  return link;
}

function isClosedBefore(text: string, flags: Uint8Array, start: number): boolean {
  let i = start - 1;
  while (i >= 0 && start - i <= GAP_LENGTH_MAX && (flags[text.charCodeAt(i)]! & (BLANK | FILLING)) !== 0) i--;
  return i < 0 || (flags[text.charCodeAt(i)]! & (LINE | LISTING)) !== 0;
}

function isClosedAfter(text: string, flags: Uint8Array, end: number): boolean {
  let i = end;
  while (i < text.length && i - end < GAP_LENGTH_MAX && (flags[text.charCodeAt(i)]! & BLANK) !== 0) i++;
  if (i >= text.length) return true;
  const unit = text.charCodeAt(i);
  return unit === DOT || (flags[unit]! & (LINE | LISTING)) !== 0;
}
