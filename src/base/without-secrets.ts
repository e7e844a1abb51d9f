/** The secrets that this server gives out begin alike: a client may put one where it does not belong. */
const SECRET = /svc_(?:[a-z]+_)+[A-Za-z0-9_-]*/g;

const ESCAPED = /%([0-7][0-9A-Fa-f])/g;
const decoded = (_: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/**
 * A text of a client as logs and messages may show it: without the keys and tokens of this server, percent-encoded ones
 * included. Such a text is shown decoded where it has any.
 */
export function withoutSecrets(text: string): string {
  const plain = text.includes('%') ? text.replace(ESCAPED, decoded) : text;
  return plain.includes('svc_') ? plain.replace(SECRET, 'svc_…') : text;
}
