/**
 * The redirects of an answer (RFC 9110 §15.4). A relative location is relative to the address that answered with it. Callers judge
 * each target like the first address.
 */
import { decodeUtf8Latin1 } from '../base/codec.ts';
import { parseUrl } from '../base/parsed-url.ts';
import { headerOf } from './answer.ts';
import { TARGET_LENGTH_MAX } from './limits.ts';
import type { AnswerHead } from './outbound.ts';

/** Statuses that name the same resource elsewhere. 300 and 304 do not. */
export const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The target of a redirect; undefined for any other answer, null if the location is not an address. */
export function redirectTarget(answer: AnswerHead, from: URL): URL | null | undefined {
  if (!REDIRECT_STATUSES.has(answer.status)) return undefined;
  const location = headerOf(answer, 'location');
  if (location === null) return undefined;
  // Some servers send UTF-8, which arrives as one character per byte.
  const next = parseUrl(decodeUtf8Latin1(location) ?? location, from);
  return next === null || next.href.length > TARGET_LENGTH_MAX ? null : next;
}

/** Whether an answer is a redirect that can be followed. Its body is not used, and may never arrive. */
export const isFollowed =
  (from: URL) =>
  (answer: AnswerHead): boolean =>
    redirectTarget(answer, from) instanceof URL;
