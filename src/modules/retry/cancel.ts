/** POST /v1/retries/{id}/cancel: ends a job; an attempt in flight is aborted and recorded as interrupted (siblings §6). */
import { costsNothing } from '../../access/credits.ts';
import { perKey } from '../../access/key-rate.ts';
import { ifDamaged, retryWriter } from '../../access/retry-access.ts';
import { isoTime } from '../../base/iso-time.ts';
import { defineErrors, Refusal, refuse, STATE_UNAVAILABLE } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import { cancelledAnswer, retryId } from './answers.ts';
import { EXAMPLE_ENDED_AT, EXAMPLE_ID } from './examples.ts';
import type { RetryServices } from './services.ts';

export const { RETRY_NOT_CANCELLABLE } = defineErrors({ RETRY_NOT_CANCELLABLE: { status: 409 } });

export const cancelRetry = route<RetryServices>()({
  operation: 'cancelRetry',
  method: 'POST',
  path: '/v1/retries/:id/cancel',
  summary: 'Cancel a retry',
  access: [retryWriter, perKey, costsNothing],
  params: { id: retryId },
  answer: cancelledAnswer,
  errors: [RETRY_NOT_CANCELLABLE, STATE_UNAVAILABLE],
  examples: {
    params: { id: EXAMPLE_ID },
    answer: { id: EXAMPLE_ID, status: 'cancelled', cancelled_at: EXAMPLE_ENDED_AT },
  },
  async handle(_, { retries }, _request, { job: { id } }) {
    const job = await retries.cancel(id).catch(ifDamaged);
    if (job instanceof Refusal) return job;
    if (job === undefined) return refuse(RETRY_NOT_CANCELLABLE, 'this retry has ended');
    return { id, status: 'cancelled' as const, cancelled_at: isoTime(job.updatedAtMs) };
  },
});
