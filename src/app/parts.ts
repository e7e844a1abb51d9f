/**
 * Opens the parts that modules share, in the order of their dependencies: signature verification and stores, the catalogue,
 * payments. Ports that are not given default to what the settings name.
 */

import { JobsServices } from '../adapters/engine/jobs-services.ts';
import { ThreadExtractor } from '../adapters/extraction/thread-extractor.ts';
import type { FacilitatorFetch } from '../adapters/facilitator/facilitator-http.ts';
import type { RepeatedTransaction } from '../adapters/facilitator/facilitator-signals.ts';
import type { Support } from '../adapters/facilitator/facilitator-support.ts';
import { catalogueSource, isWebAddress, NO_CATALOGUE, type SourcePorts } from '../adapters/files/catalogue-source.ts';
import { openVerification } from '../adapters/verification/open-verification.ts';
import type { Clock } from '../base/clock.ts';
import { DAY_MS } from '../base/durations.ts';
import type { Random } from '../base/random.ts';
import type { Timers } from '../base/timers.ts';
import type { CatalogueSource } from '../catalogue/holder.ts';
import type { RemoteCatalogue } from '../catalogue/remote-catalogue.ts';
import { SnapshotError } from '../catalogue/snapshot/snapshot-error.ts';
import { ConfigError } from '../config/config.ts';
import { IN_MEMORY } from '../config/settings.ts';
import type { Component } from '../modules/module.ts';
import type { CaseReport } from '../payment/settlement/reconciler.ts';
import type { RecoveryWorker } from '../payment/signature/recovery-queue.ts';
import type { Extractor } from '../resolve/work.ts';
import type { Backend, BackendPorts } from '../storage/backend.ts';
import { type OpenBackendOptions, openBackend } from '../storage/open-backend.ts';
import { keptStateKey } from '../storage/state-key.ts';
import { type CatalogueOptions, type OpenCatalogue, openCatalogue } from './catalogue.ts';
import type { Config } from './configuration.ts';
import { type OpenPayments, openPayments } from './payments.ts';
import type { Server } from './server.ts';

/** The environment of the parts. Tests pass the optional ports to control disk, network and threads. */
export interface PartsPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  /** Calls the facilitator, in place of the runtime's `fetch`. */
  readonly facilitatorFetch?: FacilitatorFetch | undefined;
  /** Recovers signatures, in place of the configured threads. */
  readonly recoveryWorker?: RecoveryWorker | undefined;
  /** Opens the stores, in place of the configured folder. */
  readonly openBackend?: ((options: OpenBackendOptions, ports: BackendPorts) => Promise<Backend>) | undefined;
  /** Reads documents, in place of threads. */
  readonly extractor?: Extractor | undefined;
  /** True: signature recovery starts with the app, rather than at first use or a moment later. */
  readonly startsAtOnce: boolean;
  /** The catalogue, in place of the configured file. */
  readonly catalogueSource?: CatalogueSource | undefined;
  /** Called with a failure in the background, where no request waits for it; `source` names the part. */
  onFailure(failure: unknown, source: string): void;
  /** Called with each report of the reconciler. */
  onCaseReport(report: CaseReport): void;
  /** The facilitator became reachable or unreachable. */
  onFacilitatorReachable?(isReachable: boolean): void;
  /** Called once with what the facilitator says it settles. */
  onFacilitatorSupport?(support: Support): void;
  /** An authorization was settled with the transaction of another. */
  onRepeatedTransaction?(repeated: RepeatedTransaction): void;
  /** The state became unwritable (why, one line) or writable again (undefined). */
  onStateFault?(fault: string | undefined): void;
  /** A poll of the catalogue's address gave a new catalogue, which is served (undefined), or failed (why, one line). */
  onCatalogue?(fault: string | undefined): void;
  /** At start the address gave no catalogue, or the stored copy of it cannot be served or written (one line). */
  onSnapshotFault?(fault: string): void;
  /**
   * The start's catalogue turns out to be damaged, or cannot be checked (why, one line), after it is served. Not given: the
   * start checks all of it first and fails on damage.
   */
  onDamagedCatalogue?(reason: string): void;
  /** A jobs service became unreachable (why, one line) or reachable again (undefined). */
  onJobsService?(url: string, fault: string | undefined): void;
  /** A verification thread died (why, one line) or works again (undefined). */
  onVerificationFault?(fault: string | undefined): void;
}

export interface Parts {
  readonly backend: Backend;
  readonly catalogue: OpenCatalogue;
  /** The jobs services of a gate. */
  readonly remoteCatalogue: RemoteCatalogue | undefined;
  /** 32 secret bytes, the same after a restart. */
  readonly stateKey: Uint8Array;
  readonly payments: OpenPayments;
  readonly extractor: Extractor;
  /** Starts signature recovery. Resolves with notices for the operator. Never rejects. */
  readonly startVerification: () => Promise<readonly string[]>;
  /** Notices for the operator at start, one line each. */
  readonly notices: readonly string[];
}

function stateComponent(backend: Backend): Component {
  return {
    readiness: () => ({ state: backend.fault() === undefined }),
    start: () => backend.start?.(),
    metrics(page) {
      const { batchCount, operationCount } = backend.commits();
      page
        .single('paygrade_state_commits_total', 'counter', 'Transactions of the durable state.', batchCount)
        .single('paygrade_state_operations_total', 'counter', 'Records written in them.', operationCount);
    },
    drain: () => backend.drain(),
    close: () => backend.close(),
  };
}

function openExtractor({ clock, timers, onFailure }: PartsPorts, server: Server): Extractor {
  const extractor = new ThreadExtractor({
    clock,
    timers,
    onFailure: (detail) => onFailure(new Error(detail), 'extraction'),
  });
  server.add({ metrics: (page) => extractor.writeMetrics(page), close: () => extractor.close() });
  return extractor;
}

const sourcePorts = ({ snapshotCache, stateDir }: Config, ports: PartsPorts): SourcePorts => ({
  clock: ports.clock,
  timers: ports.timers,
  folder: snapshotCache ?? (stateDir === IN_MEMORY ? null : stateDir),
  onFault: (fault) => ports.onSnapshotFault?.(fault),
  checksLater: ports.onDamagedCatalogue !== undefined,
});

/** Opens a gate's client of its jobs services. The gate's catalogue is ready when theirs is. */
function openRemoteCatalogue(config: Config, ports: PartsPorts, server: Server) {
  const { engineUrl, engineToken, engineTimeoutMs } = config;
  if (engineUrl === null || engineToken === null) return undefined;
  const services = new JobsServices({
    urls: engineUrl,
    token: engineToken,
    timeoutMs: engineTimeoutMs,
    clock: ports.clock,
    timers: ports.timers,
    onService: (url, fault) => ports.onJobsService?.(url, fault),
  });
  server.add({
    readiness: () => ({ snapshot: services.isReady() }),
    metrics: (page) => services.metrics(page),
    start: () => services.start(),
    close: () => services.close(),
  });
  return services;
}

/** @throws ConfigError when processes that share a database would each have a different key */
function requireSharedKey({ databaseUrl, stateKey }: Config): void {
  if (databaseUrl === null || stateKey !== null) return;
  throw new ConfigError(
    'STATE_KEY is required with DATABASE_URL, the same for all processes; `openssl rand -base64 32` makes one',
  );
}

/** @throws SnapshotError whose line names the setting, when the catalogue cannot be used */
function openCatalogueOfSetting(source: CatalogueSource, options: CatalogueOptions): OpenCatalogue {
  try {
    return openCatalogue(source, options);
  } catch (failure) {
    if (!(failure instanceof SnapshotError)) throw failure;
    throw new SnapshotError(`SNAPSHOT ${failure.message}`, { cause: failure });
  }
}

/**
 * @param server receives each part as a component, as soon as it is open
 * @throws SnapshotError, StateError, ConfigError or Error with one line when one cannot be opened
 */
export async function openParts(config: Config, ports: PartsPorts, server: Server): Promise<Parts> {
  requireSharedKey(config);
  const { clock, random, timers } = ports;
  const loading = ports.catalogueSource ?? catalogueSource(config.snapshot, sourcePorts(config, ports));
  const verification = openVerification(config, {
    clock,
    timers,
    recoveryWorker: ports.recoveryWorker,
    onFault: (fault) => ports.onVerificationFault?.(fault),
  });
  server.add({ close: () => verification.close() });
  const stateDir = config.stateDir === IN_MEMORY ? undefined : config.stateDir;
  const backend = await (ports.openBackend ?? openBackend)(
    {
      databaseUrl: config.databaseUrl ?? undefined,
      stateKey: config.stateKey ?? undefined,
      stateDir,
      sync: config.stateSync,
      mayReset: config.stateReset,
      salesKeptMs: config.salesDays * DAY_MS,
      callbackBytes: config.callbackBytes,
      play: config.settlement === 'local' ? { openingAtomic: config.localBalance } : undefined,
    },
    {
      clock,
      random,
      timers,
      onFault: (fault) => ports.onStateFault?.(fault),
      onCallbackFault: (fault) => ports.onFailure(fault, 'callbacks'),
    },
  );
  server.add(stateComponent(backend));
  const source = await loading;
  await source.prepare?.();
  const catalogue = openCatalogueOfSetting(source, {
    clock,
    timers,
    isExpected: config.snapshot !== NO_CATALOGUE,
    pollMs: isWebAddress(config.snapshot) ? config.snapshotPollSeconds * 1000 : undefined,
    onCatalogue: (fault) => ports.onCatalogue?.(fault),
    onDamaged: (reason) => ports.onDamagedCatalogue?.(reason),
    onFailure: (failure) => ports.onFailure(failure, 'catalogue'),
  });
  server.add(catalogue.component);
  const { reservations, playLedger, books } = backend;
  const payments = await openPayments(config, {
    clock,
    random,
    timers,
    reservations,
    books,
    playLedger,
    throwawayPayee: () => backend.throwawayPayee(),
    recoveries: verification.queue,
    facilitatorFetch: ports.facilitatorFetch,
    onCaseReport: (report) => ports.onCaseReport(report),
    onReachable: (isReachable) => ports.onFacilitatorReachable?.(isReachable),
    onSupport: (support) => ports.onFacilitatorSupport?.(support),
    onRepeatedTransaction: (repeated) => ports.onRepeatedTransaction?.(repeated),
  });
  server.add(payments.component);
  const extractor = ports.extractor ?? openExtractor(ports, server);
  return {
    backend,
    catalogue,
    remoteCatalogue: openRemoteCatalogue(config, ports, server),
    stateKey: config.stateKey ?? keptStateKey(stateDir ?? null, random),
    payments,
    extractor,
    startVerification: async () => (await verification.start(ports.startsAtOnce)).notices,
    notices: [...payments.notices, ...backend.notices],
  };
}
