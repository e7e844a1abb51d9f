/**
 * The Robots Exclusion Protocol, RFC 9309, for the HTML pages that `watch` fetches; addresses of an applicant tracking system's
 * public API are published for programs and need no check. Pure: the caller fetches and caches the file (RFC 9309 §2.4).
 *
 * Cost: linear in the file; a rule is matched without backtracking over more than one `*` at a time.
 */
import { detached } from '../../base/detached.ts';
import { DAY_MS } from '../../base/durations.ts';

/** A rule with its path, percent-encoded as addresses are. */
interface RobotsRule {
  readonly isAllowed: boolean;
  readonly pattern: string;
}

/** The rules of one host that apply to us. */
export interface RobotsRules {
  readonly rules: readonly RobotsRule[];
}

/** What a rule takes in memory beside its pattern, bytes (Node 26.10, with a pattern of two characters). */
const RULE_BYTES = 80;

/** Memory that rules take, bytes. */
export const memoryOf = ({ rules }: RobotsRules): number =>
  rules.reduce((bytes, { pattern }) => bytes + RULE_BYTES + pattern.length, 0);

/** No file, or a client error (RFC 9309 §2.3.1.3): everything is allowed. */
export const ALL_ALLOWED: RobotsRules = { rules: [] };

/** Bytes of the file that count; 500 KiB at least (RFC 9309 §2.5). */
export const ROBOTS_BYTES_MAX = 512 * 1024;
/** Redirects to follow for the file, RFC 9309 §2.3.1.2. */
export const ROBOTS_REDIRECTS_MAX = 5;
/** A file is asked for again after this, RFC 9309 §2.4, milliseconds. */
export const ROBOTS_KEPT_MS = DAY_MS;

/** Non-ASCII octets as `%XX` and needless escapes decoded (RFC 9309 §2.2.2), so that rule and address compare equal. */
function normalized(path: string): string {
  return path
    .replace(/[^\x21-\x7e]/gu, (character) => {
      try {
        return encodeURIComponent(character);
      } catch {
        return '%EF%BF%BD'; // a lone surrogate, as UTF-8 decoding has it
      }
    })
    .replace(/%([0-9a-f]{2})/gi, (escaped, hex: string) => {
      const character = String.fromCharCode(Number.parseInt(hex, 16));
      return /[A-Za-z0-9._~-]/.test(character) ? character : escaped.toUpperCase();
    });
}

/**
 * The rules for a product token: those of all groups that name it, else those of all groups for `*`.
 * @param token letters, `_` and `-` (RFC 9309 §2.2.1), compared without case
 */
export function parseRobots(text: string, token: string): RobotsRules {
  const product = token.toLowerCase();
  const own: RobotsRule[] = [];
  const others: RobotsRule[] = [];
  let hasOwn = false;
  /** Of the group that is being read. */
  let names = new Set<string>();
  let isInNames = false;
  // A byte order mark is blank, so it goes with the blanks before the first name.
  for (const line of text.slice(0, ROBOTS_BYTES_MAX).split(/\r\n?|\n/)) {
    const [record = ''] = line.split('#', 1);
    const colon = record.indexOf(':');
    const key = record.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    const value = record.slice(colon + 1).trim();
    switch (key) {
      case 'user-agent': {
        if (!isInNames) names = new Set();
        isInNames = true;
        names.add(/^(?:\*|[a-z_-]+)/i.exec(value)?.[0].toLowerCase() ?? '');
        hasOwn ||= names.has(product);
        break;
      }
      case 'allow':
      case 'disallow': {
        isInNames = false;
        // An empty pattern matches nothing.
        if (value === '') break;
        const rule = { isAllowed: key === 'allow', pattern: detached(normalized(value)) };
        if (names.has(product)) own.push(rule);
        if (names.has('*')) others.push(rule);
        break;
      }
      default: // other records do not end a group (RFC 9309 §2.2.4)
    }
  }
  return { rules: hasOwn ? own : others };
}

/** Whether the pattern matches the beginning of the path; `*` is any run of characters, `$` at the end is the path's end. */
function matches(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith('$');
  const [head = '', ...rest] = (isAnchored ? pattern.slice(0, -1) : pattern).split('*');
  if (!path.startsWith(head)) return false;
  let at = head.length;
  for (const [index, part] of rest.entries()) {
    if (isAnchored && index === rest.length - 1) return path.length - part.length >= at && path.endsWith(part);
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return !isAnchored || at === path.length;
}

/**
 * Whether the rules allow an address: the longest matching pattern decides, and of equally long ones `allow` (RFC 9309 §2.2.2).
 */
export function isAllowed({ rules }: RobotsRules, url: URL): boolean {
  const path = normalized(`${url.pathname}${url.search}`);
  if (path === '/robots.txt') return true;
  let best: RobotsRule | undefined;
  for (const rule of rules) {
    if (!matches(rule.pattern, path)) continue;
    const isLonger = best === undefined || rule.pattern.length > best.pattern.length;
    if (isLonger || (rule.pattern.length === best?.pattern.length && rule.isAllowed)) best = rule;
  }
  return best?.isAllowed ?? true;
}
