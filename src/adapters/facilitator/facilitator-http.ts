/**
 * Settlement through an x402 facilitator over HTTP (x402-v2 §5, decisions §4). `facilitator-answer.ts` judges each answer;
 * `outbound/bounded-call.ts` bounds each request in time and size.
 *
 * The circuit: {@link FAILURES_TO_OPEN} calls in a row that did not reach the facilitator make it `unreachable`. It is then
 * probed every second until one call arrives.
 */
import type { Clock } from '../../base/clock.ts';
import type { Timers } from '../../base/timers.ts';
import { facilitatorBodyOf, type PaymentOrder } from '../../payment/protocol/order.ts';
import type {
  Settlement,
  SettlementReadiness,
  SettleOutcome,
  VerifyOutcome,
} from '../../payment/settlement/settlement.ts';
import { boundedCall, type OutboundFetch } from '../outbound/bounded-call.ts';
import {
  type FacilitatorAnswer,
  facilitatorAnswerOf,
  type PendingSettlement,
  settleOutcomeOf,
  verifyOutcomeOf,
} from './facilitator-answer.ts';

/** A verify or settle answer is a few hundred bytes, with extensions a few KB. */
const ANSWER_BYTES_MAX = 65_536;
const FAILURES_TO_OPEN = 5;
const PROBE_PAUSE_MS = 1000;
/** The least time left in which repeating a pending settlement is worth it. */
const REPEAT_BUDGET_MS = 1000;

export type FacilitatorFetch = OutboundFetch;

export interface FacilitatorOptions {
  /** Base address; the client appends `/verify`, `/settle` and `/supported`. No trailing slash. */
  readonly url: string;
  /** Bearer token, or null. */
  readonly token: string | null;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly verifyDeadlineMs?: number;
  /** For a settlement and the one repeat of a pending one together. */
  readonly settleDeadlineMs?: number;
  readonly probeDeadlineMs?: number;
  /** Concurrent calls; above it the facilitator is `busy`, and new payments are refused before they are reserved. */
  readonly inFlightMax?: number;
  /** Called when the facilitator becomes reachable or unreachable, for log and metrics. */
  readonly onReachable?: (isReachable: boolean) => void;
  /** Sends the requests; the runtime's own fetch when absent. */
  readonly fetch?: FacilitatorFetch | undefined;
}

const READY: SettlementReadiness = { kind: 'ready' };
const BUSY: SettlementReadiness = { kind: 'busy' };
const UNREACHABLE: SettlementReadiness = { kind: 'unreachable' };

/** Statuses with which a gateway in front of the facilitator says that it is not there. */
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/** A facilitator that answers nonsense was still reached; one that drops the connection was not. */
const isReachedBy = (answer: FacilitatorAnswer): boolean =>
  answer.kind === 'answer' ? !GATEWAY_STATUSES.has(answer.status) : answer.kind === 'lost' && !answer.isTransport;

export class HttpFacilitator implements Settlement {
  readonly takesContractSignatures = true;
  readonly #options: FacilitatorOptions;
  readonly #verifyDeadlineMs: number;
  readonly #settleDeadlineMs: number;
  readonly #probeDeadlineMs: number;
  readonly #inFlightMax: number;
  readonly #fetch: FacilitatorFetch;
  #inFlightCount = 0;
  /** Calls in a row that did not reach the facilitator. */
  #failureCount = 0;
  #hasBeenReached = false;
  #isProbing = false;
  #cancelProbe: () => void = () => {};
  #stopped = false;

  constructor(options: FacilitatorOptions) {
    this.#options = options;
    this.#verifyDeadlineMs = options.verifyDeadlineMs ?? 8000;
    this.#settleDeadlineMs = options.settleDeadlineMs ?? 30_000;
    this.#probeDeadlineMs = options.probeDeadlineMs ?? 5000;
    this.#inFlightMax = options.inFlightMax ?? 256;
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
  }

  /** Sends the first probe, so that `isReachable` is known before the first payment. Does not wait for the answer. */
  start(): void {
    this.#probeUntilReached();
  }

  /** Ends probing. */
  stop(): void {
    this.#stopped = true;
    this.#cancelProbe();
  }

  /** Whether the last call arrived, for the server's readiness. False until the first one did. */
  isReachable(): boolean {
    return this.#hasBeenReached && this.#failureCount === 0;
  }

  readiness(): SettlementReadiness {
    if (this.#failureCount >= FAILURES_TO_OPEN) return UNREACHABLE;
    return this.#inFlightCount >= this.#inFlightMax ? BUSY : READY;
  }

  async verify(order: PaymentOrder): Promise<VerifyOutcome> {
    const answer = await this.#post('/verify', facilitatorBodyOf(order), this.#verifyDeadlineMs);
    return verifyOutcomeOf(answer, order);
  }

  async settle(order: PaymentOrder): Promise<SettleOutcome> {
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    const body = facilitatorBodyOf(order);
    const first = await this.#settleOnce(order, body, this.#settleDeadlineMs);
    if (first.kind !== 'pending') return first;
    const leftMs = this.#settleDeadlineMs - (clock.monotonicMs() - startMs);
    const second = leftMs < REPEAT_BUDGET_MS ? first : await this.#settleOnce(order, body, leftMs);
    switch (second.kind) {
      case 'settled':
        return second;
      case 'refused':
        // The first call named a transaction: only the chain's own revert of it is certain. Another one reverts because the
        // first went through.
        if (second.transaction === first.transaction) return second;
        break;
      case 'pending':
      case 'unknown':
      case 'unavailable':
        break;
      default:
        return second satisfies never;
    }
    const isNews = (second.kind === 'pending' || second.kind === 'unknown') && second.transaction !== '';
    const transaction = isNews ? second.transaction : first.transaction;
    return { kind: 'unknown', transaction, detail: `settle: pending, then ${second.detail}` };
  }

  async #settleOnce(order: PaymentOrder, body: string, deadlineMs: number): Promise<SettleOutcome | PendingSettlement> {
    return settleOutcomeOf(await this.#post('/settle', body, deadlineMs), order);
  }

  async #post(path: string, body: string, deadlineMs: number): Promise<FacilitatorAnswer> {
    this.#inFlightCount++;
    try {
      const answer = await this.#call('POST', path, body, deadlineMs);
      this.#noteContact(isReachedBy(answer));
      return answer;
    } finally {
      this.#inFlightCount--;
    }
  }

  /** Never rejects. */
  async #call(
    method: 'GET' | 'POST',
    path: string,
    body: string | null,
    deadlineMs: number,
  ): Promise<FacilitatorAnswer> {
    const { url, token, timers } = this.#options;
    const headers = {
      accept: 'application/json',
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    };
    const request = { method, url: url + path, headers, body, deadlineMs, answerBytesMax: ANSWER_BYTES_MAX };
    return facilitatorAnswerOf(await boundedCall(request, this.#fetch, timers));
  }

  #noteContact(isReached: boolean): void {
    const was = this.isReachable();
    if (isReached) {
      this.#hasBeenReached = true;
      this.#failureCount = 0;
    } else this.#failureCount++;
    if (was !== this.isReachable()) this.#options.onReachable?.(!was);
    if (this.#failureCount >= FAILURES_TO_OPEN) this.#probeLater();
  }

  #probeLater(): void {
    if (this.#isProbing || this.#stopped) return;
    this.#isProbing = true;
    this.#cancelProbe = this.#options.timers.after(PROBE_PAUSE_MS, () => {
      this.#isProbing = false;
      this.#probeUntilReached();
    });
  }

  #probeUntilReached(): void {
    if (this.#isProbing || this.#stopped) return;
    this.#isProbing = true;
    void this.#call('GET', '/supported', null, this.#probeDeadlineMs).then((answer) => {
      this.#isProbing = false;
      const isReached = answer.kind === 'answer' && answer.status < 500;
      this.#noteContact(isReached);
      if (!isReached) this.#probeLater();
    });
  }
}
