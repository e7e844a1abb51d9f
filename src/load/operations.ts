/**
 * The operations without a state between requests: what each sends, and which answer it expects. Each judges status, our error
 * code, and what a customer would look at (the offer, the receipt, the event id).
 */
import { EVENT_COUNT_MAX } from '../callback/limits.ts';
import type { BoughtCallback } from './bought-callbacks.ts';
import { type Answer, headerOf } from './connection.ts';
import { type Operation, type Run, send, type Verdict, verdictOn } from './operation.ts';
import type { PaymentSupply } from './payments.ts';
import { receiptFaultOf } from './receipt.ts';
import type { SignedPayment } from './signing.ts';
import { eventIdOf, webhookRequest } from './webhooks.ts';

/** GET /health: 200. */
export function healthOperation(run: Run): Operation {
  const request = run.requests.get('/health');
  const judge = (answer: Answer): Verdict => verdictOn(answer, 200, () => undefined);
  return {
    readiness: () => 'ready',
    start: (plannedMs, onEnd) => send(run, { kind: 'health', request, plannedMs, judge, onEnd }),
  };
}

const OFFER_EXPECTED = '402 PAYMENT_REQUIRED';

/** A request to a jobs route without a payment: 402 with an offer. */
export function unpaidOperation(run: Run, questions: readonly string[]): Operation {
  const requests = questions.map((path) => run.requests.get(path));
  let turn = 0;
  const judge = (answer: Answer): Verdict => {
    const verdict = verdictOn(answer, 402, () =>
      headerOf(answer.head, 'payment-required') === undefined ? 'NO_OFFER' : undefined,
    );
    return { ...verdict, isExpected: verdict.outcome === OFFER_EXPECTED };
  };
  return {
    readiness: () => 'ready',
    start: (plannedMs, onEnd) =>
      send(run, { kind: 'unpaid', request: requests[turn++ % requests.length]!, plannedMs, judge, onEnd }),
  };
}

/**
 * The same requests, each with a separate payment: 200 with a receipt.
 * @param questions paths, in the order of the supply's offers
 */
export function paidOperation(run: Run, questions: readonly string[], supply: PaymentSupply): Operation {
  let turn = 0;
  let held: SignedPayment | undefined;
  return {
    readiness() {
      held ??= supply.take(turn % questions.length);
      return held === undefined ? 'unsigned' : 'ready';
    },
    start(plannedMs, onEnd) {
      const payment = held!; // ready
      held = undefined;
      const request = run.requests.get(questions[turn++ % questions.length]!, { 'payment-signature': payment.header });
      const judge = (answer: Answer): Verdict =>
        verdictOn(answer, 200, () => receiptFaultOf(answer, payment.payer, payment.network));
      send(run, { kind: 'paid', request, plannedMs, judge, onEnd });
    },
  };
}

/** Outcomes of a full callback and of one over its rate (callback.md, "Events"). */
const FULL_OUTCOMES: ReadonlySet<string> = new Set(['410 CALLBACK_EVENT_LIMIT_REACHED', '429 RATE_LIMIT_EXCEEDED']);

/**
 * Webhooks to the callbacks in turn. A callback stores ten events (200) and refuses more by its limits (410, 429): from
 * the eleventh on a refusal is expected. On other connections a later webhook may overtake an earlier one, so the
 * judgement counts the webhooks that had been sent when the answer arrived.
 */
export function webhookOperation(run: Run, callbacks: readonly BoughtCallback[]): Operation {
  let sequence = 0;
  const sentCounts = new Uint32Array(callbacks.length);
  const storedCounts = new Uint32Array(callbacks.length);
  return {
    readiness: () => (callbacks.length === 0 ? 'used-up' : 'ready'),
    start(plannedMs, onEnd) {
      const index = sequence % callbacks.length;
      sentCounts[index]!++;
      const request = webhookRequest(run.requests, callbacks[index]!.id, sequence++);
      const judge = (answer: Answer): Verdict => {
        const verdict = verdictOn(answer, 200, () => {
          if (eventIdOf(answer) === undefined) return 'NO_EVENT_ID';
          storedCounts[index]!++;
          return storedCounts[index]! > EVENT_COUNT_MAX ? 'ELEVENTH_EVENT' : undefined;
        });
        const isFull = sentCounts[index]! > EVENT_COUNT_MAX && FULL_OUTCOMES.has(verdict.outcome);
        return isFull ? { ...verdict, isExpected: true } : verdict;
      };
      send(run, { kind: 'webhook', request, plannedMs, judge, onEnd });
    },
  };
}
