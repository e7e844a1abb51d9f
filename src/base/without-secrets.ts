/** All secrets that this server issues begin alike, so they are recognised where a client misplaced one. */
const SECRET = /svc_(?:[a-z]+_)+[A-Za-z0-9_-]*/g;

const ESCAPED = /%([0-7][0-9A-Fa-f])/g;
const decoded = (_: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/**
 * A client's text as logs and messages may show it: without keys and tokens of this server, even percent-encoded ones. A text
 * that has any is shown decoded.
 */
export function withoutSecrets(text: string): string {
  const plain = text.includes('%') ? text.replace(ESCAPED, decoded) : text;
  return plain.includes('svc_') ? plain.replace(SECRET, 'svc_…') : text;
}

/**
 * A text as messages may show it: without what stands before the `@` of a web address, which may be a password. After a `:`
 * that includes `/`, `?` and `#`, which a password has when its owner did not encode it.
 */
export const withoutUser = (text: string): string => text.replace(/\/\/(?:[^/?#\s:]*:\S*|[^/?#\s]*)@/g, '//…@');
