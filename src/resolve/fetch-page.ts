/**
 * Fetches an address and what it redirects to (siblings §5, §7): at most ten redirects, each judged like the first address.
 * Nothing but the address is sent: no cookies, no credentials, no Referer. A location without a fragment keeps the previous one
 * (RFC 9110 §10.2.2).
 */
import type { Clock } from '../base/clock.ts';
import { WIRE_BYTES_MAX } from '../outbound/limits.ts';
import type { Outbound, OutboundAnswer, OutboundFailureKind } from '../outbound/outbound.ts';
import { isFollowed, redirectTarget } from '../outbound/redirect.ts';
import type { Target } from '../outbound/target.ts';
import { REDIRECT_COUNT_MAX } from './limits.ts';
import type { FailureCode, Redirect } from './result.ts';

const REQUEST_HEADERS = [
  ['accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,application/json;q=0.9,text/*;q=0.8,*/*;q=0.5'],
] as const;

/** Failure codes of a resolve by kind of request failure; `aborted` comes only from the work's own end. */
const FAILURES: Readonly<Record<OutboundFailureKind, FailureCode>> = {
  blocked: 'TARGET_NOT_ALLOWED',
  timeout: 'TARGET_TIMEOUT',
  unreachable: 'TARGET_UNREACHABLE',
  'tls-error': 'TLS_ERROR',
  'too-large': 'RESPONSE_TOO_LARGE',
  aborted: 'TARGET_TIMEOUT',
};

export type FetchedPage =
  | {
      readonly kind: 'page';
      readonly answer: OutboundAnswer;
      /** Including the fragment, which was not sent. */
      readonly finalUrl: string;
      readonly redirects: readonly Redirect[];
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly reason?: string };

export interface FetchPorts {
  readonly outbound: Outbound;
  readonly clock: Clock;
}

export interface FetchOptions {
  /** Fragment of the requested address, with its `#`, or empty. */
  readonly hash: string;
  readonly customer: string;
  /** On the monotonic clock; every request ends by then. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

function withHash(url: URL, hash: string): string {
  const shown = new URL(url);
  shown.hash = hash;
  return shown.href;
}

/** Rejects only for a bug. */
export async function fetchPage(
  first: Target,
  { outbound, clock }: FetchPorts,
  options: FetchOptions,
): Promise<FetchedPage> {
  const { customer, deadlineMs, signal } = options;
  const redirects: Redirect[] = [];
  let target = first;
  let { hash } = options;
  for (;;) {
    const timeoutMs = deadlineMs - clock.monotonicMs();
    if (timeoutMs <= 0) return { kind: 'failed', code: 'TARGET_TIMEOUT' };
    const answer = await outbound.send({
      target,
      method: 'GET',
      headers: REQUEST_HEADERS,
      body: null,
      timeoutMs,
      customer,
      wireBytesMax: WIRE_BYTES_MAX,
      unpackedBytesMax: null,
      signal,
      endsAtHead: isFollowed(target.url),
    });
    if (answer.kind !== 'answer') return { kind: 'failed', code: FAILURES[answer.kind] };
    const next = redirectTarget(answer, target.url);
    if (next === undefined || next === null) {
      const warnings = next === null ? ['The redirect names no address that can be followed.'] : [];
      return { kind: 'page', answer, finalUrl: withHash(target.url, hash), redirects, warnings };
    }
    if (redirects.length === REDIRECT_COUNT_MAX) return { kind: 'failed', code: 'TOO_MANY_REDIRECTS' };
    redirects.push({ url: withHash(target.url, hash), status_code: answer.status });
    const judged = outbound.policy.judge(next.href, 'resolve');
    if (!judged.ok) return { kind: 'failed', code: 'TARGET_NOT_ALLOWED', reason: `a redirect: ${judged.reason}` };
    target = judged.target;
    hash = next.hash || hash;
  }
}
