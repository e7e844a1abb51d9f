/**
 * Opens the shared parts and the modules, and builds the surfaces: one `fetch(request) -> Response`. Clock, randomness and log
 * are parameters; the app neither listens nor reads the environment.
 */
import { openPageFiles } from '../adapters/files/page-files.ts';
import type { ClientConnection, RequestHandler } from '../adapters/listen/listen.ts';
import { Deadlines } from '../base/deadlines.ts';
import { chain } from '../base/maybe-promise.ts';
import type { CatalogueHolder } from '../catalogue/holder.ts';
import { IN_MEMORY } from '../config/settings.ts';
import { carriedOnSurfaces, surfaceNotices } from '../config/surfaces.ts';
import { BodyReader } from '../http/body.ts';
import { BodyBudget } from '../http/body-budget.ts';
import type { BodyStreamPorts } from '../http/body-stream.ts';
import { WAITING_BODY_BYTES } from '../http/limits.ts';
import { Responder } from '../http/respond.ts';
import type { MadeResponse, ResponseForm } from '../http/response-form.ts';
import type { Component } from '../modules/module.ts';
import { COMPONENT_NAMES } from '../modules/service/ready.ts';
import type { Config, publicAddressesOf } from './configuration.ts';
import { corsHeaders, isOperatorPath, preflightHeaders } from './cors.ts';
import { Deliveries } from './deliveries.ts';
import { openDemoOrganization } from './demo-organization.ts';
import { chosenSurfaces, SURFACES, type SurfaceDefinition } from './modules.ts';
import {
  type HandleRequest,
  type MountedSurface,
  mountNotices,
  mountsOf,
  type SurfaceMount,
  surfaceFinder,
} from './mounts.ts';
import { openSurface, openWork } from './open-surface.ts';
import { type OutboundPorts, openOutbound } from './outbound.ts';
import { type OverloadPorts, openOverload } from './overload.ts';
import { openParts, type PartsPorts } from './parts.ts';
import { RequestLog, type RequestLogPorts } from './request-log.ts';
import { Server } from './server.ts';
import { sizeNotices } from './size-notices.ts';
import type { SurfaceParts } from './surface.ts';
import { boardsNotices, openWatchedBoards } from './watched-boards.ts';

/**
 * The environment of the app; optional members default to the runtime's own.
 * @typeParam R the form of responses that its listener takes
 */
export interface AppPorts<R extends MadeResponse = Response>
  extends PartsPorts,
    OutboundPorts,
    OverloadPorts,
    RequestLogPorts {
  readonly responses: ResponseForm<R>;
  /** Calls `run` after the I/O of this turn; `setImmediate` when not given. */
  readonly soon?: ((run: () => void) => void) | undefined;
  /** Whether the runtime buffers a body before anything reads it, as Bun does. */
  readonly buffersBodies: boolean;
  /** Components beside the app, such as the listener, whose metrics and readiness the app shows too. */
  readonly components?: readonly Component[];
  /** The surfaces to serve; the list of modules.ts when not given. */
  readonly surfaces?: readonly SurfaceDefinition[];
}

export interface App<R extends MadeResponse = Response> {
  /** For the listener. Never throws and never rejects. */
  readonly handle: RequestHandler<R>;
  /** The same for a Fetch request. @param client its connection; requests without one share one address */
  fetch(request: Request, client?: ClientConnection): Response | Promise<Response>;
  /**
   * Replaces the catalogue by the current file, read and checked in a thread. A call during a reload starts another after it.
   * Rejects with a SnapshotError of one line; the app still serves the previous one.
   */
  reload(): Promise<void>;
  /** Notices for the operator at start, one line each. */
  readonly notices: readonly string[];
  /** Notices for the operator about parts that start in the background, one line each. Never rejects. */
  readonly laterNotices: Promise<readonly string[]>;
  /**
   * The key of the organization that this start created (demo-organization.ts): shown to the operator once, never logged.
   * undefined: it created none.
   */
  readonly demoKey: string | undefined;
  readonly catalogue: Pick<CatalogueHolder, 'current' | 'isReadable'>;
  /** Makes `/ready` say that no new work is wanted; everything is still served. */
  leave(): void;
  /** Begins shutdown: answers all waits at once, so that the listener can finish soon. */
  drain(): void;
  /** Releases every resource; call it after the last request. */
  close(): Promise<void>;
}

/** The configuration with its public addresses resolved. */
export type AppConfig = Config & Readonly<ReturnType<typeof publicAddressesOf>>;

const UNKNOWN_CLIENT: ClientConnection = { address: '' };

/** Every surface, also those that are off. */
const allSurfaces = ({ surfaces = SURFACES }: Pick<AppPorts, 'surfaces'>): readonly SurfaceDefinition[] => surfaces;

/** @throws SnapshotError, StateError, ConfigError or Error with one line when it cannot start */
export async function openApp<R extends MadeResponse>(config: AppConfig, ports: AppPorts<R>): Promise<App<R>> {
  const definitions = chosenSurfaces(allSurfaces(ports), config.surfaces);
  const log = new RequestLog(ports);
  const server = new Server(ports.clock, componentNamesOf(definitions), (failure) => log.failed(failure, 'shutdown'));
  try {
    return await openOn(server, definitions, log, config, ports);
  } catch (failure) {
    await server.close();
    throw failure;
  }
}

/**
 * The surfaces that are off whose work goes on. What is bought of processes that share a database is carried on by those that
 * have the product: the others may stand where requests to strangers cannot go out.
 */
function carriedOn(definitions: readonly SurfaceDefinition[], config: AppConfig): readonly SurfaceDefinition[] {
  if (config.databaseUrl !== null || config.stateDir === IN_MEMORY) return [];
  const names: readonly (string | null)[] = carriedOnSurfaces(config);
  return definitions.filter(({ name }) => names.includes(name));
}

/** The names that readiness reports: those of every module, the shared components first. */
const componentNamesOf = (definitions: readonly SurfaceDefinition[]): readonly string[] => [
  ...new Set([
    ...COMPONENT_NAMES,
    ...definitions.flatMap(({ modules }) => modules.flatMap(({ componentNames = [] }) => componentNames)),
  ]),
];

/** Chooses by path whether a response has headers for browsers of other origins. */
export function responderFinder<R extends MadeResponse>(
  corsOrigin: string | null,
  form: ResponseForm<R>,
  streams: BodyStreamPorts,
): SurfaceParts<R>['responderFor'] {
  const withoutCors = new Responder({}, form, streams);
  if (corsOrigin === null) return () => withoutCors;
  const withCors = new Responder(corsHeaders(corsOrigin), form, streams);
  return (path) => (isOperatorPath(path) ? withoutCors : withCors);
}

/** The reader of all request bodies; its budget is among the metrics. */
function openBodies(
  { bodyBytes }: Config,
  { buffersBodies, clock, timers }: Pick<AppPorts, 'buffersBodies' | 'clock' | 'timers'>,
  server: Server,
): BodyReader {
  const budget = new BodyBudget(bodyBytes);
  const deadlines = new Deadlines(clock, timers, true);
  server.add({ metrics: (page) => budget.metrics(page), close: () => deadlines.close() });
  return new BodyReader(budget, deadlines, WAITING_BODY_BYTES[buffersBodies ? 'bun' : 'node']);
}

/** The parts of the server that every surface uses. */
function surfacePartsOf<R extends MadeResponse>(
  config: AppConfig,
  ports: AppPorts<R>,
  log: RequestLog,
  deliveries: Deliveries,
): SurfaceParts<R> {
  return {
    clock: ports.clock,
    random: ports.random,
    responderFor: responderFinder(config.corsOrigin, ports.responses, {
      report: (failure, requestId) => log.failed(failure, requestId),
      soon: ports.soon,
    }),
    log,
    deliveries,
    trustProxy: config.trustProxy,
    preflightFor: (path) => (isOperatorPath(path) ? undefined : preflightHeaders(config.corsOrigin)),
  };
}

async function openOn<R extends MadeResponse>(
  server: Server,
  definitions: readonly SurfaceDefinition[],
  log: RequestLog,
  config: AppConfig,
  ports: AppPorts<R>,
): Promise<App<R>> {
  const { clock, random, timers } = ports;
  const parts = await openParts(config, ports, server);
  for (const component of ports.components ?? []) server.add(component);
  const { backend, payments } = parts;
  const { paid, paymentStatusOf } = payments;
  const deliveries = new Deliveries(timers, (failure) => log.failed(failure, 'deliveries'));
  server.add(deliveries);
  const { shedding, component: overload } = openOverload(config, ports);
  server.add(overload);
  const surfaceParts = surfacePartsOf(config, ports, log, deliveries);
  const mounts = mountsOf(definitions, config);
  let find: HandleRequest<R> = () => Promise.reject(new Error('the surfaces are not open yet'));
  const handle: RequestHandler<R> = (request, client) => find(request, client, clock.monotonicMs());
  const fetch: App['fetch'] = (request, client = UNKNOWN_CLIENT) =>
    chain(handle(request, client), ports.responses.asFetch);
  const outbound = openOutbound(config, mounts, fetch, ports, server);
  const shared = {
    clock,
    random,
    timers,
    bodies: openBodies(config, ports, server),
    catalogue: parts.catalogue.holder,
    remoteCatalogue: parts.remoteCatalogue,
    watchedBoards: await openWatchedBoards(config, ports, server),
    callbacks: backend.callbacks,
    stateKey: parts.stateKey,
    accounts: backend.accounts,
    resolves: backend.resolves,
    extractor: parts.extractor,
    rateLimits: backend.rateLimits,
    paid,
    books: backend.books,
    retryStore: backend.retries,
    outbound,
    shedding,
    paymentStatusOf,
    pageFiles: openPageFiles(),
    hookBaseUrl: config.hookBaseUrl,
    server,
    onFailure: (failure: unknown, source: string) => log.failed(failure, source),
    config,
  };
  const mounted: MountedSurface<R>[] = [];
  for (const mount of mounts) {
    mounted.push({ ...mount, surface: await openSurface(mount, shared, surfaceParts, server) });
  }
  find = surfaceFinder(mounted);
  for (const definition of carriedOn(allSurfaces(ports), config)) await openWork(definition, shared, server);
  const isDemo = config.settlement === 'local' && config.surfaces.length > 0;
  const demoKey = isDemo ? await openDemoOrganization(backend.accounts) : undefined;
  server.start();
  const laterNotices = parts.startVerification();
  return {
    catalogue: parts.catalogue.holder,
    notices: [...parts.notices, ...(await configNotices(config, mounts))],
    laterNotices,
    demoKey,
    handle,
    fetch,
    reload: () => parts.catalogue.holder.reload(),
    leave: () => server.leave(),
    drain: () => server.drain(),
    async close() {
      server.drain();
      await server.close();
    },
  };
}

/** For the operator, about the settings. */
const configNotices = async (config: AppConfig, mounts: readonly SurfaceMount[]): Promise<readonly string[]> => [
  ...sizeNotices(config),
  ...surfaceNotices(config),
  ...mountNotices(mounts, config.baseUrl),
  ...(await boardsNotices(config)),
];
