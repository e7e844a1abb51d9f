/**
 * JSON judged and kept as text: big numbers, key order, escapes and repeated keys come back as they were sent, because
 * nothing ever writes them anew. A text is accepted when it is UTF-8 (a BOM is allowed and dropped), parses (RFC 8259), and
 * is at most JSON_DEPTH_MAX arrays and objects deep: deeper values parse on both runtimes and then overflow whoever writes
 * them. Cost: two passes over the bytes and the parse, whose value is thrown away.
 */
import { isDeeperThan } from '../base/json-depth.ts';
import { JSON_DEPTH_MAX } from './limits.ts';

/** Throws at malformed UTF-8; drops a BOM. Decoding in one piece keeps no state between calls. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

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
