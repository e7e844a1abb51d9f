/**
 * Settlement through an x402 facilitator over HTTP (x402-v2 §5, decisions §4). One rule decides every doubtful case: a
 * settlement that may have been sent and was not clearly answered is `unknown`; a verification that was not clearly
 * answered is `unavailable`. Answers are checked against our own order, read to {@link ANSWER_BYTES_MAX} and to a deadline
 * that covers connecting, headers and body; redirects and content encodings are not followed.
 *
 * The circuit: {@link FAILURES_TO_OPEN} calls in a row that did not reach the facilitator make it `unreachable`, and then it
 * is probed every second until one call arrives. It is an ordinary `fetch`, so it runs on Node and Bun alike.
 */
import type { Clock } from '../../base/clock.ts';
import { decodeUtf8 } from '../../base/codec.ts';
import type { Timers } from '../../base/timers.ts';
import { NETWORK } from '../../payment/protocol/network.ts';
import { facilitatorBodyOf, type PaymentOrder } from '../../payment/protocol/order.ts';
import { isIndeterminate } from '../../payment/protocol/reasons.ts';
import type {
  Settlement,
  SettlementReadiness,
  SettleOutcome,
  Unavailable,
  VerifyOutcome,
} from '../../payment/settlement/settlement.ts';

/** A verify or settle answer is a few hundred bytes, a few KB with extensions. */
const ANSWER_BYTES_MAX = 65_536;
const FAILURES_TO_OPEN = 5;
const PROBE_PAUSE_MS = 1000;
/** A repeat of a pending settlement needs at least this long to be worth sending. */
const REPEAT_BUDGET_MS = 1000;

/** `fetch` as far as it is used here. */
export type FacilitatorFetch = (url: string, init: RequestInit) => Promise<Response>;

export interface FacilitatorOptions {
  /** Base address; `/verify`, `/settle` and `/supported` are appended. No trailing slash. */
  readonly url: string;
  /** Bearer token, or null. */
  readonly token: string | null;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly verifyDeadlineMs?: number;
  /** For a settlement and the one repeat of a pending one together. */
  readonly settleDeadlineMs?: number;
  readonly probeDeadlineMs?: number;
  /** Calls under way at a time; past it new payments are refused before they are reserved. */
  readonly inFlightMax?: number;
  /** Told when the facilitator becomes reachable or unreachable, for log and metrics. */
  readonly onReachable?: (isReachable: boolean) => void;
  /** The way out; the runtime's own when it is left out. */
  readonly fetch?: FacilitatorFetch | undefined;
}

/** What became of one HTTP call. */
type Answer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly json: Fields | undefined;
      readonly retryAfter: string | null;
    }
  /** Certain: no byte of the request was written. */
  | { readonly kind: 'not-sent'; readonly detail: string }
  /** The request may have arrived; what came back cannot be used. */
  | { readonly kind: 'lost'; readonly detail: string; readonly isTransport: boolean };

type Fields = Readonly<Record<string, unknown>>;

/**
 * Error codes of a connection that never came to be. Everything else may have happened after the request was written.
 * Node (undici) has them on `error.cause`, on each of `cause.errors` where several addresses were tried, or as the code of
 * the TLS layer; Bun on the error itself. A reset counts as sent even during a handshake: the code does not tell.
 */
const NOT_SENT_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'UND_ERR_CONNECT_TIMEOUT',
  // Verdicts on the certificate, which precede the first byte of HTTP.
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_UNTRUSTED',
  'CERT_REJECTED',
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'INVALID_CA',
  'HOSTNAME_MISMATCH',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** Codes that mean "never connected" only when connecting was what failed. */
const NOT_SENT_WHEN_CONNECTING: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
]);

interface ErrorFacts {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

const factsOf = (value: unknown): ErrorFacts => (typeof value === 'object' && value !== null ? value : {});

function isNotSent(failure: unknown): boolean {
  const { code, syscall, cause, errors } = factsOf(failure);
  if (Array.isArray(errors) && errors.length > 0) return errors.every(isNotSent);
  if (typeof code === 'string') {
    return NOT_SENT_CODES.has(code) || (syscall === 'connect' && NOT_SENT_WHEN_CONNECTING.has(code));
  }
  return cause !== undefined && isNotSent(cause);
}

/** The code of a failure for the log; messages can hold addresses with credentials. */
function codeOf(failure: unknown): string {
  const { code, cause } = factsOf(failure);
  if (typeof code === 'string') return code;
  const inner = factsOf(cause).code;
  return typeof inner === 'string' ? inner : 'no code';
}

/** The body up to {@link ANSWER_BYTES_MAX}; undefined when there is more. Rejects when the deadline cuts it. */
async function readBounded(response: Response): Promise<Uint8Array | undefined> {
  if (response.body === null) return new Uint8Array(0);
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    byteCount += value.length;
    if (byteCount > ANSWER_BYTES_MAX) {
      discard(reader);
      return undefined;
    }
    chunks.push(value);
  }
  return Buffer.concat(chunks);
}

/** Lets go of a body nobody wants; how that ends is of no interest. */
function discard(body: { cancel(): Promise<void> } | null): void {
  body?.cancel().catch(() => {});
}

function parseFields(bytes: Uint8Array): Fields | undefined {
  const text = decodeUtf8(bytes);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

const TRANSACTION_FORM = /^0x[0-9a-fA-F]{64}$/;

/** A transaction hash in lower case, or '' for anything else. */
const transactionOf = (value: unknown): string =>
  typeof value === 'string' && TRANSACTION_FORM.test(value) ? value.toLowerCase() : '';

/** The code if it looks like one; free text is not carried around. */
const wordOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[a-z0-9_]{1,100}$/.test(value) ? value : undefined;

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

const isOrAbsent = (value: unknown, expected: string): boolean =>
  isAbsent(value) || (typeof value === 'string' && value.toLowerCase() === expected.toLowerCase());

/** Seconds of a `Retry-After`; dates and longer waits are left to our own default. */
const retryAfterSecondsOf = (value: string | null): number | undefined =>
  value !== null && /^[1-9][0-9]{0,3}$/.test(value) ? Number(value) : undefined;

const READY: SettlementReadiness = { kind: 'ready' };
const BUSY: SettlementReadiness = { kind: 'busy' };
const UNREACHABLE: SettlementReadiness = { kind: 'unreachable' };

/** Statuses with which something in front of the facilitator says that it is not there. */
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

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

  /** First contact, so that `isReachable` means something before the first payment. Does not wait for the answer. */
  start(): void {
    this.#probeUntilReached();
  }

  /** No further probes. */
  stop(): void {
    this.#stopped = true;
    this.#cancelProbe();
  }

  /** The last call arrived; what readiness of the server reports. False until the first one did. */
  isReachable(): boolean {
    return this.#hasBeenReached && this.#failureCount === 0;
  }

  readiness(): SettlementReadiness {
    if (this.#failureCount >= FAILURES_TO_OPEN) return UNREACHABLE;
    return this.#inFlightCount >= this.#inFlightMax ? BUSY : READY;
  }

  async verify(order: PaymentOrder): Promise<VerifyOutcome> {
    const answer = await this.#post('/verify', facilitatorBodyOf(order), this.#verifyDeadlineMs);
    if (answer.kind !== 'answer') return { kind: 'unavailable', detail: `verify: ${answer.detail}` };
    const { status, json } = answer;
    const unavailable = (detail: string): Unavailable => ({
      kind: 'unavailable',
      detail: `verify: ${detail}`,
      retryAfterSeconds: retryAfterSecondsOf(answer.retryAfter),
    });
    if (status === 401 || status === 403 || status === 429 || status >= 500) return unavailable(`status ${status}`);
    if (json?.isValid === false) {
      const reason = wordOf(json.invalidReason);
      return { kind: 'invalid', reason, detail: `verify: invalid, ${reason ?? 'no reason'}` };
    }
    if (status >= 300 || json?.isValid !== true) return unavailable(`status ${status}, not a verify answer`);
    if (!isOrAbsent(json.payer, order.payer)) return unavailable('another payer');
    return { kind: 'valid' };
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
        // A hash was seen: only the chain's own revert of it is certain. Another one reverts because the first went through.
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

  async #settleOnce(
    order: PaymentOrder,
    body: string,
    deadlineMs: number,
  ): Promise<SettleOutcome | { readonly kind: 'pending'; readonly transaction: string; readonly detail: string }> {
    const answer = await this.#post('/settle', body, deadlineMs);
    if (answer.kind === 'not-sent') return { kind: 'unavailable', detail: `settle: ${answer.detail}` };
    const unknown = (detail: string, transaction: string): SettleOutcome => ({
      kind: 'unknown',
      transaction,
      detail: `settle: ${detail}`,
    });
    if (answer.kind === 'lost') return unknown(answer.detail, '');
    const { status, json } = answer;
    const transaction = transactionOf(json?.transaction);
    const code = wordOf(json?.errorReason);
    if (status === 401 || status === 403) return { kind: 'unavailable', detail: `settle: status ${status}` };
    const isRefusal = json?.success === false;
    if (isRefusal && code === 'settlement_pending' && transaction !== '') {
      return { kind: 'pending', transaction, detail: 'settlement_pending' };
    }
    if (status >= 500) return unknown(`status ${status}`, transaction);
    const hasTransaction = !isAbsent(json?.transaction) && json?.transaction !== '';
    if (isRefusal && isIndeterminate(code, hasTransaction)) return unknown(code ?? 'refused, with a hash', transaction);
    if (status === 429 && !hasTransaction && json?.success !== true) {
      const retryAfterSeconds = retryAfterSecondsOf(answer.retryAfter);
      return { kind: 'unavailable', detail: 'settle: status 429', retryAfterSeconds };
    }
    if (isRefusal) return { kind: 'refused', reason: code, transaction, detail: `settle: ${code ?? 'no reason'}` };
    if (status >= 300 || json?.success !== true) return unknown(`status ${status}, not a settle answer`, transaction);
    const problem = settledProblem(json, order);
    return problem === undefined ? { kind: 'settled', transaction } : unknown(problem, transaction);
  }

  async #post(path: string, body: string, deadlineMs: number): Promise<Answer> {
    this.#inFlightCount++;
    try {
      const answer = await this.#call('POST', path, body, deadlineMs);
      const isReached = answer.kind === 'answer' ? !GATEWAY_STATUSES.has(answer.status) : isArrival(answer);
      this.#noteContact(isReached);
      return answer;
    } finally {
      this.#inFlightCount--;
    }
  }

  /** Never rejects. */
  async #call(method: 'GET' | 'POST', path: string, body: string | null, deadlineMs: number): Promise<Answer> {
    const { url, token, timers } = this.#options;
    const abort = new AbortController();
    const cancel = timers.after(deadlineMs, () => abort.abort());
    try {
      const response = await this.#fetch(url + path, {
        method,
        body,
        redirect: 'manual',
        signal: abort.signal,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'identity',
          ...(body === null ? {} : { 'content-type': 'application/json' }),
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        },
        decompress: false, // Bun's name for leaving an encoded body alone; Node inflates only what is read
      } as RequestInit);
      const { status, headers } = response;
      const encoding = headers.get('content-encoding');
      const isRedirect = status === 0 || (status >= 300 && status < 400);
      if (isRedirect || (encoding !== null && encoding.toLowerCase() !== 'identity')) {
        discard(response.body);
        abort.abort();
        return { kind: 'lost', detail: isRedirect ? `redirect ${status}` : 'encoded answer', isTransport: false };
      }
      const bytes = await readBounded(response);
      if (bytes === undefined) {
        abort.abort();
        return { kind: 'lost', detail: `answer over ${ANSWER_BYTES_MAX} bytes`, isTransport: false };
      }
      return { kind: 'answer', status, json: parseFields(bytes), retryAfter: headers.get('retry-after') };
    } catch (failure) {
      if (abort.signal.aborted) return { kind: 'lost', detail: `no answer in ${deadlineMs} ms`, isTransport: true };
      if (isNotSent(failure)) return { kind: 'not-sent', detail: codeOf(failure) };
      return { kind: 'lost', detail: `connection lost (${codeOf(failure)})`, isTransport: true };
    } finally {
      cancel();
    }
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

/** A facilitator that answers nonsense was still reached; one that drops the connection was not. */
const isArrival = (answer: Exclude<Answer, { kind: 'answer' }>): boolean =>
  answer.kind === 'lost' && !answer.isTransport;

/** What is wrong with a success, or undefined (reliability 86, 87). */
function settledProblem(json: Fields, order: PaymentOrder): string | undefined {
  if (json.network !== NETWORK) return 'success on another network';
  if (!isOrAbsent(json.payer, order.payer)) return 'success for another payer';
  if (transactionOf(json.transaction) === '') return 'success without a transaction hash';
  if (!isOrAbsent(json.amount, order.offer.requirements.amount)) return 'success for another amount';
  return undefined;
}
