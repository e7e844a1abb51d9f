/**
 * Joins what the parts have counted into one page for Prometheus (decisions §6). Nothing is read before somebody asks; no
 * label has a value that comes from a request, so the number of series is fixed by the declarations.
 */

import { PAYMENT_OUTCOMES, type PaymentTally } from '../access/payment-tally.ts';
import type { ProcessFacts } from '../adapters/process/process-facts.ts';
import { Exposition } from '../base/prometheus.ts';
import type { Callbacks } from '../callback/callbacks.ts';
import type { OperationMeter } from '../http/meter.ts';
import type { Readiness } from '../modules/service/services.ts';
import type { Resolution } from '../payment/settlement/reconciler.ts';
import type { Backend } from '../storage/backend.ts';
import { VERSION } from '../version.ts';
import type { CatalogueHolder } from './catalogue-holder.ts';
import type { OpenTill } from './till.ts';

/** How a settlement of unknown outcome ended, or that its end could not be recorded yet. */
export const RECOVERIES = ['settled', 'released', 'dead', 'unrecorded'] as const satisfies Resolution['kind'][];

export interface Measured {
  readonly meters: readonly OperationMeter[];
  readonly tallies: readonly PaymentTally[];
  readonly recoveries: Readonly<Record<Resolution['kind'], number>>;
  readonly reloads: { readonly done: number; readonly failed: number };
  readonly till: Pick<OpenTill, 'counts'>;
  readonly callbacks: Pick<Callbacks, 'counts' | 'capacity'>;
  readonly shelf: Pick<CatalogueHolder, 'current'>;
  readonly backend: Pick<Backend, 'commits'>;
  /** Operations whose success stores an event. */
  readonly webhookOperations: ReadonlySet<string>;
  readonly readiness: Readiness;
  readonly process: ProcessFacts | undefined;
  readonly uptimeSeconds: number;
  readonly nowMs: number;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function writeRequests(page: Exposition, meters: readonly OperationMeter[]): void {
  page.family('paygrade_requests_total', 'counter', 'Requests by operation and status.');
  for (const meter of meters) meter.writeStatuses(page);
  page.family('paygrade_refusals_total', 'counter', 'Refused requests by operation and error code.');
  for (const meter of meters) meter.writeCodes(page);
  page.family('paygrade_request_duration_seconds', 'histogram', 'Time to the answer; a wait is one long request.');
  for (const meter of meters) meter.writeLatencies(page);
}

function writePayments(page: Exposition, { tallies, recoveries, till }: Measured): void {
  page.family('paygrade_payments_total', 'counter', 'What became of requests to paid operations, by outcome.');
  for (const { operation, counts } of tallies) {
    for (const outcome of PAYMENT_OUTCOMES) page.sample(counts[outcome], { operation, outcome });
  }
  page.family('paygrade_payment_recoveries_total', 'counter', 'Settlements of unknown outcome by how they ended.');
  for (const end of RECOVERIES) page.sample(recoveries[end], { end });
  const { unknown, reservations } = till.counts();
  const inFlight = sum(tallies.map(({ inFlightCount }) => inFlightCount));
  page
    .single('paygrade_settlements_in_flight', 'gauge', 'Settlements that have not answered yet.', inFlight)
    .single('paygrade_settlements_unknown', 'gauge', 'Settlements whose end is not known or not recorded.', unknown)
    .single('paygrade_reservations', 'gauge', 'Authorizations that are remembered, used or in use.', reservations);
}

function writeCallbacks(page: Exposition, { callbacks, meters, webhookOperations }: Measured): void {
  const { live, tombstones, waits } = callbacks.counts;
  const { claimedBytes, capacityBytes } = callbacks.capacity;
  const webhooks = meters.filter(({ operation }) => webhookOperations.has(operation));
  page
    .single('paygrade_callbacks_live', 'gauge', 'Callbacks within their lifetime.', live)
    .single('paygrade_callbacks_expired', 'gauge', 'Expired callbacks that are still told apart.', tombstones)
    .single('paygrade_callback_waits', 'gauge', 'Requests that wait for an event.', waits)
    .single('paygrade_callback_claimed_bytes', 'gauge', 'Bytes that live callbacks may come to hold.', claimedBytes)
    .single('paygrade_callback_capacity_bytes', 'gauge', 'Bytes that callbacks may claim.', capacityBytes)
    .single(
      'paygrade_events_stored_total',
      'counter',
      'Webhooks stored.',
      sum(webhooks.map((meter) => meter.countOf(200))),
    );
}

function writeCatalogue(page: Exposition, { shelf, reloads, nowMs }: Measured): void {
  page
    .family('paygrade_catalogue_reloads_total', 'counter', 'Times that the catalogue was taken anew, by result.')
    .sample(reloads.done, { result: 'done' })
    .sample(reloads.failed, { result: 'failed' });
  const catalogue = shelf.current()?.catalogue;
  if (catalogue === undefined) return;
  const { snapshot, cohort } = catalogue;
  const { newestObservedMs, oldestObservedMs, candidateJobs } = cohort.facts;
  page
    .family('paygrade_catalogue_jobs', 'gauge', 'Jobs of the catalogue by status.')
    .sample(snapshot.activeCount, { status: 'active' })
    .sample(snapshot.rowCount - snapshot.activeCount, { status: 'closed' })
    .single('paygrade_catalogue_companies', 'gauge', 'Companies of the catalogue.', snapshot.companyCount)
    .single(
      'paygrade_snapshot_age_seconds',
      'gauge',
      'Time since the catalogue was built.',
      secondsSince(snapshot.facts.builtAtMs, nowMs),
    )
    .single('paygrade_cohort_jobs', 'gauge', 'Jobs of the candidate cohort.', candidateJobs);
  if (newestObservedMs === null || oldestObservedMs === null) return;
  page
    .family('paygrade_cohort_age_seconds', 'gauge', 'Time since the newest and the oldest observation of the cohort.')
    .sample(secondsSince(newestObservedMs, nowMs), { observation: 'newest' })
    .sample(secondsSince(oldestObservedMs, nowMs), { observation: 'oldest' });
}

const secondsSince = (thenMs: number, nowMs: number): number => (nowMs - thenMs) / 1000;

function writeState(page: Exposition, { backend, readiness }: Measured): void {
  const { batchCount, operationCount } = backend.commits();
  page
    .single('paygrade_state_commits_total', 'counter', 'Transactions of the durable state.', batchCount)
    .single('paygrade_state_operations_total', 'counter', 'Records written in them.', operationCount)
    .family('paygrade_ready', 'gauge', 'Whether a component can do its part of paid work, as in /ready.');
  for (const component of ['snapshot', 'state', 'settlement'] as const) {
    page.sample(readiness[component] ? 1 : 0, { component });
  }
}

function writeProcess(page: Exposition, { process, uptimeSeconds, nowMs }: Measured): void {
  page
    .family('paygrade_build_info', 'gauge', 'Always 1; what is running.')
    .sample(1, { version: VERSION, runtime: process?.runtime ?? 'unknown' })
    .single('paygrade_uptime_seconds', 'gauge', 'Time since the start.', uptimeSeconds)
    .single('process_start_time_seconds', 'gauge', 'Start, seconds since 1970.', nowMs / 1000 - uptimeSeconds);
  if (process === undefined) return;
  page
    .single('process_resident_memory_bytes', 'gauge', 'Memory that the process holds.', process.residentBytes)
    .single('process_heap_bytes', 'gauge', 'Heap that is in use.', process.heapUsedBytes)
    .single('process_cpu_seconds_total', 'counter', 'Processor time, user and system.', process.cpuSeconds);
}

export function metricsText(measured: Measured): string {
  const page = new Exposition();
  writeRequests(page, measured.meters);
  writePayments(page, measured);
  writeCallbacks(page, measured);
  writeCatalogue(page, measured);
  writeState(page, measured);
  writeProcess(page, measured);
  return page.text;
}
