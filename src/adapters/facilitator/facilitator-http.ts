/**
 * Settlement through an x402 facilitator over HTTP (x402-v2 §5, decisions §4). `facilitator-answer.ts` judges each answer;
 * `outbound/bounded-call.ts` bounds each request in time and size; `circuit.ts` knows whether the facilitator can be reached;
 * `payment/settlement/settlement-turns.ts` bounds the calls in flight.
 */
import type { Network } from '../../payment/protocol/network.ts';
import { facilitatorBodyOf, type PaymentOrder } from '../../payment/protocol/order.ts';
import type {
  Settlement,
  SettlementReadiness,
  SettleOutcome,
  VerifyOutcome,
} from '../../payment/settlement/settlement.ts';
import { boundedCall, type CallFetch } from '../outbound/bounded-call.ts';
import { Circuit, type CircuitPorts } from './circuit.ts';
import {
  type FacilitatorAnswer,
  facilitatorAnswerOf,
  type PendingSettlement,
  settleOutcomeOf,
  verifyOutcomeOf,
} from './facilitator-answer.ts';
import { FacilitatorSignals, type SignalPorts } from './facilitator-signals.ts';
import { type Refusal, refusalOf, type Support, supportOf } from './facilitator-support.ts';

/** A verify or settle answer is a few hundred bytes, with extensions a few KB. */
const ANSWER_BYTES_MAX = 65_536;
/** The least time left in which repeating a pending settlement is worth it. */
const REPEAT_BUDGET_MS = 1000;

const STOPPING = 'the server is stopping';

/** Milliseconds. */
export const DEADLINES = {
  verifyMs: 8000,
  /** For a settlement and the one repeat of a pending one together. */
  settleMs: 30_000,
  probeMs: 5000,
  /**
   * For the calls in flight when a shutdown begins: a second less than connections stay open (cli/serve.ts), so that the client
   * still learns that the outcome is not known.
   */
  drainMs: 8000,
};

export interface FacilitatorOptions {
  /** Base address; the client appends `/verify`, `/settle` and `/supported`. No trailing slash. */
  readonly url: string;
  /** Bearer token, or null. */
  readonly token: string | null;
  /** The network of the server's offers. */
  readonly network: Network;
  readonly deadlines: Readonly<typeof DEADLINES>;
}

export interface FacilitatorPorts extends CircuitPorts, SignalPorts {
  /** Calls the facilitator, in place of the runtime's `fetch`. */
  readonly facilitatorFetch?: CallFetch | undefined;
  /**
   * Called once with what the facilitator says it settles, and whenever it begins to refuse this server.
   */
  onFacilitatorSupport?(support: Support | Refusal): void;
}

type RefusalStatus = Parameters<typeof refusalOf>[0];

/** It refuses us, not the payment. */
const isTurnedAway = (status: number): status is 401 | 403 => status === 401 || status === 403;

const READY: SettlementReadiness = { kind: 'ready' };
const UNREACHABLE: SettlementReadiness = { kind: 'unreachable' };

export class HttpFacilitator implements Settlement {
  readonly takesContractSignatures = true;
  readonly #options: FacilitatorOptions;
  readonly #ports: FacilitatorPorts;
  readonly #fetch: CallFetch;
  readonly #circuit: Circuit;
  /** Aborted when a shutdown ends the calls in flight; none begins any more. */
  readonly #end = new AbortController();
  #cancelEnd = (): void => {};
  readonly signals: FacilitatorSignals;
  #isSupportKnown = false;
  /** Status of the last answer if that refused this server; it is reported when it changes. */
  #refusalStatus: RefusalStatus | undefined;

  constructor(options: FacilitatorOptions, ports: FacilitatorPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#fetch = ports.facilitatorFetch ?? ((url, init) => fetch(url, init));
    this.#circuit = new Circuit(ports, () => this.#isWell());
    this.signals = new FacilitatorSignals(ports);
  }

  /** Asks the first health question, so that `isReachable` is known before the first payment. Does not wait for the answer. */
  start(): void {
    this.#circuit.ask();
  }

  /** A shutdown begins: calls that it would cut off end before their connections do, and later ones are not sent. */
  drain(): void {
    this.#cancelEnd();
    this.#cancelEnd = this.#ports.timers.after(this.#options.deadlines.drainMs, () => this.#end.abort(STOPPING));
  }

  /** Asks no more health questions. */
  stop(): void {
    this.#cancelEnd();
    this.#circuit.stop();
  }

  /** Whether the facilitator can be reached, for the server's readiness. False until the first contact. */
  isReachable(): boolean {
    return this.#circuit.isReachable();
  }

  readiness(): SettlementReadiness {
    return this.#circuit.isOpen() ? UNREACHABLE : READY;
  }

  async verify(order: PaymentOrder): Promise<VerifyOutcome> {
    const answer = await this.#post('/verify', facilitatorBodyOf(order), this.#options.deadlines.verifyMs);
    const outcome = verifyOutcomeOf(answer, order);
    this.signals.noteVerified(order, outcome);
    return outcome;
  }

  async settle(order: PaymentOrder): Promise<SettleOutcome> {
    const outcome = await this.#settleTwice(order);
    this.signals.noteSettled(order, outcome);
    return outcome;
  }

  /** Repeats a pending settlement once, within the deadline. */
  async #settleTwice(order: PaymentOrder): Promise<SettleOutcome> {
    const { clock } = this.#ports;
    const { deadlines } = this.#options;
    const startMs = clock.monotonicMs();
    const body = facilitatorBodyOf(order);
    const first = await this.#settleOnce(order, body, deadlines.settleMs);
    if (first.kind !== 'pending') return first;
    const leftMs = deadlines.settleMs - (clock.monotonicMs() - startMs);
    const second = leftMs < REPEAT_BUDGET_MS ? first : await this.#settleOnce(order, body, leftMs);
    switch (second.kind) {
      case 'settled':
        return second;
      case 'refused':
        // The first call named a transaction: only the chain's revert of that one is certain. Another would revert
        // because the first went through.
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
    if (this.#end.signal.aborted) return { kind: 'not-sent', detail: STOPPING };
    const answer = await this.#call('POST', path, body, deadlineMs);
    this.#noteContact(answer);
    return answer;
  }

  /** Never rejects. */
  async #call(
    method: 'GET' | 'POST',
    path: string,
    body: string | null,
    deadlineMs: number,
  ): Promise<FacilitatorAnswer> {
    const { url, token } = this.#options;
    const { timers, clock } = this.#ports;
    const end = this.#end.signal;
    const headers = {
      accept: 'application/json',
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    };
    const request = { method, url: url + path, headers, body, deadlineMs, answerBytesMax: ANSWER_BYTES_MAX, end };
    const startMs = clock.monotonicMs();
    const outcome = await boundedCall(request, this.#fetch, timers);
    if (outcome.kind === 'answer') {
      this.signals.noteDate(outcome.headers, clock.nowMs(), clock.monotonicMs() - startMs);
    }
    return facilitatorAnswerOf(outcome);
  }

  /**
   * Notes what a payment's call shows about the facilitator. A server error, or no answer, may be due to this payload alone.
   */
  #noteContact(answer: FacilitatorAnswer): void {
    if (answer.kind === 'not-sent') this.#circuit.noteUnreached();
    else if (answer.kind === 'lost' ? answer.isTransport : answer.status >= 500) this.#circuit.ask();
    // A facilitator that answers nonsense was still reached.
    else this.#circuit.noteReached();
    if (answer.kind === 'answer') this.#noteRefusal(isTurnedAway(answer.status) ? answer.status : undefined);
  }

  /** A facilitator that refuses this server is still reached, so nothing but this tells the operator. */
  #noteRefusal(status: RefusalStatus | undefined): void {
    if (status === this.#refusalStatus) return;
    this.#refusalStatus = status;
    if (status !== undefined) this.#ports.onFacilitatorSupport?.(refusalOf(status));
  }

  /** The health question. Its first successful answer shows whether the facilitator settles this server's offers. */
  async #isWell(): Promise<boolean> {
    const answer = await this.#call('GET', '/supported', null, this.#options.deadlines.probeMs);
    if (answer.kind !== 'answer') return false;
    const { status, json } = answer;
    if (status === 200 && !this.#isSupportKnown) {
      this.#isSupportKnown = true;
      this.#ports.onFacilitatorSupport?.(supportOf(json, this.#options.network));
    }
    if (isTurnedAway(status) || (status === 404 && !this.#isSupportKnown)) this.#noteRefusal(status);
    return status < 500;
  }
}
