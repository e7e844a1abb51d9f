/** Reads of one job (siblings §6): its status, its attempts, and the delivery of its completion event. */
import * as v from 'valibot';
import { costsNothing } from '../../access/credits.ts';
import { perKey } from '../../access/key-rate.ts';
import { ifDamaged, noRetry, RETRY_NOT_FOUND, retryReader } from '../../access/retry-access.ts';
import { HOUR_MS } from '../../base/durations.ts';
import { Refusal, STATE_UNAVAILABLE } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import { KEPT_MS } from '../../retry/limits.ts';
import { UNTRUSTED_ANSWER_HEADERS } from '../untrusted.ts';
import { attemptsAnswer, attemptsOf, callbackAnswer, callbackOf, retryAnswer, retryId, retryOf } from './answers.ts';
import { EXAMPLE_ATTEMPTS, EXAMPLE_CALLBACK, EXAMPLE_ID, EXAMPLE_RETRY } from './examples.ts';
import type { RetryServices } from './services.ts';

const PARAMS = { id: EXAMPLE_ID };
const QUERY = v.strictObject({});

/** GET /v1/retries/{id} */
export const getRetry = route<RetryServices>()({
  operation: 'getRetry',
  method: 'GET',
  path: '/v1/retries/:id',
  summary: 'The status of a retry and its result',
  description: `An ended job stays readable for ${KEPT_MS / HOUR_MS} hours.`,
  access: [retryReader, perKey, costsNothing],
  params: { id: retryId },
  query: QUERY,
  answer: retryAnswer,
  answerHeaders: UNTRUSTED_ANSWER_HEADERS,
  errors: [RETRY_NOT_FOUND, STATE_UNAVAILABLE],
  examples: { params: PARAMS, answer: EXAMPLE_RETRY },
  async handle(_, { retries }, _request, { job }) {
    const found = await retries.read(job.id).catch(ifDamaged);
    if (found === undefined) return noRetry();
    return found instanceof Refusal ? found : retryOf(found.job, found.resultBody);
  },
});

/** GET /v1/retries/{id}/attempts */
export const listAttempts = route<RetryServices>()({
  operation: 'listRetryAttempts',
  method: 'GET',
  path: '/v1/retries/:id/attempts',
  summary: 'The attempts of a retry',
  access: [retryReader, perKey, costsNothing],
  params: { id: retryId },
  query: QUERY,
  answer: attemptsAnswer,
  errors: [],
  examples: { params: PARAMS, answer: EXAMPLE_ATTEMPTS },
  handle: (_, _services, _request, { job }) => attemptsOf(job),
});

/** GET /v1/retries/{id}/callback: without address, headers and bodies, so it is safe to show. */
export const getCallbackStatus = route<RetryServices>()({
  operation: 'getRetryCallback',
  method: 'GET',
  path: '/v1/retries/:id/callback',
  summary: 'The status of the delivery of the completion event',
  access: [retryReader, perKey, costsNothing],
  params: { id: retryId },
  query: QUERY,
  answer: callbackAnswer,
  errors: [],
  examples: { params: PARAMS, answer: EXAMPLE_CALLBACK },
  handle: (_, _services, _request, { job }) => callbackOf(job),
});
