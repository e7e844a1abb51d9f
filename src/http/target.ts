/**
 * Cuts path and query out of `request.url` as sent. `new URL` would take up much of the time of a small answer, and throws
 * where a bad Host header leaves a bare path (Bun) or none at all. The server never builds an answer's URL from the request.
 */
import { detached } from '../base/detached.ts';

export interface Target {
  /** Path as sent, still percent-encoded; the runtime has folded `.` and `..` segments. */
  readonly path: string;
  /** Query with its `?`, or the empty string. */
  readonly search: string;
}

/**
 * If scheme and authority have more characters than this, the query is copied out, so that a memoized query does not retain them.
 */
const AUTHORITY_LENGTH_MAX = 512;

export function targetOf(url: string): Target {
  let start = 0;
  if (url.charCodeAt(0) !== 47 /* "/" */) {
    const authority = url.indexOf('://');
    start = authority < 0 ? -1 : url.indexOf('/', authority + 3);
    if (start < 0) return { path: '/', search: '' };
  }
  const hash = url.indexOf('#', start);
  const end = hash < 0 ? url.length : hash;
  const question = url.indexOf('?', start);
  if (question < 0 || question >= end) return { path: url.slice(start, end), search: '' };
  const search = end - question > 1 ? url.slice(question, end) : '';
  const isLong = url.length - search.length > AUTHORITY_LENGTH_MAX;
  return { path: url.slice(start, question), search: isLong ? detached(search) : search };
}
