/**
 * Opens the shared parts and the modules, and builds the surfaces: one `fetch(request) -> Response`. Everything that changes
 * with time or place (clock, randomness, log) is handed in; nothing here listens or reads the environment.
 */
import { openPageFiles } from '../adapters/files/page-files.ts';
import type { ClientConnection } from '../adapters/listen/listen.ts';
import type { CatalogueHolder } from '../catalogue/holder.ts';
import { Responder } from '../http/respond.ts';
import type { RecoveryCounts } from '../payment/signature/recovery-queue.ts';
import type { Config } from './configuration.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import { SURFACES, type SurfaceDefinition } from './modules.ts';
import { mountsOf, surfaceFinder } from './mounts.ts';
import { openSurface } from './open-surface.ts';
import { openParts, type PartsPorts } from './parts.ts';
import { RequestLog, type RequestLogPorts } from './request-log.ts';
import { Server } from './server.ts';
import type { SurfaceParts } from './surface.ts';

/** The outside; what may be left out is then the runtime's own. */
export interface AppPorts extends PartsPorts, RequestLogPorts {
  /** Whether this runtime's Response copies what it is given, at once and cheaply: Bun's. */
  readonly copiesIntoResponse?: boolean;
  /** What is served; the list of modules.ts when not given. */
  readonly surfaces?: readonly SurfaceDefinition[];
}

/** What the app holds at the moment, for tests. */
export interface AppCounts {
  /** Authorizations that are not free. */
  readonly reservations: number;
  /** Settlements without a known end. */
  readonly unknown: number;
  readonly callbacks: {
    readonly live: number;
    readonly tombstones: number;
    readonly unknownIds: number;
    readonly waits: number;
  };
  /** Bytes claimed by callbacks and by requests on their way to one. */
  readonly claimedBytes: number;
  readonly recoveries: RecoveryCounts;
}

export interface App {
  /** Never throws and never rejects. @param client the client on the socket, as the listener knows it */
  fetch(request: Request, client?: ClientConnection): Response | Promise<Response>;
  /** @throws SnapshotError one line; the old catalogue goes on being served */
  reload(): void;
  /** What the operator must be told at start. */
  readonly notices: readonly string[];
  readonly catalogue: Pick<CatalogueHolder, 'current'>;
  counts(): AppCounts;
  /** Shutdown has begun: waits are answered at once, so that a listener that finishes what is under way is soon done. */
  drain(): void;
  /** Releases everything, after the last request. */
  close(): Promise<void>;
}

/** The configuration with its public addresses resolved; neither has a trailing slash. */
export type AppConfig = Config & { readonly baseUrl: string; readonly hookBaseUrl: string };

const UNKNOWN_CLIENT: ClientConnection = { address: '' };

/** @throws SnapshotError, StateError, ConfigError or Error with one line when it cannot start */
export async function openApp(config: AppConfig, ports: AppPorts): Promise<App> {
  const server = new Server(ports.clock);
  try {
    return await openOn(server, config, ports);
  } catch (failure) {
    await server.close();
    throw failure;
  }
}

async function openOn(server: Server, config: AppConfig, ports: AppPorts): Promise<App> {
  const { clock, random } = ports;
  const definitions: readonly SurfaceDefinition[] = ports.surfaces ?? SURFACES;
  const parts = await openParts(config, ports, server);
  const { backend, payments } = parts;
  const { reservations, callbacks, rateLimits } = backend;
  const { paid, paymentStatusOf } = payments;
  const surfaceParts: SurfaceParts = {
    clock,
    random,
    responder: new Responder(corsHeaders(config.corsOrigin), ports.copiesIntoResponse ?? false),
    log: new RequestLog(ports),
    trustProxy: config.trustProxy,
    preflight: preflightHeaders(config.corsOrigin),
  };
  const shared = {
    clock,
    random,
    timers: parts.timers,
    catalogue: parts.catalogue.holder,
    callbacks,
    rateLimits,
    paid,
    paymentStatusOf,
    pageFiles: openPageFiles(),
    hookBaseUrl: config.hookBaseUrl,
    server,
    config,
  };
  const mounts = mountsOf(definitions, config);
  const mounted = await Promise.all(
    mounts.map(async (mount) => ({ ...mount, surface: await openSurface(mount, shared, surfaceParts, server) })),
  );
  const find = surfaceFinder(mounted);
  server.start();
  return {
    catalogue: parts.catalogue.holder,
    notices: parts.notices,
    counts: () => ({
      reservations: reservations.count,
      unknown: payments.unknownCount(),
      callbacks: callbacks.counts,
      claimedBytes: callbacks.capacity.claimedBytes,
      recoveries: parts.recoveryCounts(),
    }),
    fetch: (request, client = UNKNOWN_CLIENT) => find(request, client, clock.monotonicMs()),
    reload: () => parts.catalogue.reload(),
    drain: () => server.drain(),
    async close() {
      server.drain();
      await server.close();
    },
  };
}
