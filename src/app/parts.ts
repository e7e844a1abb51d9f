/**
 * Opens the parts that modules share, in the order of their dependencies: signature verification and stores, the catalogue,
 * payments. Ports that are not given default to what the settings name.
 */
import { JobsServices, type JobsServicesPorts } from '../adapters/engine/jobs-services.ts';
import { ThreadExtractor } from '../adapters/extraction/thread-extractor.ts';
import { catalogueSource, isWebAddress, SAMPLE, type SourcePorts } from '../adapters/files/catalogue-source.ts';
import { openVerification, type VerificationPorts } from '../adapters/verification/open-verification.ts';
import { DAY_MS } from '../base/durations.ts';
import type { CatalogueSource } from '../catalogue/holder.ts';
import type { RemoteCatalogue } from '../catalogue/remote-catalogue.ts';
import { SnapshotError } from '../catalogue/snapshot/snapshot-error.ts';
import { IN_MEMORY, NO_CATALOGUE } from '../config/settings.ts';
import type { Component } from '../modules/module.ts';
import type { Extractor } from '../resolve/work.ts';
import type { Backend, BackendPorts } from '../storage/backend.ts';
import { type OpenBackendOptions, openBackend } from '../storage/open-backend.ts';
import { keptStateKey } from '../storage/state-key.ts';
import { type CatalogueOptions, type CataloguePorts, type OpenCatalogue, openCatalogue } from './catalogue.ts';
import type { Config } from './configuration.ts';
import { type OpenPayments, openPayments, type PaymentPorts } from './payments.ts';
import type { Server } from './server.ts';

/**
 * The environment of the parts. Each part declares what it takes of it and reports to it, and gets it whole. Tests pass the
 * optional ports to control disk, network and threads.
 */
export interface PartsPorts
  extends VerificationPorts,
    CataloguePorts,
    PaymentPorts,
    JobsServicesPorts,
    Pick<SourcePorts, 'onSnapshotFault'> {
  /** Opens the stores, in place of the configured folder. */
  readonly openBackend?: ((options: OpenBackendOptions, ports: BackendPorts) => Promise<Backend>) | undefined;
  /** Reads documents, in place of threads. */
  readonly extractor?: Extractor | undefined;
  /** True: signature recovery starts with the app, rather than at first use or a moment later. */
  readonly startsAtOnce: boolean;
  /** The catalogue, in place of the configured file. */
  readonly catalogueSource?: CatalogueSource | undefined;
  /** The state became unwritable (why, one line) or writable again (undefined). */
  onStateFault?(fault: string | undefined): void;
  /** A notice about the state, one line, that comes after the start. */
  onStateNotice?(notice: string): void;
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
  ...ports,
  folder: snapshotCache ?? (stateDir === IN_MEMORY ? null : stateDir),
  checksLater: ports.onDamagedCatalogue !== undefined,
});

/** Opens a gate's client of its jobs services. The gate's catalogue is ready when theirs is. */
function openRemoteCatalogue(config: Config, ports: PartsPorts, server: Server) {
  const { engineUrl, engineToken, engineTimeoutMs } = config;
  if (engineUrl === null || engineToken === null) return undefined;
  const services = new JobsServices({ urls: engineUrl, token: engineToken, timeoutMs: engineTimeoutMs }, ports);
  server.add({
    readiness: () => ({ snapshot: services.isReady() }),
    metrics: (page) => services.metrics(page),
    start: () => services.start(),
    close: () => services.close(),
  });
  return services;
}

/** The sample's times are relative to its build, so a daily rebuild keeps it fresh. */
const pollMsOf = ({ snapshot, snapshotPollSeconds }: Config): number | undefined => {
  if (isWebAddress(snapshot)) return snapshotPollSeconds * 1000;
  return snapshot === SAMPLE ? DAY_MS : undefined;
};

/** @throws SnapshotError whose line names the setting, when the catalogue cannot be used */
function openCatalogueOfSetting(
  source: CatalogueSource,
  options: CatalogueOptions,
  ports: CataloguePorts,
): OpenCatalogue {
  try {
    return openCatalogue(source, options, ports);
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
  const { clock, random, timers } = ports;
  const snapshot = config.snapshot === NO_CATALOGUE ? undefined : config.snapshot;
  const loading = ports.catalogueSource ?? catalogueSource(snapshot, sourcePorts(config, ports));
  const verification = openVerification(config, ports);
  server.add({ metrics: (page) => verification.writeMetrics(page), close: () => verification.close() });
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
      onStateFault: (fault) => ports.onStateFault?.(fault),
      onNotice: (notice) => ports.onStateNotice?.(notice),
      onFailure: (failure) => ports.onFailure(failure, 'state'),
    },
  );
  server.add(stateComponent(backend));
  const source = await loading;
  await source.prepare?.();
  const pollMs = ports.catalogueSource === undefined ? pollMsOf(config) : undefined;
  const catalogue = openCatalogueOfSetting(source, { isExpected: snapshot !== undefined, pollMs }, ports);
  server.add(catalogue.component);
  const payments = await openPayments(config, backend, verification.queue, ports);
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
