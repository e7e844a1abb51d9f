/** Every operation of the server, by the services that its handlers are given. A new one is listed here and nowhere else. */

import type { Route } from '../http/route.ts';
import { createCallback } from './callbacks/create.ts';
import { deleteCallback } from './callbacks/delete.ts';
import { listEvents } from './callbacks/events.ts';
import { rawEvent } from './callbacks/raw-event.ts';
import type { CallbackServices } from './callbacks/services.ts';
import { waitForEvent } from './callbacks/wait.ts';
import { patchWebhook, postWebhook, putWebhook } from './callbacks/webhook.ts';
import { summarizeCompany } from './jobs/company.ts';
import type { JobsServices } from './jobs/envelope.ts';
import { searchJobs } from './jobs/search.ts';
import { findSignals } from './jobs/signals.ts';
import type { PaymentServices } from './payments/services.ts';
import { paymentStatus } from './payments/status.ts';
import { health } from './service/health.ts';
import { openApi } from './service/openapi.ts';
import { ready } from './service/ready.ts';
import type { ServiceServices } from './service/services.ts';

export const JOBS_ROUTES: readonly Route<JobsServices>[] = [searchJobs, summarizeCompany, findSignals];
export const CALLBACK_ROUTES: readonly Route<CallbackServices>[] = [
  createCallback,
  postWebhook,
  putWebhook,
  patchWebhook,
  waitForEvent,
  listEvents,
  rawEvent,
  deleteCallback,
];
export const PAYMENT_ROUTES: readonly Route<PaymentServices>[] = [paymentStatus];
export const SERVICE_ROUTES: readonly Route<ServiceServices>[] = [health, ready, openApi];
