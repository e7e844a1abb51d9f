/**
 * Answers of an x402 facilitator (x402-v2 §5, decisions §4), checked against our own order. One rule decides every doubtful
 * case: a settlement that may have been sent and was not clearly answered is `unknown`; a verification that was not clearly
 * answered is `unavailable`.
 */
import { decodeUtf8 } from '../../base/codec.ts';
import { objectOf, parseJson } from '../../base/json-value.ts';
import { BYTES32_FORM } from '../../payment/protocol/network.ts';
import type { PaymentOrder } from '../../payment/protocol/order.ts';
import { isIndeterminate, NONCE_USED } from '../../payment/protocol/reasons.ts';
import type { SettleOutcome, Unavailable, VerifyOutcome } from '../../payment/settlement/settlement.ts';
import type { CallFailure, CallOutcome } from '../outbound/bounded-call.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The result of one call to the facilitator. */
export type FacilitatorAnswer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      /** The body, if it is a JSON object. */
      readonly json: Fields | undefined;
      readonly retryAfter: string | null;
    }
  | CallFailure;

/** A settlement that the facilitator has sent to the chain but not yet seen included. */
export interface PendingSettlement {
  readonly kind: 'pending';
  readonly transaction: string;
  readonly detail: string;
}

function parseFields(bytes: Uint8Array): Fields | undefined {
  const text = decodeUtf8(bytes);
  return text === undefined ? undefined : objectOf(parseJson(text));
}

export function facilitatorAnswerOf(outcome: CallOutcome): FacilitatorAnswer {
  if (outcome.kind !== 'answer') return outcome;
  const { status, headers, bytes } = outcome;
  return { kind: 'answer', status, json: parseFields(bytes), retryAfter: headers.get('retry-after') };
}

/** A transaction hash in lower case, or '' for anything else. */
const transactionOf = (value: unknown): string =>
  typeof value === 'string' && BYTES32_FORM.test(value) ? value.toLowerCase() : '';

/** A reason code; undefined for free text, which is not passed on. */
const reasonOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[a-z0-9_]{1,100}$/.test(value) ? value : undefined;

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

const isOrAbsent = (value: unknown, expected: string): boolean =>
  isAbsent(value) || (typeof value === 'string' && value.toLowerCase() === expected.toLowerCase());

/** The delay-seconds of a `Retry-After`; undefined for a date or a longer wait, which get our own default. */
const delaySecondsOf = (value: string | null): number | undefined =>
  value !== null && /^[1-9][0-9]{0,3}$/.test(value) ? Number(value) : undefined;

export function verifyOutcomeOf(answer: FacilitatorAnswer, order: PaymentOrder): VerifyOutcome {
  if (answer.kind !== 'answer') return { kind: 'unavailable', detail: `verify: ${answer.detail}` };
  const { status, json } = answer;
  const unavailable = (detail: string): Unavailable => ({
    kind: 'unavailable',
    detail: `verify: ${detail}`,
    retryAfterSeconds: delaySecondsOf(answer.retryAfter),
  });
  if (status === 401 || status === 403 || status === 429 || status >= 500) return unavailable(`status ${status}`);
  if (json?.isValid === false) {
    const reason = reasonOf(json.invalidReason);
    return { kind: 'invalid', reason, detail: `verify: invalid, ${reason ?? 'no reason'}` };
  }
  if (status >= 300 || json?.isValid !== true) return unavailable(`status ${status}, not a verify answer`);
  if (!isOrAbsent(json.payer, order.payer)) return unavailable('another payer');
  return { kind: 'valid' };
}

/** What contradicts the order in a success, or undefined (reliability 86, 87). */
function settledProblem(json: Fields, order: PaymentOrder): string | undefined {
  if (json.network !== order.offer.requirements.network) return 'success on another network';
  if (!isOrAbsent(json.payer, order.payer)) return 'success for another payer';
  if (transactionOf(json.transaction) === '') return 'success without a transaction hash';
  if (!isOrAbsent(json.amount, order.offer.requirements.amount)) return 'success for another amount';
  return undefined;
}

export function settleOutcomeOf(answer: FacilitatorAnswer, order: PaymentOrder): SettleOutcome | PendingSettlement {
  if (answer.kind === 'not-sent') return { kind: 'unavailable', detail: `settle: ${answer.detail}` };
  const unknown = (detail: string, transaction: string): SettleOutcome & { readonly kind: 'unknown' } => ({
    kind: 'unknown',
    transaction,
    detail: `settle: ${detail}`,
  });
  if (answer.kind === 'lost') return unknown(answer.detail, '');
  const { status, json } = answer;
  const transaction = transactionOf(json?.transaction);
  const code = reasonOf(json?.errorReason);
  const hasTransaction = !isAbsent(json?.transaction) && json?.transaction !== '';
  const isRefusal = json?.success === false;
  if (isRefusal && code === 'settlement_pending' && transaction !== '') {
    return { kind: 'pending', transaction, detail: 'settlement_pending' };
  }
  if (status >= 500) return unknown(`status ${status}`, transaction);
  if (isRefusal && isIndeterminate(code, hasTransaction)) {
    const outcome = unknown(code ?? 'refused, with a hash', transaction);
    return code === NONCE_USED ? { ...outcome, isUsed: true } : outcome;
  }
  // It refused us before looking at the payment, unless the same answer mentions a transfer.
  const isTurnedAway = !hasTransaction && json?.success !== true;
  if ((status === 401 || status === 403) && isTurnedAway) {
    return { kind: 'unavailable', detail: `settle: status ${status}` };
  }
  if (status === 429 && isTurnedAway) {
    const retryAfterSeconds = delaySecondsOf(answer.retryAfter);
    return { kind: 'unavailable', detail: 'settle: status 429', retryAfterSeconds };
  }
  if (isRefusal) return { kind: 'refused', reason: code, transaction, detail: `settle: ${code ?? 'no reason'}` };
  if (status >= 300 || json?.success !== true) return unknown(`status ${status}, not a settle answer`, transaction);
  const problem = settledProblem(json, order);
  return problem === undefined ? { kind: 'settled', transaction } : unknown(problem, transaction);
}
