/**
 * Finds the route of a path: a fixed path by one Map look-up, a path with parameters by the text around them. The Map comes
 * first because trying every pattern for each request costs throughput; regular expressions would cost as much as the rest of
 * a short answer (bench/peers, "route with parameters").
 *
 * A path is compared as sent: an alias (`//`, a trailing slash, another case, percent-encoded letters) is not a route.
 */
import { decodePercent } from '../base/codec.ts';
import type { Contract, Method } from './contract.ts';
import { type PathParameter, pathParametersOf } from './path.ts';

/** The methods of one path, in the order of declaration. */
export interface PathTable<T> {
  readonly methods: ReadonlyMap<string, T>;
  /** Value of `Allow`. */
  readonly allow: string;
}

export interface Match<T> {
  readonly table: PathTable<T>;
  readonly params: Readonly<Record<string, string>>;
}

export interface Routable {
  readonly method: Method;
  readonly path: `/${string}`;
  /** As {@link Contract.decodesParams}; all methods of a path agree. */
  readonly decodesParams?: boolean | undefined;
}

interface Pattern<T> {
  /** The text before the first parameter. */
  readonly prefix: string;
  readonly parameters: readonly PathParameter[];
  readonly table: PathTable<T>;
  readonly isDecoded: boolean;
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

export type FindPath<T> = (path: string) => Match<T> | undefined;

/** Parameters percent-decoded once; undefined where one is not well formed. */
function decoded(sent: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined {
  const params: Record<string, string> = {};
  for (const [name, text] of Object.entries(sent)) {
    const value = decodePercent(text);
    if (value === undefined) return undefined;
    params[name] = value;
  }
  return params;
}

/** The parameters as sent, each a segment that is not empty; undefined for a path that the pattern does not match. */
function paramsOf(
  path: string,
  { prefix, parameters }: Pattern<unknown>,
): Readonly<Record<string, string>> | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const params: Record<string, string> = {};
  let from = prefix.length;
  for (const { name, after } of parameters) {
    const slash = path.indexOf('/', from);
    const end = slash < 0 ? path.length : slash;
    if (end === from || !path.startsWith(after, end)) return undefined;
    params[name] = path.slice(from, end);
    from = end + after.length;
  }
  return from === path.length ? params : undefined;
}

/** Makes the finder for all routes. @throws Error when two routes have the same method and path */
export function pathFinder<T extends Routable>(routes: readonly T[]): FindPath<T> {
  const byPath = new Map<string, Map<string, T>>();
  for (const route of routes) {
    const methods = byPath.get(route.path) ?? new Map<string, T>();
    if (methods.has(route.method)) throw new Error(`two routes claim ${route.method} ${route.path}`);
    byPath.set(route.path, methods.set(route.method, route));
  }
  const fixed = new Map<string, Match<T>>();
  const patterns: Pattern<T>[] = [];
  for (const [path, methods] of byPath) {
    const table: PathTable<T> = { methods, allow: [...methods.keys()].join(', ') };
    if (path.includes(':')) {
      const isDecoded = [...methods.values()].some(({ decodesParams }) => decodesParams === true);
      patterns.push({
        prefix: path.slice(0, path.indexOf(':')),
        parameters: pathParametersOf(path),
        table,
        isDecoded,
      });
    } else {
      fixed.set(path, { table, params: NO_PARAMS });
    }
  }
  return (path) => {
    const match = fixed.get(path);
    if (match !== undefined) return match;
    for (const one of patterns) {
      const sent = paramsOf(path, one);
      if (sent === undefined) continue;
      const { table, isDecoded } = one;
      const params = isDecoded ? decoded(sent) : sent;
      return params && { table, params };
    }
    return undefined;
  };
}
