/**
 * How deep JSON text nests, judged on its bytes before anything parses it: deep values parse on both runtimes and then
 * overflow whoever walks or writes them. One pass, no allocation, ends at the first bracket too many.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * True when arrays and objects nest deeper than `depthMax`. Every byte of a multi-byte character of UTF-8 is above 0x7f, so
 * none looks like a bracket or a quote. On bytes that are no JSON the answer means nothing, and the parse refuses them.
 */
export function isDeeperThan(depthMax: number, bytes: Uint8Array): boolean {
  if (bytes.length <= depthMax) return false;
  let depth = 0;
  for (let i = 0; i < bytes.length; i++) {
    switch (bytes[i]) {
      case QUOTE:
        for (i++; i < bytes.length && bytes[i] !== QUOTE; i++) if (bytes[i] === BACKSLASH) i++;
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
