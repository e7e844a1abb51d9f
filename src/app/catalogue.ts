/** The catalogue as a component: readiness, metrics, reloads, also at intervals. */
import type { Clock } from '../base/clock.ts';
import { firstLineOf, messageOf } from '../base/failure.ts';
import type { Exposition } from '../base/prometheus.ts';
import type { Timers } from '../base/timers.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { CatalogueHolder, type CatalogueSource } from '../catalogue/holder.ts';
import { reachOf } from '../catalogue/questions/reach.ts';
import { SnapshotChangedError, SnapshotError } from '../catalogue/snapshot/snapshot-error.ts';
import type { Component } from '../modules/module.ts';

export interface OpenCatalogue {
  readonly holder: CatalogueHolder;
  readonly component: Component;
}

const secondsSince = (thenMs: number, nowMs: number): number => (nowMs - thenMs) / 1000;

function writeReach(page: Exposition, { snapshot }: Catalogue): void {
  const reach = reachOf(snapshot);
  page
    .family(
      'paygrade_reachable_jobs_ratio',
      'gauge',
      'Share of the active jobs with a domain of their company, and in the cohort.',
    )
    .sample(reach.domainShare, { by: 'company_domain' })
    .sample(reach.cohortShare, { by: 'cohort' });
  page.single(
    'paygrade_observation_days',
    'gauge',
    'UTC days on which the active jobs were last observed.',
    reach.observationDays,
  );
}

function writeFacts(page: Exposition, holder: CatalogueHolder, nowMs: number): void {
  const catalogue = holder.current()?.catalogue;
  if (catalogue === undefined) return;
  const { snapshot, cohort } = catalogue;
  const { newestObservedMs, oldestObservedMs, candidateJobs } = cohort.facts;
  const { activeCount, rowCount, companyCount, facts } = snapshot;
  const ageSeconds = secondsSince(facts.builtAtMs, nowMs);
  page
    .family('paygrade_catalogue_jobs', 'gauge', 'Jobs of the catalogue by status.')
    .sample(activeCount, { status: 'active' })
    .sample(rowCount - activeCount, { status: 'closed' })
    .single('paygrade_catalogue_companies', 'gauge', 'Companies of the catalogue.', companyCount)
    .single('paygrade_snapshot_age_seconds', 'gauge', 'Time since the catalogue was built.', ageSeconds)
    .single('paygrade_cohort_jobs', 'gauge', 'Jobs of the candidate cohort.', candidateJobs);
  writeReach(page, catalogue);
  if (newestObservedMs === null || oldestObservedMs === null) return;
  page
    .family('paygrade_cohort_age_seconds', 'gauge', 'Time since the newest and the oldest observation of the cohort.')
    .sample(secondsSince(newestObservedMs, nowMs), { observation: 'newest' })
    .sample(secondsSince(oldestObservedMs, nowMs), { observation: 'oldest' });
}

export interface CatalogueOptions {
  /** False where the operator configured no catalogue. */
  readonly isExpected: boolean;
  /** How often the catalogue is loaded again by itself; undefined = it is not. */
  readonly pollMs: number | undefined;
}

export interface CataloguePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** A poll gave a new catalogue, which is served (undefined), or failed (one line; not twice in a row with the same line). */
  onCatalogue?(fault: string | undefined): void;
  /**
   * Called once with one line when the start's catalogue turns out to be damaged, or cannot be checked, after it is served:
   * nothing may be answered from it any more. Not given: the start checks all of it first and fails on damage.
   */
  onDamagedCatalogue?(reason: string): void;
  /**
   * Called with a failure that proves no damage: a bug or a disk read error. If it stopped the check, `onDamagedCatalogue`
   * follows.
   */
  onFailure(failure: unknown, source: string): void;
}

/** Reloads at intervals, and at once while nothing is served yet. One reload at a time. */
class Polling {
  readonly #holder: CatalogueHolder;
  readonly #pollMs: number;
  readonly #ports: CataloguePorts;
  #cancel: (() => void) | undefined;
  #isStopped = false;
  #fault: string | undefined;

  constructor(holder: CatalogueHolder, pollMs: number, ports: CataloguePorts) {
    this.#holder = holder;
    this.#pollMs = pollMs;
    this.#ports = ports;
  }

  /** @param isAwaited true: the start left a download in flight, so poll at once to await it */
  start(isAwaited: boolean): void {
    if (isAwaited || this.#holder.current() === undefined) void this.#poll();
    else this.#wait();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #wait(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#ports.timers.after(this.#pollMs, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    const before = this.#holder.current();
    let fault: string | undefined;
    try {
      await this.#holder.reload();
    } catch (failure) {
      fault = messageOf(failure);
    }
    const isNews = fault === undefined ? this.#holder.current() !== before : fault !== this.#fault;
    this.#fault = fault;
    if (isNews && !this.#isStopped) this.#ports.onCatalogue?.(fault);
    this.#wait();
  }
}

/** Time for the requests that waited for the start; the parts that they need are checked and built on demand. */
const FINISH_AFTER_MS = 500;

/**
 * Checks what the start left unchecked of its catalogue, then warms it: one part in each turn of the loop, so that requests
 * run in between. Ends when another catalogue is served. Never rejects. A part that cannot be warmed also fails for the
 * question that needs it.
 */
async function finishInTurns(holder: CatalogueHolder, ports: CataloguePorts): Promise<void> {
  const first = holder.current()?.catalogue;
  if (first === undefined) return;
  let isChecked = false;
  const steps = (function* () {
    yield* first.snapshot.checking();
    isChecked = true;
    yield* first.warming();
  })();
  try {
    while (holder.current()?.catalogue === first && steps.next().done === false) await new Promise(setImmediate);
  } catch (failure) {
    if (failure instanceof SnapshotChangedError) return; // questions report it themselves
    if (failure instanceof SnapshotError) return ports.onDamagedCatalogue?.(failure.message);
    ports.onFailure(failure, 'catalogue');
    if (!isChecked) ports.onDamagedCatalogue?.(`the catalogue cannot be checked: ${firstLineOf(failure)}`);
  }
}

/** @throws SnapshotError when the catalogue cannot be used */
export function openCatalogue(
  source: CatalogueSource,
  { isExpected, pollMs }: CatalogueOptions,
  ports: CataloguePorts,
): OpenCatalogue {
  const { clock, timers } = ports;
  const reloads = { done: 0, unchanged: 0, failed: 0 };
  const holder = new CatalogueHolder({
    load: () => source.load(),
    async reload() {
      try {
        const served = await source.reload();
        reloads[served === 'unchanged' ? 'unchanged' : 'done']++;
        return served;
      } catch (failure) {
        reloads.failed++;
        throw failure;
      }
    },
    discard: (catalogue) => source.discard(catalogue),
    close: () => source.close(),
  });
  let cancelFinishing = (): void => {};
  const polling = pollMs === undefined ? undefined : new Polling(holder, pollMs, ports);
  return {
    holder,
    component: {
      readiness: () => ({ snapshot: holder.isReadable() ?? !isExpected }),
      metrics(page) {
        page
          .family('paygrade_catalogue_reloads_total', 'counter', 'Reloads of the catalogue by result.')
          .sample(reloads.done, { result: 'done' })
          .sample(reloads.unchanged, { result: 'unchanged' })
          .sample(reloads.failed, { result: 'failed' });
        writeFacts(page, holder, clock.nowMs());
      },
      start() {
        cancelFinishing = timers.after(FINISH_AFTER_MS, () => void finishInTurns(holder, ports));
        polling?.start(source.isAwaited?.() ?? false);
      },
      drain() {
        cancelFinishing();
        polling?.stop();
      },
      close: () => holder.close(),
    },
  };
}
