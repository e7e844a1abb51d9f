/** The robots.txt of hosts, each fetched once a day (RFC 9309 §2.3, RFC 9309 §2.4), in its host's turn. */
import type { Clock } from '../../base/clock.ts';
import { retryAfterSecondsOf } from '../../base/retry-after.ts';
import { MIB } from '../../base/sizes.ts';
import {
  ALL_ALLOWED,
  memoryOf,
  parseRobots,
  ROBOTS_BYTES_MAX,
  ROBOTS_KEPT_MS,
  ROBOTS_REDIRECTS_MAX,
  type RobotsRules,
} from '../../ingest/watch/robots.ts';
import { headerOf } from '../../outbound/answer.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import { isFollowed, redirectTarget } from '../../outbound/redirect.ts';
import type { HostPace } from './host-pace.ts';
import { REQUEST_MS } from './limits.ts';

/** Our product token (RFC 9309 §2.2.1). */
const TOKEN = 'paygrade';
/**
 * RFC 9309 §2.3.1.3 treats any 4xx as a missing file, which allows everything; but a host that answers 429 has the file
 * and asks for fewer requests.
 */
const TOO_MANY = 429;
/** Longest unpacked file, bytes: only the first `ROBOTS_BYTES_MAX` count, but a longer file is still valid. */
const UNPACKED_BYTES_MAX = 16 * ROBOTS_BYTES_MAX;
/**
 * Most hosts with cached rules, and most memory of all these rules, bytes; beyond either, the host asked first is forgotten.
 */
const KEPT_MAX = 10_000;
const KEPT_BYTES_MAX = 64 * MIB;

/** The rules of a host, or why they cannot be had: nothing may be fetched then (RFC 9309 §2.3.1.4). */
export type HostRobots =
  | { readonly ok: true; readonly rules: RobotsRules }
  | { readonly ok: false; readonly reason: string; readonly retryAfterMs: number | null };

const unreadable = (reason: string, retryAfterMs: number | null = null): HostRobots => ({
  ok: false,
  reason,
  retryAfterMs,
});

/** The signal of the caller ended the request. */
const GIVEN_UP = unreadable('the watch is ending');

interface Kept {
  readonly robots: Promise<HostRobots>;
  readonly askedMs: number;
  /** Memory of the rules, bytes; 0 until they arrive. */
  bytes: number;
}

export class RobotsFiles {
  readonly #outbound: Outbound;
  readonly #pace: HostPace;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();
  /** Of all that are kept. */
  #keptBytes = 0;

  constructor(outbound: Outbound, pace: HostPace, clock: Clock) {
    this.#outbound = outbound;
    this.#pace = pace;
    this.#clock = clock;
  }

  /** Never rejects. */
  async rulesOf(url: URL, signal: AbortSignal): Promise<HostRobots> {
    const { origin } = url;
    const known = this.#kept.get(origin);
    if (known !== undefined && this.#isFresh(known)) {
      const robots = await known.robots;
      // That the first caller's visit ended is no failure of the host.
      return robots === GIVEN_UP && !signal.aborted ? this.rulesOf(url, signal) : robots;
    }
    const robots = this.#ask(`${origin}/robots.txt`, signal);
    const kept: Kept = { robots, askedMs: this.#clock.nowMs(), bytes: 0 };
    this.#forget(origin);
    this.#kept.set(origin, kept);
    const found = await robots;
    if (this.#kept.get(origin) !== kept) return found;
    if (found.ok) this.#count(kept, memoryOf(found.rules));
    // A host without a usable answer is asked again at the next visit, which the board's backoff delays.
    else this.#forget(origin);
    return found;
  }

  /**
   * Uses the wall clock, which goes on while the machine sleeps. Rules from the future were fetched before the clock
   * was set back.
   */
  #isFresh({ askedMs }: Kept): boolean {
    const ageMs = this.#clock.nowMs() - askedMs;
    return ageMs >= 0 && ageMs < ROBOTS_KEPT_MS;
  }

  #count(kept: Kept, bytes: number): void {
    kept.bytes = bytes;
    this.#keptBytes += bytes;
    for (const first of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_MAX && this.#keptBytes <= KEPT_BYTES_MAX) break;
      this.#forget(first);
    }
  }

  #forget(origin: string): void {
    this.#keptBytes -= this.#kept.get(origin)?.bytes ?? 0;
    this.#kept.delete(origin);
  }

  async #ask(first: string, signal: AbortSignal): Promise<HostRobots> {
    let address = first;
    for (let redirects = 0; redirects <= ROBOTS_REDIRECTS_MAX; redirects++) {
      const judged = this.#outbound.policy.judge(address, 'resolve');
      if (!judged.ok) return unreadable(judged.reason);
      const { target } = judged;
      const result = await this.#pace.inTurn(target.url.host, signal, () =>
        this.#outbound.send({
          target,
          method: 'GET',
          headers: [['Accept', 'text/plain']],
          body: null,
          timeoutMs: REQUEST_MS,
          customer: target.url.host,
          wireBytesMax: ROBOTS_BYTES_MAX,
          unpackedBytesMax: UNPACKED_BYTES_MAX,
          signal,
          endsAtHead: isFollowed(target.url),
        }),
      );
      if (result === undefined || result.kind === 'aborted') return GIVEN_UP;
      if (result.kind !== 'answer') return unreadable(`${result.kind}: ${result.detail}`);
      const { status, body } = result;
      if (status >= 500 || status === TOO_MANY) {
        const seconds = retryAfterSecondsOf(headerOf(result, 'retry-after'), this.#clock.nowMs());
        return unreadable(`status ${status}`, seconds === null ? null : seconds * 1000);
      }
      const next = redirectTarget(result, target.url);
      if (next) {
        address = next.href;
        continue;
      }
      if (status < 200 || status >= 300) return { ok: true, rules: ALL_ALLOWED };
      if (result.isUnreadable) return unreadable('it came in a coding that was not asked for');
      return { ok: true, rules: parseRobots(new TextDecoder().decode(body), TOKEN) };
    }
    return { ok: true, rules: ALL_ALLOWED }; // too many redirects count as a missing file (RFC 9309 §2.3.1.2)
  }
}
