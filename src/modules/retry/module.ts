/** The Retry API (siblings §6): requests that are sent until they work, and a signed event at the end. */
import { KEY_RATE_NAME } from '../../access/key-rate.ts';
import { openClientRate } from '../../access/rate-limit.ts';
import { openUncharged } from '../../access/uncharged.ts';
import { bind } from '../../http/operation.ts';
import { RetryMeter } from '../../retry/meter.ts';
import { Retries } from '../../retry/retries.ts';
import { Sealer } from '../../retry/sealer.ts';
import { RetryWorker } from '../../retry/worker.ts';
import { defineModule } from '../module.ts';
import { createdOf } from './answers.ts';
import { cancelRetry } from './cancel.ts';
import { createRetry } from './create.ts';
import { getCallbackStatus, getRetry, listAttempts } from './reading.ts';
import type { RetryServices } from './services.ts';
import { RETRY_SETTINGS } from './settings.ts';
import { getUsage } from './usage.ts';

const GUIDE = [
  'A retry is one HTTP request that the server sends until it works: at least once, and never more often than ' +
    '`policy.max_attempts`. Each attempt carries `X-Retry-Id`, `X-Retry-Attempt` and, unless you set one, an `Idempotency-Key` ' +
    'that is the same for all attempts: a target that honours it acts once.',
  'A key of an organization (1 credit a job) or a payment buys it. A paid job is read with its `read_token`, which is shown once.',
  'When a job ends, an event of type `retry.completed` goes to `callback_url`, signed by [Standard ' +
    'Webhooks](https://www.standardwebhooks.com/) with `callback_secret`, which is shown once too. It is tried at once and then ' +
    '5 s, 30 s, 2 min and 10 min after the try before; answer with a status from 200 to 299.',
];

const NO_SECRETS = { readToken: null, callbackSecret: null };

const TAG = 'retry';
const ROUTES = [createRetry, getRetry, listAttempts, getCallbackStatus, cancelRetry, getUsage];

export const retry = defineModule({
  tag: TAG,
  summary: 'Requests that are sent until they work, with a signed event at the end',
  guide: GUIDE,
  settings: RETRY_SETTINGS,
  routes: ROUTES,
  open({ config, surface, clock, random, timers, retryStore: store, outbound, stateKey, onFailure, ...shared }) {
    const { accounts, bodies, paid, rateLimits, shedding } = shared;
    const { baseUrl } = surface.mount;
    const meter = new RetryMeter();
    const sealer = new Sealer(stateKey, random);
    const worker = new RetryWorker({
      store,
      outbound,
      sealer,
      clock,
      random,
      timers,
      meter,
      onFailure: (failure) => onFailure(failure, 'retries'),
    });
    const retries = new Retries({ store, sealer, clock, random, timers, worker });
    const services: RetryServices = {
      accounts,
      bodies,
      paid,
      shedding,
      outbound,
      retries,
      baseUrl,
      clientRate: openClientRate(rateLimits, 'retry by client', config.rateLimitPerMinute),
      keyRate: openClientRate(rateLimits, KEY_RATE_NAME, config.keyRateLimitPerMinute),
      uncharged: openUncharged(rateLimits, 'retry'),
      repeatedAnswer: (job) => JSON.stringify(createdOf(job, NO_SECRETS, baseUrl)),
    };
    return {
      operations: bind(TAG, ROUTES, services),
      metrics: (page) => meter.write(page, worker.dueCount),
      start: () => worker.start(),
      drain: () => worker.drain(),
      close: () => worker.close(),
    };
  },
});
