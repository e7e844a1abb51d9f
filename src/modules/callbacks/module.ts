/** The callbacks module: temporary webhook receivers. Only creation is paid. */
import { openClientRate } from '../../access/rate-limit.ts';
import type { Exposition } from '../../base/prometheus.ts';
import type { Callbacks } from '../../callback/callbacks.ts';
import { bind } from '../../http/operation.ts';
import { defineModule } from '../module.ts';
import { createCallback } from './create.ts';
import { deleteCallback } from './delete.ts';
import { listEvents } from './events.ts';
import { rawEvent } from './raw-event.ts';
import type { CallbackCounters, CallbackServices } from './services.ts';
import { CALLBACK_SETTINGS } from './settings.ts';
import { waitForEvent } from './wait.ts';
import { patchWebhook, postWebhook, putWebhook } from './webhook.ts';

const CREATION = [createCallback];
const WEBHOOKS = [postWebhook, putWebhook, patchWebhook];
const READING = [waitForEvent, listEvents, rawEvent, deleteCallback];

function writeMetrics(page: Exposition, { counts, capacity }: Callbacks, { eventsStored }: CallbackCounters): void {
  const { live, tombstones, waits } = counts;
  const { claimedBytes, capacityBytes } = capacity;
  page
    .single('paygrade_callbacks_live', 'gauge', 'Callbacks within their lifetime.', live)
    .single('paygrade_callbacks_expired', 'gauge', 'Expired callbacks that still answer 410.', tombstones)
    .single('paygrade_callback_waits', 'gauge', 'Requests that wait for an event.', waits)
    .single('paygrade_callback_claimed_bytes', 'gauge', 'Bytes that live callbacks claim.', claimedBytes)
    .single('paygrade_callback_capacity_bytes', 'gauge', 'Bytes that callbacks may claim.', capacityBytes)
    .single('paygrade_events_stored_total', 'counter', 'Webhooks stored.', eventsStored);
}

export const callbacks = defineModule({
  tag: 'callbacks',
  summary: 'Webhook addresses for ten minutes; only creating one is paid',
  settings: CALLBACK_SETTINGS,
  routes: [...CREATION, ...WEBHOOKS, ...READING],
  open({ config, callbacks, paid, shedding, rateLimits, bodies, hookBaseUrl, surface }) {
    const { baseUrl } = surface.mount;
    const counters: CallbackCounters = { eventsStored: 0 };
    const clientRate = openClientRate(rateLimits, 'callbacks by client', config.callbackLimitPerMinute);
    const shared = { callbacks, paid, shedding, clientRate, bodies, counters };
    const services: CallbackServices = { ...shared, baseUrl, hookBaseUrl };
    return {
      operations: [
        ...bind('callbacks', CREATION, services),
        ...bind('callbacks', WEBHOOKS, services, hookBaseUrl),
        ...bind('callbacks', READING, services),
      ],
      metrics: (page) => writeMetrics(page, callbacks, counters),
      drain: () => callbacks.drain(),
    };
  },
});
