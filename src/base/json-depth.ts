/**
 * How deep JSON text nests, judged on its characters before anything parses it: deep values parse on both runtimes and then
 * overflow whoever walks or writes them. No allocation; text with few brackets is not looked at character by character.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** How often, but no more than one past `enough`. */
function countOf(text: string, character: string, enough: number): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1 && count <= enough; at = text.indexOf(character, at + 1)) count++;
  return count;
}

/**
 * True when arrays and objects nest deeper than `depthMax`. On text that is no JSON the answer means nothing, and the parse
 * refuses it.
 */
export function isDeeperThan(depthMax: number, text: string): boolean {
  if (countOf(text, '{', depthMax) + countOf(text, '[', depthMax) <= depthMax) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        for (i++; i < text.length && text.charCodeAt(i) !== QUOTE; i++) if (text.charCodeAt(i) === BACKSLASH) i++;
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        if (++depth > depthMax) return true;
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth--;
        break;
    }
  }
  return false;
}
