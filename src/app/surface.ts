/**
 * One surface: a mount with modules on it. It routes a request below its mount, answers 404, 405 and preflights, runs the
 * operation, makes the response, counts and logs it. The single catch for bugs and outages is here.
 */
import type { ClientConnection, ServedRequest } from '../adapters/listen/listen.ts';
import type { Clock } from '../base/clock.ts';
import { firstLineOf } from '../base/failure.ts';
import { OutageError } from '../base/outage.ts';
import type { Random } from '../base/random.ts';
import type { Mount } from '../http/access.ts';
import { Answer, type HeaderRecord, type Outcome, outcomeOf } from '../http/answers.ts';
import type { Variant } from '../http/contract.ts';
import {
  type ErrorCode,
  INTERNAL_ERROR,
  METHOD_NOT_ALLOWED,
  NOT_FOUND,
  Refusal,
  refuse,
  STATE_UNAVAILABLE,
  stateUnavailable,
} from '../http/errors.ts';
import { type Execute, executorOf } from '../http/execute.ts';
import { type AnswerRecipient, DeferredAnswer } from '../http/hot/deferred-answer.ts';
import { OperationMeter } from '../http/meter.ts';
import { errorsOf, type MountedOperation, type Operation } from '../http/operation.ts';
import type { Responder } from '../http/respond.ts';
import type { MadeResponse } from '../http/response-form.ts';
import { type FindPath, type Match, pathFinder } from '../http/router.ts';
import type { Target } from '../http/target.ts';
import type { Deliveries } from './deliveries.ts';
import { type CuttableConnection, HttpRequestView, type LoggedRequest, newRequestId } from './request.ts';
import type { RequestLog } from './request-log.ts';

/** The parts that all surfaces of a server share. */
export interface SurfaceParts<R extends MadeResponse> {
  readonly clock: Clock;
  readonly random: Random;
  /** Makes the responses at a path: those of the operator's paths have no headers for browsers of other origins. */
  readonly responderFor: (path: string) => Responder<R>;
  readonly log: RequestLog;
  readonly deliveries: Pick<Deliveries, 'watch'>;
  readonly trustProxy: boolean;
  /** Headers of the answer to a preflight; undefined where browsers of other origins have no access. */
  readonly preflightFor: (path: string) => Readonly<Record<string, string>> | undefined;
}

interface ServedOperation extends MountedOperation {
  readonly execute: Execute;
  readonly meter: OperationMeter;
  readonly variant: Variant | undefined;
  /** Whether its contract has a 503 for an outage; otherwise an outage is a 500 (decisions §4). */
  readonly saysUnavailable: boolean;
}

/** The operations of one path, and its parameters. */
export type FoundPath = Match<ServedOperation>;

/** What a preflight allows on a path that does not exist. */
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

function meterOf(operation: Operation, errors: readonly ErrorCode[], mount: Mount): OperationMeter {
  const others = Object.keys(operation.otherAnswers ?? {}).map(Number);
  if (operation.isConditional === true) others.push(304);
  // The unmatched meter counts requests that no operation serves.
  const unmatched: readonly ErrorCode[] =
    operation.decodesParams === true ? [METHOD_NOT_ALLOWED, NOT_FOUND] : [METHOD_NOT_ALLOWED];
  const codes = errors.filter((code) => !unmatched.includes(code));
  const labels = { operation: operation.operation, ...mount.labels };
  return new OperationMeter(labels, [operation.status ?? 200, ...others], codes);
}

function served(operation: Operation, mount: Mount, log: RequestLog): ServedOperation {
  const mounted = operation.mount(mount);
  const errors = errorsOf(operation);
  return {
    ...mounted,
    execute: executorOf(mounted, (failure, requestId) => log.failed(failure, requestId)),
    meter: meterOf(operation, errors, mount),
    variant: operation.variant,
    saysUnavailable: errors.includes(STATE_UNAVAILABLE),
  };
}

/** @param receipt of a settled payment: its answer is lost, so even an outage is a 500 */
function refusalOf(
  failure: unknown,
  operation: ServedOperation | undefined,
  receipt: HeaderRecord | undefined,
): Refusal {
  if (!(failure instanceof OutageError)) {
    return refuse(INTERNAL_ERROR, 'an unexpected error occurred', { headers: receipt });
  }
  const refused = stateUnavailable('the state cannot be used now; try again later', firstLineOf(failure));
  if (operation?.saysUnavailable === true && receipt === undefined) return refused;
  const { message, extras } = refused;
  return refuse(INTERNAL_ERROR, message, { ...extras, headers: { ...extras.headers, ...receipt } });
}

/** The facts of a request with a deferred answer that its response and log line need: far less than the request itself. */
class DeferredRequest<R extends MadeResponse> implements AnswerRecipient, LoggedRequest {
  readonly path: string;
  readonly startMs: number;
  readonly #operation: ServedOperation;
  readonly #surface: Surface<R>;
  readonly #client: string;
  readonly #connection: CuttableConnection | undefined;
  readonly #resolve: (response: R) => void;
  #requestId: string | undefined;

  constructor(
    request: HttpRequestView,
    operation: ServedOperation,
    surface: Surface<R>,
    resolve: (response: R) => void,
  ) {
    this.path = request.path;
    this.startMs = request.startMs;
    this.#operation = operation;
    this.#surface = surface;
    this.#client = request.clientAddress();
    this.#connection = request.cuttable;
    this.#resolve = resolve;
  }

  get method(): string {
    return this.#operation.method;
  }

  /** Drawn at the first use. */
  get requestId(): string {
    this.#requestId ??= this.#surface.newRequestId();
    return this.#requestId;
  }

  clientAddress(): string {
    return this.#client;
  }

  cut(): boolean {
    this.#connection?.cut();
    return this.#connection !== undefined;
  }

  answered(answer: unknown): void {
    this.#resolve(this.#surface.deferredResponse(this, this.#operation, answer));
  }
}

/** @typeParam R the form of its responses */
export class Surface<R extends MadeResponse> {
  /** In the order of the metrics. */
  readonly meters: readonly OperationMeter[];
  /** Finds the operations at a path below the mount. */
  readonly find: FindPath<ServedOperation>;
  readonly #name: string | null;
  readonly #parts: SurfaceParts<R>;
  /** Counts requests that no operation serves: unknown paths and methods. */
  readonly #unmatchedMeter: OperationMeter;

  /** @param name null for the base. @throws Error when an operation cannot be served as declared */
  constructor(name: string | null, mount: Mount, operations: readonly Operation[], parts: SurfaceParts<R>) {
    const all = operations.map((operation) => served(operation, mount, parts.log));
    this.#name = name;
    this.#parts = parts;
    this.find = pathFinder(all);
    this.#unmatchedMeter = new OperationMeter(
      { operation: 'none', ...mount.labels },
      [],
      [NOT_FOUND, METHOD_NOT_ALLOWED],
    );
    this.meters = [...all.map(({ meter }) => meter), this.#unmatchedMeter];
  }

  /** Never throws and never rejects. @param match what {@link find} has found at the target's path */
  handle(
    request: ServedRequest,
    target: Target,
    match: FoundPath | undefined,
    startMs: number,
    client: ClientConnection,
  ): R | Promise<R> {
    const params = match?.params ?? NO_PARAMS;
    const view = new HttpRequestView(request, target, params, startMs, client, this.#parts);
    const operation = match?.table.methods.get(request.method);
    try {
      if (operation === undefined || !isOffered(operation.variant, view)) return this.#unmatched(view, match);
      const outcome = operation.execute(view);
      if (!(outcome instanceof Promise)) return this.#answer(view, operation, outcome);
      if (this.#parts.log.hasListener) view.clientAddress(); // now: Bun forgets the address of a client that disconnects
      return outcome.then(
        (later) => this.#answer(view, operation, later),
        (failure) => this.#failed(view, operation, failure),
      );
    } catch (failure) {
      return this.#failed(view, operation, failure);
    }
  }

  newRequestId(): string {
    return newRequestId(this.#parts.random);
  }

  /** Makes the response of a deferred answer. */
  deferredResponse(request: LoggedRequest, operation: ServedOperation, answer: unknown): R {
    let outcome: Answer | Refusal;
    try {
      outcome = outcomeOf(answer);
    } catch (failure) {
      return this.#failed(request, operation, failure);
    }
    return this.#respond(request, operation, outcome);
  }

  #answer(view: HttpRequestView, operation: ServedOperation, outcome: Outcome): R | Promise<R> {
    if (!(outcome instanceof DeferredAnswer)) return this.#respond(view, operation, outcome);
    const { promise, resolve } = Promise.withResolvers<R>();
    outcome.deliverTo(new DeferredRequest(view, operation, this, resolve));
    return promise;
  }

  #respond(request: LoggedRequest, operation: ServedOperation, outcome: Answer | Refusal): R {
    let response: R;
    try {
      response = this.#parts.responderFor(request.path).respond(operation, outcome, request);
    } catch (failure) {
      return this.#failed(request, operation, failure, outcome instanceof Answer ? outcome.receipt : undefined);
    }
    if (outcome instanceof Refusal) return this.#recorded(request, operation, response, outcome);
    // Only now: a response that could not be made is never delivered. Deferred answers have no admissions to inform.
    if (outcome.delivered !== undefined && request instanceof HttpRequestView) {
      this.#parts.deliveries.watch(request, outcome.body, outcome.delivered);
    }
    return this.#recorded(request, operation, response, undefined);
  }

  /** @param receipt of a payment that has settled */
  #failed(request: LoggedRequest, operation: ServedOperation | undefined, failure: unknown, receipt?: HeaderRecord): R {
    this.#parts.log.failed(failure, request.requestId);
    return this.#refused(request, operation, refusalOf(failure, operation, receipt));
  }

  #refused(request: LoggedRequest, operation: ServedOperation | undefined, refusal: Refusal): R {
    const response = this.#parts.responderFor(request.path).refusal(refusal, request.requestId);
    return this.#recorded(request, operation, response, refusal);
  }

  #recorded(
    request: LoggedRequest,
    operation: ServedOperation | undefined,
    response: R,
    refusal: Refusal | undefined,
  ): R {
    const { clock, log } = this.#parts;
    const durationMs = clock.monotonicMs() - request.startMs;
    (operation?.meter ?? this.#unmatchedMeter).count(response.status, durationMs, refusal?.code);
    const names = { surface: this.#name, operation: operation?.operation ?? null };
    log.answered(request, names, response, durationMs, refusal);
    return response;
  }

  /** Answers 404 for an unknown path, else 405, or a preflight, which lets a browser show either of them (decisions §2). */
  #unmatched(view: HttpRequestView, match: FoundPath | undefined): R {
    const { responderFor, preflightFor } = this.#parts;
    const variant = match === undefined ? undefined : variantOf(match);
    const allow = match !== undefined && isOffered(variant, view) ? match.table.allow : undefined;
    const preflight = view.method === 'OPTIONS' ? preflightFor(view.path) : undefined;
    if (preflight !== undefined && (allow !== undefined || view.header('access-control-request-method') !== null)) {
      const headers = {
        ...(allow !== undefined && { allow }),
        'access-control-allow-methods': allow ?? METHODS,
        ...preflight,
      };
      return this.#recorded(view, undefined, responderFor(view.path).empty(headers, view.requestId), undefined);
    }
    if (allow === undefined) {
      const headers = variant === undefined ? undefined : { vary: capitalized(variant.header) };
      return this.#refused(view, undefined, refuse(NOT_FOUND, 'there is nothing at this path', { headers }));
    }
    const message = `this path does not support the method; it supports ${allow}`;
    return this.#refused(view, undefined, refuse(METHOD_NOT_ALLOWED, message, { headers: { allow } }));
  }
}

const isOffered = (variant: Variant | undefined, view: HttpRequestView): boolean =>
  variant === undefined || variant.matches(view.header(variant.header));

/** The variant of a path, which all of its operations share. */
const variantOf = ({ table }: FoundPath): Variant | undefined => {
  const [first] = table.methods.values();
  return first?.variant;
};

const capitalized = (header: string): string => `${header.charAt(0).toUpperCase()}${header.slice(1)}`;
