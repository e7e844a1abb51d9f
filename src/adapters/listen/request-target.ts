/**
 * The target of a request as `Request.url` has it behind the authority (RFC 9112 §3.2; URL Standard): dot segments folded,
 * characters that an address cannot have percent-encoded. Most targets need none of that and are used as they are.
 */

/** Characters that the URL Standard leaves as they are in path and query. */
const PLAIN = /^\/[\w!$%&'()*+,\-./:;=?@[\]~#]*$/;
/** What may be a dot segment. */
const DOTS = /\/(?:\.|%2e)/i;
const ABSOLUTE = /^https?:\/\//i;

/** @returns a path with its query, or an address; undefined for a target that is neither (`*`, `\`, a bare name) */
export function requestTargetOf(target: string): string | undefined {
  if (PLAIN.test(target) && !DOTS.test(target)) return target;
  const isAbsolute = ABSOLUTE.test(target);
  if (!isAbsolute && target.charCodeAt(0) !== 47 /* "/" */) return undefined;
  const [path] = target.split('?', 1) as [string];
  // The URL Standard treats it as a slash, which would change the path that was sent.
  if (path.includes('\\')) return undefined;
  const url = isAbsolute ? target : `http://localhost${target}`;
  return URL.canParse(url) ? new URL(url).href : undefined;
}
