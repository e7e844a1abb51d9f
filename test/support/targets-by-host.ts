/**
 * An outbound client that sends nothing: a test sets by host what its targets answer. It keeps the promises of the
 * port: `onSent` before the target sees anything, and an abort at any time.
 */
import type { Outbound, OutboundRequest, OutboundResult } from '../../src/outbound/outbound.ts';
import type { TargetPolicy } from '../../src/outbound/target.ts';

/** A request as a target saw it. */
export interface SeenRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly customer: string;
}

/** What a target does with its nth request, from 1. */
export type TargetBehaviour = (
  request: SeenRequest,
  number: number,
  signal: AbortSignal | undefined,
) => OutboundResult | Promise<OutboundResult>;

export const answer = (
  status: number,
  body = '',
  headers: Readonly<Record<string, string>> = {},
  isTruncated = false,
): OutboundResult => ({
  kind: 'answer',
  status,
  headers: Object.entries(headers),
  body: new TextEncoder().encode(body),
  isTruncated,
  durationMs: 3,
});

export const failure = (kind: Exclude<OutboundResult['kind'], 'answer'>): OutboundResult => ({
  kind,
  detail: 'as the test says',
  durationMs: 5,
});

/** Never answers, until it is aborted. */
export const hanging: TargetBehaviour = (_request, _number, signal) =>
  new Promise((resolve) => {
    signal?.addEventListener('abort', () => resolve(failure('aborted')));
  });

const abortOf = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));

export class TargetsByHost implements Outbound {
  readonly seen: SeenRequest[] = [];
  readonly looks: string[] = [];
  readonly #targets = new Map<string, TargetBehaviour>();
  readonly #counts = new Map<string, number>();
  /** Hosts whose names resolve to an address that is not public. */
  readonly blocked = new Set<string>();

  readonly policy: TargetPolicy = {
    judge(text) {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      if (url?.protocol !== 'https:' || url.hostname === 'localhost') return { ok: false, reason: 'https only' };
      return { ok: true, target: { url, isOwnHook: false } as never };
    },
  };

  /** Resolves when a request to this host gets its turn. */
  turnOf = (_host: string): Promise<void> => Promise.resolve();

  target(host: string, behaviour: TargetBehaviour): this {
    this.#targets.set(host, behaviour);
    return this;
  }

  seenBy(host: string): SeenRequest[] {
    return this.seen.filter(({ url }) => new URL(url).hostname === host);
  }

  async lookUp({ url }: { readonly url: URL }): Promise<'allowed' | 'blocked' | 'unreachable'> {
    this.looks.push(url.hostname);
    if (this.blocked.has(url.hostname)) return 'blocked';
    return this.#targets.has(url.hostname) ? 'allowed' : 'unreachable';
  }

  async send(waiting: OutboundRequest): Promise<OutboundResult> {
    const { url } = waiting.target;
    const { hostname } = url;
    if (waiting.signal?.aborted) return failure('aborted');
    if (this.blocked.has(hostname)) return failure('blocked');
    const behaviour = this.#targets.get(hostname);
    if (behaviour === undefined) return failure('unreachable');
    await Promise.race([this.turnOf(hostname), abortOf(waiting.signal)]);
    if (waiting.signal?.aborted) return failure('aborted');
    await waiting.onSent?.();
    const request = { ...waiting, ...waiting.partsInTurn?.() };
    const number = (this.#counts.get(hostname) ?? 0) + 1;
    this.#counts.set(hostname, number);
    const seen: SeenRequest = {
      url: url.href,
      method: request.method,
      headers: Object.fromEntries(request.headers),
      body: request.body === null ? null : new TextDecoder().decode(request.body),
      customer: request.customer,
    };
    this.seen.push(seen);
    return behaviour(seen, number, request.signal);
  }
}
