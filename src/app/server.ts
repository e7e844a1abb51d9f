/** All components together: lifecycle, readiness and the page of metrics of the whole server. */
import { processFacts } from '../adapters/process/process-facts.ts';
import type { Clock } from '../base/clock.ts';
import { Exposition } from '../base/prometheus.ts';
import { API_VERSION, VERSION } from '../base/version.ts';
import type { OperationMeter } from '../http/meter.ts';
import type { Component, ServerView } from '../modules/module.ts';

export class Server implements ServerView {
  readonly version = VERSION;
  readonly apiVersion = API_VERSION;
  readonly #clock: Clock;
  readonly #startedMs: number;
  /** In the order of opening. */
  readonly #components: Component[] = [];
  readonly #meters: OperationMeter[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
  }

  add(component: Component): void {
    this.#components.push(component);
  }

  measure(meters: readonly OperationMeter[]): void {
    this.#meters.push(...meters);
  }

  // Handlers take these without their object.
  readonly uptimeMs = (): number => this.#clock.monotonicMs() - this.#startedMs;

  readonly readiness = (): Readonly<Record<string, boolean>> =>
    Object.assign({}, ...this.#components.map(({ readiness }) => readiness?.()));

  readonly metricsText = (): string => {
    const page = new Exposition();
    this.#writeRequests(page);
    for (const { metrics } of this.#components) metrics?.(page);
    page.family('paygrade_ready', 'gauge', 'Whether a component can do its part of paid work, as in /ready.');
    for (const [component, isReady] of Object.entries(this.readiness())) page.sample(isReady ? 1 : 0, { component });
    this.#writeProcess(page);
    return page.text;
  };

  start(): void {
    for (const { start } of this.#components) start?.();
  }

  drain(): void {
    for (const { drain } of this.#components) drain?.();
  }

  /** Closes the components, last opened first. */
  async close(): Promise<void> {
    for (const { close } of this.#components.splice(0).reverse()) await close?.();
  }

  #writeRequests(page: Exposition): void {
    page.family('paygrade_requests_total', 'counter', 'Requests by operation and status.');
    for (const meter of this.#meters) meter.writeStatuses(page);
    page.family('paygrade_refusals_total', 'counter', 'Refused requests by operation and error code.');
    for (const meter of this.#meters) meter.writeCodes(page);
    page.family('paygrade_request_duration_seconds', 'histogram', 'Time to the answer; a wait is one long request.');
    for (const meter of this.#meters) meter.writeLatencies(page);
  }

  #writeProcess(page: Exposition): void {
    const facts = processFacts();
    const uptimeSeconds = this.uptimeMs() / 1000;
    const startedSeconds = this.#clock.nowMs() / 1000 - uptimeSeconds;
    page
      .family('paygrade_build_info', 'gauge', 'Always 1; what is running.')
      .sample(1, { version: VERSION, runtime: facts?.runtime ?? 'unknown' })
      .single('paygrade_uptime_seconds', 'gauge', 'Time since the start.', uptimeSeconds)
      .single('process_start_time_seconds', 'gauge', 'Start, seconds since 1970.', startedSeconds);
    if (facts === undefined) return;
    page
      .single('process_resident_memory_bytes', 'gauge', 'Memory that the process holds.', facts.residentBytes)
      .single('process_heap_bytes', 'gauge', 'Heap that is in use.', facts.heapUsedBytes)
      .single('process_cpu_seconds_total', 'counter', 'Processor time, user and system.', facts.cpuSeconds);
  }
}
