/**
 * Requests one page of a board: under the guard's address rules, in its host's turn, following redirects that are
 * judged like the first address, and trying again after a pause when the host fails or asks for it. An answer is never
 * truncated: one beyond a bound is a failure.
 */
import type { Clock } from '../../base/clock.ts';
import { retryAfterSecondsOf } from '../../base/retry-after.ts';
import type { BoardRequest } from '../../ingest/boards/board-request.ts';
import type { Validators } from '../../ingest/boards/fetch-state.ts';
import { isAllowed } from '../../ingest/watch/robots.ts';
import { headerOf } from '../../outbound/answer.ts';
import type {
  Outbound,
  OutboundAnswer,
  OutboundFailure,
  OutboundFailureKind,
  OutboundResult,
} from '../../outbound/outbound.ts';
import { isFollowed, REDIRECT_STATUSES, redirectTarget } from '../../outbound/redirect.ts';
import type { Target } from '../../outbound/target.ts';
import type { FeedClaim } from './feed-memory.ts';
import type { HostPace } from './host-pace.ts';
import { REDIRECTS_MAX, REQUEST_MS, TRIES_MAX, TRY_PAUSES, WAITED_MS_MAX } from './limits.ts';
import type { HostRobots } from './robots-files.ts';

export type PageAnswer =
  | {
      readonly kind: 'page';
      readonly status: number;
      readonly body: Uint8Array;
      readonly validators: Validators | null;
      /** The address that answered, after redirects. */
      readonly url: string;
    }
  /** 304 to the validators of the request. */
  | { readonly kind: 'unchanged'; readonly status: 304 }
  | PageFailure;

export interface PageFailure {
  readonly kind: 'failed';
  /** null: no answer. */
  readonly status: number | null;
  /** One line without the address. */
  readonly reason: string;
  /** The pause that the host asked for, less the time already waited. */
  readonly retryAfterMs: number | null;
  /** The host failed, not just this address: its other boards would probably fail now too. */
  readonly isOfHost: boolean;
}

export interface BoardClientOptions {
  readonly outbound: Outbound;
  readonly pace: HostPace;
  readonly clock: Clock;
  /** Evenly from 0 (included) to 1 (excluded). */
  readonly draw: () => number;
  /** The robots rules of an address's host; asked for HTML pages only. */
  readonly robotsOf: (url: URL, signal: AbortSignal) => Promise<HostRobots>;
  /** One request, milliseconds. */
  readonly requestMs?: number | undefined;
}

export interface PageSettings {
  readonly validators: Validators | null;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
  /** Claims memory for the answer; gives it back if the answer is unusable. */
  readonly memory?: FeedClaim;
}

/** Awaited before a part of the answer is kept. */
type OnPart = (bytes: number) => Promise<void>;

/** One try. */
type Tried = PageAnswer & { readonly waitMs?: number | null };

const failed = (reason: string, more: Partial<PageFailure> = {}): PageFailure => ({
  kind: 'failed',
  status: null,
  reason,
  retryAfterMs: null,
  isOfHost: false,
  ...more,
});

/** Transient failures, of the host or on the way to it (RFC 9110 §15). */
const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
/** Redirects that keep method and body. */
const REPEATING: ReadonlySet<number> = new Set([307, 308]);

export class BoardClient {
  readonly #options: BoardClientOptions;

  constructor(options: BoardClientOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async ask(request: BoardRequest, settings: PageSettings): Promise<PageAnswer> {
    const { draw, pace } = this.#options;
    for (let tries = 1; ; tries++) {
      const { waitMs, ...answer } = await this.#tryWithin(request, settings);
      if (waitMs === undefined) return answer;
      // Holds the whole host: the pause that it asks for applies to its next request too.
      if (waitMs !== null && waitMs <= WAITED_MS_MAX) pace.hold(new URL(request.url).host, waitMs);
      if (tries === TRIES_MAX) return answer;
      const pauseMs = waitMs ?? Math.round(pace.pauseMs * TRY_PAUSES * 2 ** (tries - 1) * (0.5 + draw() / 2));
      if (pauseMs > WAITED_MS_MAX) return answer;
      await pace.pause(pauseMs, settings.signal);
    }
  }

  /** As `#try`, but gives back the memory of an answer that is no page. */
  async #tryWithin(request: BoardRequest, settings: PageSettings): Promise<Tried> {
    const { memory } = settings;
    if (memory === undefined) return this.#try(request, settings);
    let bytes = 0;
    const tried = await this.#try(request, settings, async (more) => {
      await memory.take(more, settings.signal);
      bytes += more;
    });
    memory.giveBack(tried.kind === 'page' ? bytes - tried.body.length : bytes);
    return tried.kind === 'failed' && tried.status === null && memory.hasWaited ? { ...tried, isOfHost: false } : tried;
  }

  /** `waitMs` in the result: worth another try after this pause; null = after a pause of our choice. */
  async #try(request: BoardRequest, settings: PageSettings, onPart?: OnPart): Promise<Tried> {
    const { outbound, clock } = this.#options;
    let address = request.url;
    /** Of the last redirect: the host's answer, when its target is not requested. */
    let redirected: number | null = null;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const judged = outbound.policy.judge(address, 'resolve');
      if (!judged.ok) {
        const reason = redirects === 0 ? judged.reason : `a redirect leads where it must not: ${judged.reason}`;
        return failed(reason, { status: redirected });
      }
      const { target } = judged;
      const { url } = target;
      if (request.accept === 'text/html') {
        const robots = await this.#options.robotsOf(url, settings.signal);
        if (!robots.ok) {
          const { reason, retryAfterMs } = robots;
          return failed(`the robots.txt of ${url.host} cannot be read: ${reason}`, { retryAfterMs, isOfHost: true });
        }
        if (!isAllowed(robots.rules, url))
          return failed(`the robots rules of ${url.host} do not allow it`, { status: redirected });
      }
      const result = await this.#send(request, target, settings, onPart);
      if (result === undefined || result.kind === 'aborted') return failed('the watch is ending');
      if (result.kind !== 'answer') return failureOf(result);
      const { status } = result;
      if (!REDIRECT_STATUSES.has(status)) return answered(result, url, settings, clock.nowMs());
      const next = redirectTarget(result, url);
      if (!next) return failed(`status ${status} without a usable Location`, { status });
      if (request.method === 'POST' && !REPEATING.has(status))
        return failed(`a redirect ${status} of a search`, { status });
      address = next.href;
      redirected = status;
    }
    return failed(`more than ${REDIRECTS_MAX} redirects`, { status: redirected });
  }

  /** @returns undefined when the signal ended the wait for the host's turn */
  #send(
    { method, body, accept }: BoardRequest,
    target: Target,
    { bytesMax, signal, validators }: PageSettings,
    onPart: OnPart | undefined,
  ): Promise<OutboundResult | undefined> {
    const { outbound, pace, requestMs = REQUEST_MS } = this.#options;
    const { host } = target.url;
    const headers: (readonly [string, string])[] = [['Accept', accept]];
    if (body !== null) headers.push(['Content-Type', 'application/json']);
    if (validators?.etag != null) headers.push(['If-None-Match', validators.etag]);
    if (validators?.lastModified != null) headers.push(['If-Modified-Since', validators.lastModified]);
    return pace.inTurn(host, signal, () =>
      outbound.send({
        target,
        method,
        headers,
        body: body === null ? null : Buffer.from(body),
        timeoutMs: requestMs,
        customer: host,
        wireBytesMax: bytesMax,
        unpackedBytesMax: bytesMax,
        isWhole: true,
        signal,
        endsAtHead: isFollowed(target.url),
        ...(onPart && { onPart }),
      }),
    );
  }
}

/** Longest validator that is sent back, characters; a longer one would cost more than it saves. */
const VALIDATOR_LENGTH_MAX = 1024;

/** Accepts only a value that can be sent as a header again. */
function validatorOf(answer: OutboundAnswer, name: string): string | null {
  const value = headerOf(answer, name) ?? '';
  return value.length <= VALIDATOR_LENGTH_MAX && /^[\x20-\x7e]+$/.test(value) ? value : null;
}

/** Failures of a connection, whatever was asked for. */
const HOST_FAILURES: ReadonlySet<OutboundFailureKind> = new Set(['timeout', 'unreachable', 'tls-error']);

function failureOf({ kind, detail }: OutboundFailure): Tried {
  const reason = kind === 'blocked' ? `must not be asked: ${detail}` : `${kind}: ${detail}`;
  const refusal = failed(reason, { isOfHost: HOST_FAILURES.has(kind) });
  return kind === 'unreachable' ? { ...refusal, waitMs: null } : refusal;
}

function answered(answer: OutboundAnswer, url: URL, { bytesMax, validators }: PageSettings, nowMs: number): Tried {
  const { status, body, isTruncated } = answer;
  if (status === 304 && validators !== null) return { kind: 'unchanged', status };
  if (status === 200) {
    if (isTruncated) return failed(`an answer over ${bytesMax} bytes`, { status });
    const etag = validatorOf(answer, 'etag');
    const lastModified = validatorOf(answer, 'last-modified');
    const own = etag === null && lastModified === null ? null : { etag, lastModified };
    return { kind: 'page', status, body, validators: own, url: url.href };
  }
  const seconds = retryAfterSecondsOf(headerOf(answer, 'retry-after'), nowMs);
  const waitMs = seconds === null ? null : seconds * 1000;
  const isTransient = TRANSIENT.has(status);
  const refusal = failed(`status ${status}`, { status, retryAfterMs: waitMs, isOfHost: isTransient });
  return isTransient ? { ...refusal, waitMs } : refusal;
}
