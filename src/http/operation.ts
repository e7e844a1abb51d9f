/**
 * Operations: routes bound to the services of their handlers. Mounting an operation on a surface opens its admitters and prepares,
 * once, what every request needs.
 */
import type { MaybePromise } from '../base/maybe-promise.ts';
import { memoizeRecent } from '../base/memoize-recent.ts';
import { type Access, type Admitter, errorsOfWay, type Mount, type WayIn, waysIn } from './access.ts';
import type { Contract, Method } from './contract.ts';
import {
  DUPLICATE_PARAMETER,
  type ErrorCode,
  INTERNAL_ERROR,
  INVALID_PARAMETER,
  METHOD_NOT_ALLOWED,
  MISSING_PARAMETER,
  NOT_FOUND,
  type Refusal,
  UNKNOWN_PARAMETER,
} from './errors.ts';
import { type Parameters, parametersOf, type QueryDecoder, type QuerySchema, queryDecoder } from './query.ts';
import type { ReadBody, RequestView } from './request-view.ts';
import type { Route } from './route.ts';

/** A route bound to the services of its handler; the kit does not know the types of either. */
export interface Operation extends Contract {
  readonly access: readonly WayIn[];
  /** The section of documents that lists it. */
  readonly tag: string;
  /** Public address without a trailing slash, where it differs from the surface's. */
  readonly publicUrl: string | undefined;
  mount(mount: Mount): MountedOperation;
}

/** An operation as a surface serves it. */
export interface MountedOperation {
  readonly operation: string;
  readonly method: Method;
  readonly path: `/${string}`;
  readonly decodesParams: boolean | undefined;
  readonly status: number;
  readonly cacheControl: string;
  /** Admitters that decide before the input is decoded; `admitters` decide after it. */
  readonly admittersBeforeInput: readonly Admitter[];
  readonly admitters: readonly Admitter[];
  /** Never throws. Requests with the same query share a result. */
  readonly decodeQuery: QueryDecoder | undefined;
  readonly check: ((input: Parameters, request: RequestView) => Refusal | undefined) | undefined;
  readonly ready: (() => Refusal | undefined) | undefined;
  readonly readBody: ((request: RequestView) => MaybePromise<ReadBody | Refusal>) | undefined;
  readonly handle: (input: Parameters, request: RequestView, principal: object) => unknown;
}

/** Memoized decoded queries of one operation, and the longest query that is memoized. */
const QUESTION_COUNT_MAX = 256;
export const MEMOIZED_SEARCH_LENGTH_MAX = 512;

/** A query decoder that is made at the first request: soon after a start most routes get no request. */
function lazyDecoder(query: QuerySchema): QueryDecoder {
  let decode: QueryDecoder | undefined;
  return (search) => {
    decode ??= queryDecoder(query);
    return decode(search);
  };
}

/** Makes the admitter of one alternative decide only on the requests that use this alternative. */
function admitterAmong<S>(ways: readonly Access<object, S>[], chosen: Access<object, S>, admitter: Admitter): Admitter {
  const last = ways.at(-1);
  const chosenOf = (request: RequestView): Access<object, S> | undefined =>
    ways.find((way) => way === last || way.isPresented?.(request) === true);
  return {
    admit: (request, principal, read) =>
      chosenOf(request) === chosen ? admitter.admit(request, principal, read) : undefined,
  };
}

function openAdmitters<S>(route: Route<S>, services: S, mount: Mount, isBeforeInput: boolean): Admitter[] {
  const open = (way: Access<object, S>): Admitter => way.open(services, route, mount);
  return route.access.flatMap((entry) => {
    const ways = waysIn([entry]);
    return ways
      .filter((way) => (way.isBeforeInput ?? false) === isBeforeInput)
      .map((way) => (ways.length === 1 ? open(way) : admitterAmong(ways, way, open(way))));
  });
}

/** `cache-control` of success; undefined where the contract says nothing about it. */
export const cacheControlOf = ({ access, cacheControl }: Pick<Operation, 'access' | 'cacheControl'>) =>
  waysIn(access).some((way) => way.isPrivate === true) ? 'private, no-store' : cacheControl;

function mounted<S>(route: Route<S>, services: S, mount: Mount): MountedOperation {
  const { operation, method, path, decodesParams, query, check, ready, readBody, handle } = route;
  return {
    operation,
    method,
    path,
    decodesParams,
    status: route.status ?? 200,
    cacheControl: cacheControlOf(route) ?? 'no-store',
    admittersBeforeInput: openAdmitters(route, services, mount, true),
    admitters: openAdmitters(route, services, mount, false),
    decodeQuery:
      query === undefined
        ? undefined
        : memoizeRecent(lazyDecoder(query), QUESTION_COUNT_MAX, MEMOIZED_SEARCH_LENGTH_MAX),
    check: check === undefined ? undefined : (input, request) => check(input, services, request),
    ready: ready === undefined ? undefined : () => ready(services),
    readBody: readBody === undefined ? undefined : (request) => readBody(request, services),
    handle: (input, request, principal) => handle(input, services, request, principal),
  };
}

function boundTo<S>(entry: WayIn<object, S>, services: S): WayIn<object, S> {
  const bound = (way: Access<object, S>): Access<object, S> => way.boundTo?.(services) ?? way;
  return 'anyOf' in entry ? { anyOf: entry.anyOf.map(bound) } : bound(entry);
}

/**
 * Binds routes to the services of their handlers, and their ways in to the terms that those services set.
 * @param tag the section of documents that lists them
 * @param publicUrl their public address, where it differs from the surface's
 */
export function bind<S>(
  tag: string,
  routes: readonly Route<S>[],
  services: S,
  publicUrl?: string,
): readonly Operation[] {
  return routes.map((declared) => {
    const route: Route<S> = { ...declared, access: declared.access.map((entry) => boundTo(entry, services)) };
    return { ...route, tag, publicUrl, mount: (mount) => mounted(route, services, mount) };
  });
}

/** Every code that refusals of an operation may have: those that it lists, and those of its query, ways in and path. */
export function errorsOf(route: Contract & { readonly access: readonly WayIn[] }): readonly ErrorCode[] {
  const codes = new Map<string, ErrorCode>();
  const add = (...added: readonly ErrorCode[]): void => {
    for (const one of added) if (!codes.has(one.code)) codes.set(one.code, one);
  };
  add(...route.errors, METHOD_NOT_ALLOWED, INTERNAL_ERROR);
  if (route.decodesParams === true) add(NOT_FOUND);
  if (route.query !== undefined) {
    const parameters = parametersOf(route.query);
    add(INVALID_PARAMETER, UNKNOWN_PARAMETER);
    if (parameters.length > 0) add(DUPLICATE_PARAMETER);
    for (const { isRequired, code } of parameters) {
      if (isRequired) add(MISSING_PARAMETER);
      add(code);
    }
  }
  for (const entry of route.access) add(...errorsOfWay(entry));
  return [...codes.values()];
}
