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
import { apiCatalog, apiCatalogHead } from './service/api-catalog.ts';
import { health } from './service/health.ts';
import { llms } from './service/llms.ts';
import { metrics } from './service/metrics.ts';
import { openApi } from './service/openapi.ts';
import { ready } from './service/ready.ts';
import type { ServiceServices } from './service/services.ts';
import { x402Listing } from './service/x402-listing.ts';

/** What each tag stands for. */
export const TAGS = {
  jobs: 'Answers about hiring, each for one payment',
  callbacks: 'Webhook addresses for ten minutes; only their creation is paid',
  payments: 'What became of a payment, free',
  service: 'The server about itself, free',
} as const;

const tagged = <S>(tag: keyof typeof TAGS, routes: readonly Route<S>[]): readonly Route<S>[] =>
  routes.map((route) => ({ ...route, tag }));

export const JOBS_ROUTES = tagged<JobsServices>('jobs', [searchJobs, summarizeCompany, findSignals]);
export const CALLBACK_ROUTES = tagged<CallbackServices>('callbacks', [
  createCallback,
  postWebhook,
  putWebhook,
  patchWebhook,
  waitForEvent,
  listEvents,
  rawEvent,
  deleteCallback,
]);
export const PAYMENT_ROUTES = tagged<PaymentServices>('payments', [paymentStatus]);
export const SERVICE_ROUTES = tagged<ServiceServices>('service', [
  health,
  ready,
  metrics,
  openApi,
  x402Listing,
  apiCatalog,
  apiCatalogHead,
  llms,
]);

/** All of them, for those who read declarations and call no handler. */
export const EVERY_ROUTE = [
  ...JOBS_ROUTES,
  ...CALLBACK_ROUTES,
  ...PAYMENT_ROUTES,
  ...SERVICE_ROUTES,
] as readonly Route[];
