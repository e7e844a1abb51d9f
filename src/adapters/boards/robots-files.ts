/** The robots.txt of hosts, each asked for once a day (RFC 9309 §2.3, RFC 9309 §2.4), in the turn of its host. */
import type { Clock } from '../../base/clock.ts';
import {
  ALL_ALLOWED,
  NONE_ALLOWED,
  parseRobots,
  ROBOTS_BYTES_MAX,
  ROBOTS_KEPT_MS,
  ROBOTS_REDIRECTS_MAX,
  type RobotsRules,
} from '../../ingest/watch/robots.ts';
import { headerOf } from '../../outbound/answer.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import type { HostPace } from './host-pace.ts';
import { REQUEST_MS } from './limits.ts';

/** Our product token (RFC 9309 §2.2.1). */
const TOKEN = 'paygrade';
/** Hosts whose rules are kept; beyond it the one asked first is forgotten. */
const KEPT_MAX = 10_000;

interface Kept {
  readonly rules: Promise<RobotsRules>;
  readonly untilMs: number;
}

export class RobotsFiles {
  readonly #outbound: Outbound;
  readonly #pace: HostPace;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(outbound: Outbound, pace: HostPace, clock: Clock) {
    this.#outbound = outbound;
    this.#pace = pace;
    this.#clock = clock;
  }

  /** Never rejects. */
  async rulesOf({ origin }: URL, signal: AbortSignal): Promise<RobotsRules> {
    const known = this.#kept.get(origin);
    if (known !== undefined && known.untilMs > this.#clock.nowMs()) return known.rules;
    const rules = this.#ask(`${origin}/robots.txt`, signal);
    this.#kept.delete(origin);
    this.#kept.set(origin, { rules, untilMs: this.#clock.nowMs() + ROBOTS_KEPT_MS });
    for (const first of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_MAX) break;
      this.#kept.delete(first);
    }
    // A host that cannot say is asked again at the next visit, which its board's backoff puts off.
    if ((await rules) === NONE_ALLOWED) this.#kept.delete(origin);
    return rules;
  }

  async #ask(first: string, signal: AbortSignal): Promise<RobotsRules> {
    let address = first;
    for (let redirects = 0; redirects <= ROBOTS_REDIRECTS_MAX; redirects++) {
      const judged = this.#outbound.policy.judge(address, 'resolve');
      if (!judged.ok) return NONE_ALLOWED;
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
          unpackedBytesMax: ROBOTS_BYTES_MAX,
          signal,
        }),
      );
      if (result?.kind !== 'answer' || result.status >= 500) return NONE_ALLOWED;
      const { status, body } = result;
      const location = headerOf(result, 'location');
      if (status >= 300 && status < 400 && location !== null && URL.canParse(location, target.url)) {
        address = new URL(location, target.url).href;
        continue;
      }
      return status >= 200 && status < 300 ? parseRobots(new TextDecoder().decode(body), TOKEN) : ALL_ALLOWED;
    }
    return ALL_ALLOWED; // too many redirects count as a file that is not there (RFC 9309 §2.3.1.2)
  }
}
