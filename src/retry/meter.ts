/** Counts attempts by outcome and tries of deliveries by result, for the metrics. */
import type { Exposition } from '../base/prometheus.ts';
import { zeroCounts } from '../base/zero-counts.ts';
import type { Delivery } from './delivery.ts';
import { OUTCOMES, type Outcome } from './job.ts';

const ENDS = ['delivered', 'again', 'failed'] as const;

export class RetryMeter {
  /** Attempts in flight. */
  running = 0;
  readonly #attempts = zeroCounts(OUTCOMES);
  readonly #deliveries = zeroCounts(ENDS);

  countAttempt(outcome: Outcome): void {
    this.#attempts[outcome]++;
  }

  /** @param status of the delivery after the try */
  countDelivery(status: Delivery['status']): void {
    this.#deliveries[status === 'delivered' || status === 'failed' ? status : 'again']++;
  }

  /** @param dueCount due jobs that wait for their turn */
  write(page: Exposition, dueCount: number): void {
    page
      .single('paygrade_retries_due', 'gauge', 'Retry jobs that are due and wait for their turn.', dueCount)
      .single('paygrade_retries_running', 'gauge', 'Attempts of retry jobs that are under way.', this.running)
      .family('paygrade_retry_attempts_total', 'counter', 'Ended attempts of retry jobs, by outcome.');
    for (const outcome of OUTCOMES) page.sample(this.#attempts[outcome], { outcome });
    page.family(
      'paygrade_retry_deliveries_total',
      'counter',
      'Tries to deliver a completion event, by how they ended.',
    );
    for (const end of ENDS) page.sample(this.#deliveries[end], { end });
  }
}
