/**
 * The guarded client (siblings §5): a turn, then one look-up whose addresses are all judged, then one exchange with
 * exactly those addresses. Own hooks are delivered inside the process. Nothing here is logged; a result's detail has
 * codes and no part of the request.
 */
import type { Clock } from '../../base/clock.ts';
import { bareHostOf, literalOf } from '../../base/ip-address.ts';
import type { Exposition } from '../../base/prometheus.ts';
import type { Timers } from '../../base/timers.ts';
import { LOOK_UP_MS } from '../../outbound/limits.ts';
import type { Outbound, OutboundRequest, OutboundResult } from '../../outbound/outbound.ts';
import type { OutboundPolicy } from '../../outbound/policy.ts';
import type { Judged, Purpose, Target, TargetPolicy } from '../../outbound/target.ts';
import { OutboundTurns, type Turn } from '../../outbound/turns.ts';
import { type Exchange, type ExchangeResult, exchange } from './exchange.ts';
import { OutboundCounts } from './outbound-counts.ts';
import type { OwnHooks } from './own-hooks.ts';
import type { NameResolver, Resolved } from './resolver.ts';

export interface OutboundClientOptions {
  readonly policy: OutboundPolicy;
  /** OUTBOUND_CONCURRENCY. */
  readonly concurrency: number;
  readonly resolver: NameResolver;
  readonly ownHooks: OwnHooks;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Certificates of the authorities, PEM, in place of the system's, for tests. */
  readonly ca?: string | undefined;
  /** In place of sockets, for tests. */
  readonly exchange?: Exchange | undefined;
  /** As `userAgentOf` writes it. */
  readonly userAgent: string;
}

/**
 * The name under which a target takes its slots. Own hooks take a separate name, because a host of the same name on
 * another port must not make them wait for its slots. No host has an empty name.
 */
const turnNameOf = ({ isOwnHook, url }: Target): string => (isOwnHook ? '' : url.hostname);

type Located =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  | { readonly kind: 'blocked' | 'timeout' | 'unreachable'; readonly detail: string };

export class OutboundClient implements Outbound {
  readonly policy: TargetPolicy;
  readonly #options: OutboundClientOptions;
  readonly #turns: OutboundTurns;
  readonly #counts = new OutboundCounts();

  constructor(options: OutboundClientOptions) {
    this.#options = options;
    this.#turns = new OutboundTurns(options.concurrency, options.clock);
    this.policy = { judge: (url, purpose) => this.#judge(url, purpose) };
  }

  async lookUp(target: Target, signal?: AbortSignal): Promise<'allowed' | 'blocked' | 'unreachable' | 'timeout'> {
    if (target.isOwnHook) return 'allowed';
    const { kind } = await this.#locate(target, signal);
    return kind === 'addresses' ? 'allowed' : kind;
  }

  async send(request: OutboundRequest): Promise<OutboundResult> {
    const { clock } = this.#options;
    const turn = await this.#turns.take(request.customer, turnNameOf(request.target), request.signal);
    const startMs = clock.monotonicMs();
    try {
      const result: ExchangeResult =
        turn === undefined ? { kind: 'aborted', detail: 'ended while it waited' } : await this.#run(request, turn);
      const durationMs = Math.round(clock.monotonicMs() - startMs);
      this.#counts.noteResult(result.kind, durationMs);
      return { ...result, durationMs };
    } finally {
      turn?.end();
    }
  }

  metrics(page: Exposition): void {
    this.#counts.write(page, this.#turns.counts);
  }

  #judge(url: string, purpose: Purpose): Judged {
    const judged = this.#options.policy.judge(url, purpose);
    if (!judged.ok) this.#counts.noteBlocked(judged.rule);
    return judged;
  }

  /** Ends the request at its deadline or with the caller's signal. */
  async #run(request: OutboundRequest, turn: Turn): Promise<ExchangeResult> {
    const { timeoutMs } = request;
    const ending = endingOf(this.#options.timers, timeoutMs, request.signal);
    try {
      const result = await this.#exchange(request, turn, ending.signal);
      if (result.kind === 'answer' || !ending.signal.aborted) return result;
      return ending.isLate()
        ? { kind: 'timeout', detail: `no whole answer in ${timeoutMs} ms` }
        : { kind: 'aborted', detail: 'the request was ended' };
    } finally {
      ending.stop();
    }
  }

  async #exchange(request: OutboundRequest, turn: Turn, signal: AbortSignal): Promise<ExchangeResult> {
    const { target } = request;
    const { ownHooks, timers, ca, userAgent, exchange: send = exchange } = this.#options;
    const onAnswer = (): void => turn.answered();
    const located = target.isOwnHook ? undefined : await this.#locate(target, signal);
    if (located !== undefined && located.kind !== 'addresses') return located;
    if (!signal.aborted) await request.onSent?.();
    if (signal.aborted) return { kind: 'aborted', detail: 'ended before it was sent' };
    const sent = { ...request, ...request.partsInTurn?.() };
    return located === undefined
      ? ownHooks.deliver(sent, onAnswer, signal)
      : send(sent, located.addresses, { timers, onAnswer, signal, ca, userAgent });
  }

  /** The addresses of a target's host, all of them judged. */
  async #locate(target: Target, signal: AbortSignal | undefined): Promise<Located> {
    const resolved = await this.#resolve(target.url.hostname, signal);
    switch (resolved.kind) {
      case 'timeout':
        return { kind: 'timeout', detail: `the name was not resolved (${resolved.code})` };
      case 'unknown':
        return { kind: 'unreachable', detail: `the name has no address (${resolved.code})` };
      case 'addresses': {
        const judged = this.#options.policy.judgeAddresses(target, resolved.addresses);
        if (judged.ok) return resolved;
        this.#counts.noteBlocked(judged.rule);
        return { kind: 'blocked', detail: judged.reason };
      }
      default:
        return resolved satisfies never;
    }
  }

  async #resolve(hostname: string, signal: AbortSignal | undefined): Promise<Resolved> {
    if (literalOf(hostname) !== undefined) return { kind: 'addresses', addresses: [bareHostOf(hostname)] };
    const ending = endingOf(this.#options.timers, LOOK_UP_MS, signal);
    try {
      return await this.#options.resolver.resolve(hostname, ending.signal);
    } finally {
      ending.stop();
    }
  }
}

/** A signal that aborts at a deadline, or earlier with another signal. */
interface Ending {
  readonly signal: AbortSignal;
  /** Whether it was the deadline. */
  isLate(): boolean;
  /** Releases the timer and the other signal. */
  stop(): void;
}

function endingOf(timers: Timers, delayMs: number, signal: AbortSignal | undefined): Ending {
  const ended = new AbortController();
  const abort = (): void => ended.abort();
  let isLate = false;
  const cancel = timers.after(delayMs, () => {
    isLate = !ended.signal.aborted;
    abort();
  });
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort, { once: true });
  return {
    signal: ended.signal,
    isLate: () => isLate,
    stop: () => {
      cancel();
      signal?.removeEventListener('abort', abort);
    },
  };
}
