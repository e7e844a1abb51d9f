/**
 * JSON judged and kept as text: big numbers, key order, escapes and repeated keys come back as they were sent, because
 * nothing ever writes them anew. A text is accepted when it is UTF-8 (a BOM is allowed and dropped), parses (RFC 8259), and
 * is at most JSON_DEPTH_MAX arrays and objects deep: deeper values parse on both runtimes and then overflow whoever writes
 * them. Cost: two passes over the bytes and the parse, whose value is thrown away.
 */
import { JSON_DEPTH_MAX } from './limits.ts';

/** Throws at malformed UTF-8; drops a BOM. Decoding in one piece keeps no state between calls. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * True when brackets nest deeper than `depthMax`. Works on bytes: every byte of a multi-byte character is above 0x7f, so
 * none looks like a bracket or a quote. On text that is no JSON the answer means nothing, and the parse refuses it.
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

/** The JSON text that `bytes` spell, without a BOM, white space kept; undefined when it is not acceptable JSON. */
export function jsonTextOf(bytes: Uint8Array): string | undefined {
  if (isDeeperThan(JSON_DEPTH_MAX, bytes)) return undefined;
  try {
    const text = strictUtf8.decode(bytes);
    JSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}
