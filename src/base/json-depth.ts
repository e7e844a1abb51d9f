/**
 * Bounds the nesting of JSON text before anything parses it: both runtimes parse deep values, and then overflow the stack of
 * the code that walks or writes them. It allocates nothing, and text with few brackets is not scanned character by character.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Number of occurrences; counting stops one past `enough`. */
function countOf(text: string, character: string, enough: number): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1 && count <= enough; at = text.indexOf(character, at + 1)) count++;
  return count;
}

/**
 * True when arrays and objects nest deeper than `depthMax`. For text that is not JSON the result means nothing; the parser
 * then refuses the text.
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
