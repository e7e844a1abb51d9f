/** Advice on what a result shows. */
import type { Kind } from './mix.ts';
import { RATE_LIMIT_ADVICE } from './requests.ts';
import type { LoadResult } from './result.ts';
import { duration } from './summary.ts';

/** If the generator's own lag is at least this share of the latency, it is worth a hint. */
const LAG_HINT_SHARE = 0.1;

/** One sentence each. @param isCapacityExhausted the server refused callbacks for lack of capacity */
export function hintsOn(result: Omit<LoadResult, 'hints'>, isCapacityExhausted: boolean): readonly string[] {
  const hints: string[] = [];
  const has = (operations: readonly Kind[], outcome: string): boolean =>
    result.operations.some(
      (each) => operations.includes(each.operation) && each.outcomes.some((seen) => seen.outcome === outcome),
    );
  if (has(['unpaid', 'paid'], '429 RATE_LIMIT_EXCEEDED')) {
    hints.push(`the server counts requests per client address (429): ${RATE_LIMIT_ADVICE}`);
  }
  if (has(['webhook'], '410 CALLBACK_EVENT_LIMIT_REACHED')) {
    hints.push('a callback refuses webhooks after its tenth (410, 429), as it should: use more --callbacks');
  }
  if (has(['paid'], '402 PAYMENT_NOT_SETTLED')) {
    hints.push('payments were not settled: the play ledger must give each wallet a dollar (LOCAL_BALANCE=1000000)');
  }
  if (typeof result.payments?.failure === 'string') {
    hints.push(`${result.payments.failure}: the payments ordered from it were never signed`);
  }
  if (has(['data'], '429 RATE_LIMIT_EXCEEDED')) {
    hints.push('the server counts requests by key (429): start it with KEY_RATE_LIMIT_PER_MINUTE=0');
  }
  if (has(['data'], '402 INSUFFICIENT_CREDITS')) {
    hints.push("the key's organization has no credits left: `credits grant` gives it some");
  }
  const lagP99Us = result.generator.lag_us?.p99 ?? 0;
  if (!result.generator.was_the_limit && lagP99Us > Math.max(1000, LAG_HINT_SHARE * (result.latency_us?.p99 ?? 0))) {
    hints.push(`part of the latency is the generator's own lag (p99 ${duration(lagP99Us)}): the machine is busy`);
  }
  if (isCapacityExhausted) hints.push('the server had no capacity for all callbacks: CALLBACK_BYTES limits it');
  if (result.ended === 'nothing left to send') {
    // A callback is not used again after a failure, so a server that was away uses them up too.
    hints.push(
      result.requests.unexpected > 0
        ? 'no callback was left before the time was over: each had its ten events, or a wait or a webhook that failed'
        : 'every callback had its ten events before the time was over: use more --callbacks, or a lower --rate',
    );
  }
  return hints;
}
