/** All components together: lifecycle, readiness and the page of metrics of the whole server. */
import { processFacts } from '../adapters/process/process-facts.ts';
import type { Clock } from '../base/clock.ts';
import { Exposition } from '../base/prometheus.ts';
import { API_VERSION, VERSION } from '../base/version.ts';
import type { OperationMeter } from '../http/meter.ts';
import type { Component, ServerView, SurfaceView } from '../modules/module.ts';

/** The route is free and open, and a page takes about a millisecond: many scrapes must not slow down other requests. */
const PAGES_PER_SECOND = 50;

export class Server implements ServerView {
  readonly version = VERSION;
  readonly apiVersion = API_VERSION;
  readonly componentNames: readonly string[];
  readonly #clock: Clock;
  readonly #onFailure: (failure: unknown) => void;
  readonly #processFacts = processFacts();
  #lastPage = { second: -1, count: 0, text: '' };
  readonly #startedMs: number;
  /** In the order of opening. */
  readonly #components: Component[] = [];
  readonly #meters: OperationMeter[] = [];
  readonly #otherSurfaces: SurfaceView[] = [];
  #isLeaving = false;
  #closing: Promise<void> | undefined;

  /** @param onFailure receives what components throw at shutdown; must not throw */
  constructor(clock: Clock, componentNames: readonly string[], onFailure: (failure: unknown) => void) {
    this.componentNames = componentNames;
    this.#clock = clock;
    this.#onFailure = onFailure;
    this.#startedMs = clock.monotonicMs();
  }

  add(component: Component): void {
    this.#components.push(component);
  }

  measure(meters: readonly OperationMeter[]): void {
    this.#meters.push(...meters);
  }

  /** A surface beside the base, for the base's documents. */
  publish(surface: SurfaceView): void {
    this.#otherSurfaces.push(surface);
  }

  // Arrow functions, because handlers call these without the object.
  readonly otherSurfaces = (): readonly SurfaceView[] => this.#otherSurfaces;

  /** From now on `/ready` says that the process wants no new work; everything is still served. */
  leave(): void {
    this.#isLeaving = true;
  }

  readonly isLeaving = (): boolean => this.#isLeaving;

  readonly uptimeMs = (): number => this.#clock.monotonicMs() - this.#startedMs;

  /** A name that several components report is ready when all of them are. */
  readonly readiness = (): Readonly<Record<string, boolean>> => {
    const all: Record<string, boolean> = {};
    for (const { readiness } of this.#components) {
      for (const [name, isReady] of Object.entries(readiness?.() ?? {})) all[name] = isReady && (all[name] ?? true);
    }
    return all;
  };

  /** The page of `/metrics`, made at most PAGES_PER_SECOND times a second; further scrapes get the last one of that second. */
  readonly metricsText = (): string => {
    const second = Math.floor(this.#clock.monotonicMs() / 1000);
    if (second !== this.#lastPage.second) this.#lastPage = { second, count: 0, text: '' };
    if (this.#lastPage.count < PAGES_PER_SECOND) {
      this.#lastPage.text = this.#metricsPage();
      this.#lastPage.count++;
    }
    return this.#lastPage.text;
  };

  #metricsPage(): string {
    const page = new Exposition();
    this.#writeRequests(page);
    for (const { metrics } of this.#components) metrics?.(page);
    page.family('paygrade_ready', 'gauge', 'Whether a component can do its part of paid work, as in /ready.');
    for (const [component, isReady] of Object.entries(this.readiness())) page.sample(isReady ? 1 : 0, { component });
    this.#writeProcess(page);
    return page.text;
  }

  /** @throws Error for readiness under a name that its module does not list; passes on the errors of components */
  start(): void {
    const unlisted = Object.keys(this.readiness()).find((name) => !this.componentNames.includes(name));
    if (unlisted !== undefined) throw new Error(`a module reports the readiness of ${unlisted} but does not list it`);
    for (const { start } of this.#components) start?.();
  }

  drain(): void {
    for (const { drain } of this.#components) {
      try {
        drain?.();
      } catch (failure) {
        this.#onFailure(failure);
      }
    }
  }

  /** Closes the components, last opened first, even when one fails. Every call waits for all. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    for (const { close } of this.#components.splice(0).reverse()) {
      try {
        await close?.();
      } catch (failure) {
        this.#onFailure(failure);
      }
    }
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
    const facts = this.#processFacts?.();
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
