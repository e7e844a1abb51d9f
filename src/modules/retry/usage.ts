/** GET /v1/usage: counts of an organization's retries in the current UTC month (siblings §6). */
import * as v from 'valibot';
import { costsNothing } from '../../access/credits.ts';
import { perKey } from '../../access/key-rate.ts';
import { retryUsageKey } from '../../access/retry-access.ts';
import { isoTime } from '../../base/iso-time.ts';
import { route } from '../../http/route.ts';
import { usageAnswer } from './answers.ts';
import type { RetryServices } from './services.ts';

export const getUsage = route<RetryServices>()({
  operation: 'getRetryUsage',
  method: 'GET',
  path: '/v1/usage',
  summary: "The organization's retries and credits in this month",
  description: '`credits.charged` counts the charges of every surface.',
  access: [retryUsageKey, perKey, costsNothing],
  query: v.strictObject({}),
  answer: usageAnswer,
  errors: [],
  examples: {
    answer: {
      period: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
      retries_created: 120,
      attempts_made: 171,
      callbacks_delivered: 118,
      credits: { charged: 120, remaining: 9880 },
    },
  },
  async handle(_, { accounts, retries }, _request, { organization }) {
    const usage = await accounts.usage(organization);
    if (usage === undefined) throw new Error('a key of an unknown organization');
    const counts = await retries.usage(organization, usage.startMs);
    return {
      period: { start: isoTime(usage.startMs), end: isoTime(usage.endMs) },
      retries_created: counts.retriesCreated,
      attempts_made: counts.attemptsMade,
      callbacks_delivered: counts.callbacksDelivered,
      credits: { charged: usage.charged, remaining: usage.remaining },
    };
  },
});
