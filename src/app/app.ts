/**
 * Joins configuration, catalogue, gates and routes into one `fetch(request) -> Response`. Everything that changes with time
 * or place (clock, randomness, log) is handed in; nothing here listens, and nothing reads the environment.
 */

import { capacityGate } from '../access/capacity.ts';
import { PaymentTally, talliedGate } from '../access/payment-tally.ts';
import { callerRateGate } from '../access/rate-limit.ts';
import { readTokenGate } from '../access/read-token.ts';
import { createX402Gate, type Seller } from '../access/x402.ts';
import { paidRouteOf, x402ListingOf } from '../access/x402-listing.ts';
import { openPageFiles } from '../adapters/files/page-files.ts';
import type { Caller } from '../adapters/listen/listen.ts';
import { processFacts } from '../adapters/process/process-facts.ts';
import { systemTimers } from '../adapters/process/system-timers.ts';
import { type OpenVerification, openVerification } from '../adapters/verification/open-verification.ts';
import type { Clock } from '../base/clock.ts';
import { chain } from '../base/maybe-promise.ts';
import type { Random } from '../base/random.ts';
import type { CallbackCounts } from '../callback/callbacks.ts';
import { type Config, IN_MEMORY } from '../config/config.ts';
import type { Access, Gate } from '../http/access.ts';
import { apiCatalogLinkOf, apiCatalogOf } from '../http/documents/api-catalog.ts';
import { llmsTextOf } from '../http/documents/llms.ts';
import { codesOf, openApiOf } from '../http/documents/openapi.ts';
import { type Refusal, refuse } from '../http/errors.ts';
import { OperationMeter } from '../http/meter.ts';
import { Responder } from '../http/respond.ts';
import { Held, type Route, type Told } from '../http/route.ts';
import { type Match, pathFinder } from '../http/router.ts';
import { type Served, type ServedRoute, servedRoute } from '../http/serve.ts';
import { targetOf } from '../http/target.ts';
import { asksForHtml } from '../modules/pages/asks-for-html.ts';
import { PAGE_PATHS, PAGE_ROUTES } from '../modules/pages/routes.ts';
import type { PageServices } from '../modules/pages/services.ts';
import type { PaymentServices } from '../modules/payments/services.ts';
import { CALLBACK_ROUTES, EVERY_ROUTE, JOBS_ROUTES, PAYMENT_ROUTES, SERVICE_ROUTES, TAGS } from '../modules/routes.ts';
import type { Documents, Readiness, ServiceServices } from '../modules/service/services.ts';
import { checksummed, NETWORK } from '../payment/protocol/network.ts';
import type { Resolution } from '../payment/settlement/reconciler.ts';
import type { RecoveryCounts, RecoveryWorker } from '../payment/signature/recovery-queue.ts';
import type { Backend } from '../storage/backend.ts';
import { openBackend } from '../storage/open-backend.ts';
import { API_VERSION, VERSION } from '../version.ts';
import { type CatalogueHolder, catalogueTaker, openCatalogueHolder, type TakeCatalogue } from './catalogue-holder.ts';
import { metricsText, RECOVERIES } from './metrics.ts';
import { HeldCall, newRequestId, type Recorded, RequestCall } from './request.ts';
import { openTill, type TillCounts, type TillPorts } from './till.ts';

/** What one request came to; one log line. Never a token, a signature or a payment header, and no query. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly operation: string | null;
  readonly status: number;
  readonly durationMs: number;
  readonly client: string;
  /** Code of the refusal, if it was one. */
  readonly code: string | null;
  /** What the caller was not told. */
  readonly detail: string | null;
}

/** The outside. What may be left out is then the runtime's own; whoever hands it in owns time, disk and network. */
export interface AppPorts extends TillPorts {
  readonly clock: Clock;
  readonly random: Random;
  /** Called once a request; undefined = no log. */
  readonly onRequest: ((record: RequestRecord) => void) | undefined;
  /** Whether this runtime's Response copies what it is given, at once and cheaply: Bun's. */
  readonly copiesIntoResponse?: boolean;
  /** A bug, with its request id; the caller sees `INTERNAL_ERROR` and the id. */
  onFailure(failure: unknown, requestId: string): void;
  /** How an unknown settlement ended. */
  onResolution(resolution: Resolution): void;
  /** The state became unwritable (why, one line) or writable again (undefined). */
  onStateFault?(fault: string | undefined): void;
  /** A verification thread died (why, one line) or works again (undefined). */
  onVerificationFault?(fault: string | undefined): void;
  /** Where it is found out who signed, instead of as configured: nine tenths of a payment's cost. */
  readonly recoveryWorker?: RecoveryWorker | undefined;
  /** Opens the backend, instead of the configured one. */
  readonly openBackend?: typeof openBackend | undefined;
  /** Where the catalogue comes from, instead of the configured file. */
  readonly takeCatalogue?: TakeCatalogue | undefined;
}

/** What the app holds at the moment, for the metrics and for tests. */
export interface AppCounts extends TillCounts {
  readonly callbacks: CallbackCounts;
  /** Bytes claimed by callbacks and by requests on their way to one. */
  readonly claimedBytes: number;
  readonly recoveries: RecoveryCounts;
}

export interface App {
  /** Never throws and never rejects. `caller` is who the listener says is on the socket. */
  fetch(request: Request, caller?: Caller): Response | Promise<Response>;
  /** @throws SnapshotError one line; the catalogue that was served is served on */
  reload(): void;
  /** What the operator must be told at start. */
  readonly notices: readonly string[];
  readonly shelf: CatalogueHolder;
  counts(): AppCounts;
  /** The end is near: waits are answered at once, so that a listener that finishes what is under way is soon done. */
  drain(): void;
  /** Lets go of everything; after the last request. */
  close(): Promise<void>;
}

const PREFLIGHT_AGE_SECONDS = '600';
/** `access-control-expose-headers` is one that the official client sends as a request header (x402-v2 §1.7). */
const ALLOWED_HEADERS = 'payment-signature, content-type, authorization, access-control-expose-headers';
const EXPOSED_HEADERS = 'PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Request-Id';

function corsHeaders(origin: string | null): Readonly<Record<string, string>> {
  if (origin === null) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED_HEADERS,
    ...(origin === '*' ? {} : { vary: 'Origin' }),
  };
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});
const UNKNOWN_CALLER: Caller = { address: '' };

type AppConfig = Config & { baseUrl: string; hookBaseUrl: string };

interface MeteredRoute extends ServedRoute {
  readonly meter: OperationMeter;
}

const meterOf = (route: Route): OperationMeter => {
  const others = Object.keys(route.otherAnswers ?? {}).map(Number);
  const codes = codesOf(route).filter((code) => code !== 'METHOD_NOT_ALLOWED'); // no operation's request
  return new OperationMeter(route.operation, [route.status ?? 200, ...others], codes);
};

const WEBHOOK_OPERATIONS: ReadonlySet<string> = new Set(
  EVERY_ROUTE.filter(({ isHook }) => isHook === true).map(({ operation }) => operation),
);

const TITLE = 'paygrade';
const DESCRIPTION = 'Answers about hiring, one paid request at a time, and webhook addresses for ten minutes.';

/** Made when it is first asked for, then kept. */
function once(make: () => string): () => string {
  let text: string | undefined;
  return () => {
    text ??= make();
    return text;
  };
}

function documentsOf({ baseUrl, hookBaseUrl: hookUrl }: AppConfig, seller: Seller): Documents {
  const facts = { title: TITLE, description: DESCRIPTION, hookUrl, tags: TAGS };
  return {
    openApi: once(() => JSON.stringify(openApiOf(EVERY_ROUTE, { ...facts, version: API_VERSION, serverUrl: baseUrl }))),
    x402Listing: once(() => JSON.stringify(x402ListingOf(EVERY_ROUTE, seller))),
    apiCatalog: once(() => JSON.stringify(apiCatalogOf(EVERY_ROUTE, baseUrl))),
    apiCatalogLink: () => apiCatalogLinkOf(baseUrl),
    llms: once(() => llmsTextOf(EVERY_ROUTE, { ...facts, baseUrl })),
  };
}

/**
 * @param baseUrl,hookBaseUrl public addresses without a trailing slash
 * @throws SnapshotError, StateError, ConfigError or Error with one line when it cannot start
 */
export async function openApp(config: AppConfig, ports: AppPorts): Promise<App> {
  const { clock, random, timers = systemTimers } = ports;
  // Threads start while the state is read; this never rejects.
  const opening = openVerification(config, {
    clock,
    timers,
    recoveryWorker: ports.recoveryWorker,
    onFault: (fault) => ports.onVerificationFault?.(fault),
  });
  let backend: Backend | undefined;
  try {
    backend = await (ports.openBackend ?? openBackend)(
      {
        stateDir: config.stateDir === IN_MEMORY ? undefined : config.stateDir,
        sync: config.stateSync,
        mayReset: config.stateReset,
        callbackBytes: config.callbackBytes,
        play: config.settlement === 'local' ? { openingAtomic: config.localBalanceAtomic } : undefined,
      },
      {
        clock,
        random,
        timers,
        onFault: (fault) => ports.onStateFault?.(fault),
        onCallbackFault: (fault) => ports.onFailure(fault, 'callbacks'),
      },
    );
    return openAppOn(backend, await opening, config, ports);
  } catch (failure) {
    await (await opening).close();
    await backend?.close();
    throw failure;
  }
}

function openAppOn(backend: Backend, verification: OpenVerification, config: AppConfig, ports: AppPorts): App {
  const { clock, random, timers = systemTimers } = ports;
  const { callbacks } = backend;
  const responder = new Responder(corsHeaders(config.corsOrigin), ports.copiesIntoResponse ?? false);
  const startedMs = clock.monotonicMs();
  const shelf = openCatalogueHolder(ports.takeCatalogue ?? catalogueTaker(config.snapshot, clock));
  const recoveries = Object.fromEntries(RECOVERIES.map((end) => [end, 0])) as Record<Resolution['kind'], number>;
  const reloads = { done: 0, failed: 0 };
  const onResolution = (resolution: Resolution): void => {
    recoveries[resolution.kind]++;
    ports.onResolution(resolution);
  };
  const till = openTill(config, clock, random, verification.queue, onResolution, backend, ports);
  const callerRate = callerRateGate(config.rateLimitPerMinute, backend.rateLimits);
  const capacity = capacityGate(callbacks.capacity);
  const readToken = readTokenGate(callbacks);

  const tallies: PaymentTally[] = [];
  const paidGate = (route: Route): Gate => {
    const paidRoute = paidRouteOf(route);
    if (paidRoute === undefined) throw new Error(`${route.path} has no price`);
    const tally = new PaymentTally(route.operation);
    tallies.push(tally);
    return talliedGate(createX402Gate(paidRoute, till.gate), tally);
  };
  const gateFor = (route: Route, access: Access): Gate => {
    switch (access.kind) {
      case 'caller-rate':
        return callerRate;
      case 'x402':
        return paidGate(route);
      case 'capacity':
        return capacity;
      case 'read-token':
        return readToken;
      default:
        return access satisfies never;
    }
  };
  const onRefusal = (told: Told, refusal: Refusal): void => {
    (told as Recorded).refusal = refusal;
  };

  const uptimeMs = (): number => clock.monotonicMs() - startedMs;
  const readiness = (): Readiness => ({
    snapshot: config.snapshot === 'none' || shelf.current() !== undefined,
    state: backend.fault() === undefined,
    settlement: till.settlementReady(),
  });
  const meters: OperationMeter[] = [];
  const service: ServiceServices = {
    version: VERSION,
    uptimeMs,
    readiness,
    documents: documentsOf(config, till.gate),
    metrics: () =>
      metricsText({
        meters,
        tallies,
        recoveries,
        reloads,
        till,
        callbacks,
        shelf,
        backend,
        webhookOperations: WEBHOOK_OPERATIONS,
        readiness: readiness(),
        process: processFacts(),
        uptimeSeconds: uptimeMs() / 1000,
        nowMs: clock.nowMs(),
      }),
  };
  const jobs = { catalogue: shelf, clock };
  const { baseUrl, hookBaseUrl } = config;
  const callbackServices = { callbacks, timers, baseUrl, hookBaseUrl };
  const payments: PaymentServices = {
    network: NETWORK,
    find(payer, nonce) {
      return chain(till.statusOf(payer, nonce), (status) => {
        if (status === undefined) return undefined;
        const hash = 'transaction' in status ? status.transaction : '';
        return {
          payer: checksummed(payer.toLowerCase()),
          state: status.kind,
          transaction: hash === '' ? null : hash,
        };
      });
    },
  };
  const metered = <S>(routes: readonly Route<S>[], services: S): MeteredRoute[] =>
    routes.map((route) => {
      const meter = meterOf(route as Route);
      meters.push(meter);
      return { ...servedRoute(route, services, gateFor, responder, onRefusal), meter };
    });
  const served = [
    ...metered(JOBS_ROUTES, jobs),
    ...metered(CALLBACK_ROUTES, callbackServices),
    ...metered(PAYMENT_ROUTES, payments),
    ...metered(SERVICE_ROUTES, service),
  ];
  const unlisted = served.filter(({ operation }) => EVERY_ROUTE.every((route) => route.operation !== operation));
  if (unlisted.length > 0 || served.length !== EVERY_ROUTE.length) {
    throw new Error(`what is served is not what is listed: ${unlisted.map(({ operation }) => operation).join(', ')}`);
  }
  const find = pathFinder(served);
  const pages: PageServices = {
    catalogue: shelf,
    clock,
    files: openPageFiles(),
    operations: EVERY_ROUTE,
    facts: {
      version: VERSION,
      baseUrl,
      hookBaseUrl,
      network: NETWORK,
      isPlay: config.settlement === 'local',
      payTo: till.gate.payTo,
    },
  };
  const findPage = pathFinder(metered(PAGE_ROUTES, pages));
  /** A page is there for who asks for HTML; what it is made of, for everybody. */
  const pageAt = (path: string, request: Request): Match<MeteredRoute> | undefined =>
    PAGE_PATHS.has(path) && !asksForHtml(request.headers.get('accept')) ? undefined : findPage(path);
  const elsewhere = new OperationMeter('none', [], ['NOT_FOUND', 'METHOD_NOT_ALLOWED']);
  meters.push(elsewhere);

  /** Whoever listens may fail without any effect on the answer, which may have been paid for. */
  const tell = (listener: () => void): void => {
    try {
      listener();
    } catch {
      // There is nobody left to tell.
    }
  };

  const record = (call: Recorded, route: MeteredRoute | undefined, response: Response): Response => {
    const { onRequest } = ports;
    const { status } = response;
    const durationMs = clock.monotonicMs() - call.startMs;
    const code = call.refusal?.code;
    (route?.meter ?? elsewhere).count(status, durationMs, code);
    if (onRequest === undefined) return response;
    tell(() =>
      onRequest({
        requestId: call.requestId,
        method: call.method,
        path: call.path,
        operation: route?.operation ?? null,
        status,
        durationMs,
        client: call.clientAddress(),
        code: code ?? null,
        detail: call.refusal?.extras.detail ?? null,
      }),
    );
    return response;
  };

  const failed = (call: Recorded, failure: unknown): Response => {
    tell(() => ports.onFailure(failure, call.requestId));
    const refusal = refuse('INTERNAL_ERROR', 'unexpected error');
    call.refusal = refusal;
    return responder.refusal(refusal, call.requestId);
  };

  const conclude = (call: HeldCall<MeteredRoute>, respond: () => Response): Response => {
    const { route } = call;
    try {
      return record(call, route, respond());
    } catch (failure) {
      return record(call, route, failed(call, failure));
    }
  };

  const refused = (call: RequestCall, refusal: Refusal): Response => {
    call.refusal = refusal;
    return responder.refusal(refusal, call.requestId);
  };

  const dispatch = (
    call: RequestCall,
    match: Match<MeteredRoute> | undefined,
    route: MeteredRoute | undefined,
  ): Served => {
    if (route !== undefined) return route.serve(call, call.search);
    if (match === undefined) {
      const extras = PAGE_PATHS.has(call.path) ? { headers: { vary: 'Accept' } } : undefined;
      return refused(call, refuse('NOT_FOUND', 'there is nothing at this path', extras));
    }
    const { allow } = match.table;
    if (call.request.method === 'OPTIONS' && config.corsOrigin !== null) {
      return responder.empty(
        {
          allow,
          'access-control-allow-methods': allow,
          'access-control-allow-headers': ALLOWED_HEADERS,
          'access-control-max-age': PREFLIGHT_AGE_SECONDS,
        },
        call.requestId,
      );
    }
    return refused(
      call,
      refuse('METHOD_NOT_ALLOWED', `this path has no such method; it has ${allow}`, { headers: { allow } }),
    );
  };

  return {
    shelf,
    counts: () => ({
      ...till.counts(),
      callbacks: callbacks.counts,
      claimedBytes: callbacks.capacity.claimedBytes,
      recoveries: verification.queue.counts(),
    }),
    notices: [...till.notices, ...verification.notices, ...backend.notices],
    fetch(request, caller = UNKNOWN_CALLER) {
      const startMs = clock.monotonicMs();
      const target = targetOf(request.url);
      const match = find(target.path) ?? pageAt(target.path, request);
      const call = new RequestCall(
        request,
        newRequestId(random),
        target,
        match?.params ?? NO_PARAMS,
        startMs,
        caller,
        config.trustProxy,
      );
      const route = match?.table.methods.get(request.method);
      try {
        const response = dispatch(call, match, route);
        if (response instanceof Held)
          return response.response(new HeldCall(call, route as MeteredRoute, random), conclude);
        if (!(response instanceof Promise)) return record(call, route, response);
        return response.then(
          (done) => record(call, route, done),
          (failure) => record(call, route, failed(call, failure)),
        );
      } catch (failure) {
        return record(call, route, failed(call, failure));
      }
    },
    reload() {
      try {
        shelf.reload();
        reloads.done++;
      } catch (failure) {
        reloads.failed++;
        throw failure;
      }
    },
    drain: () => backend.drain(),
    async close() {
      callbacks.close();
      till.close();
      shelf.close();
      await verification.close();
      await backend.close();
    },
  };
}
