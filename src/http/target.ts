/**
 * The request target cut by hand: path and query as they stand in `request.url`. `new URL` costs a third of Bun's hello
 * world, and throws where a bad Host header leaves a bare path (Bun) or none at all. The Host never matters: every URL
 * that is given out is built from configuration.
 */
export interface Target {
  /** Path as sent, still percent-encoded; the runtime has folded `.` and `..` segments. */
  readonly path: string;
  /** Query with its `?`, or the empty string. */
  readonly search: string;
}

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
  return { path: url.slice(start, question), search: end - question > 1 ? url.slice(question, end) : '' };
}
